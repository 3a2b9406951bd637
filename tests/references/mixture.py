"""A Gaussian mixture with feature saliencies, sample by sample, and its message length."""

from __future__ import annotations

import numpy as np

PARAMETERS = 2  # a Gaussian has a mean and a variance


def gaussian(x, mean, variance):
    return np.exp(-((x - mean) ** 2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def feature_density(X, state, i, j, feature):
    """``ρ p(x|θ)`` and ``(1 − ρ) q(x|λ)``."""
    x, rho = X[i, feature], state["saliency"][feature]
    p = gaussian(x, state["means"][j, feature], state["variances"][j, feature])
    q = gaussian(x, state["common_means"][feature], state["common_variances"][feature])
    return rho * p, (1 - rho) * q


def e_step(X, state):
    """log p(X), and w, u, v of the paper."""
    n, d = X.shape
    k = len(state["weights"])
    w, u, v = np.zeros((n, k)), np.zeros((n, k, d)), np.zeros((n, k, d))
    log_likelihood = 0.0
    for i in range(n):
        for j in range(k):
            w[i, j] = state["weights"][j]
            for feature in range(d):
                w[i, j] *= sum(feature_density(X, state, i, j, feature))
        log_likelihood += np.log(w[i].sum())
        w[i] /= w[i].sum()
        for j in range(k):
            for feature in range(d):
                a, b = feature_density(X, state, i, j, feature)
                u[i, j, feature] = a / (a + b) * w[i, j]
                v[i, j, feature] = w[i, j] - u[i, j, feature]
    return log_likelihood, w, u, v


def parameter_length(rho, k, n):
    """What the parameters of one feature cost."""
    length = 0.0
    if rho > 0:
        for _ in range(k):
            length += PARAMETERS / 2 * np.log(n * rho / k)
    if rho < 1:
        length += PARAMETERS / 2 * np.log(n * (1 - rho))
    return length


def message_length(X, state):
    n, d = X.shape
    k = len(state["weights"])
    length = -e_step(X, state)[0] + (k + d) / 2 * np.log(n)
    return length + sum(parameter_length(rho, k, n) for rho in state["saliency"])


def expected_length(X, state, w, u, v):
    """What the M-step minimises, up to a constant, where all saliencies are inside (0, 1)."""
    n, d = X.shape
    length = -(w.sum(axis=0) @ np.log(state["weights"]))
    for feature in range(d):
        rho = state["saliency"][feature]
        length += parameter_length(rho, len(state["weights"]), n)
        for i in range(n):
            for j in range(len(state["weights"])):
                a, b = feature_density(X, state, i, j, feature)
                length -= u[i, j, feature] * np.log(a) + v[i, j, feature] * np.log(b)
    return length


def weighted(x, weight, floor):
    mean = (weight @ x) / weight.sum()
    return mean, max(floor, weight @ (x - mean) ** 2 / weight.sum())


def m_step(X, state, floor, everywhere=False, literal=False):
    """One EM step; `literal` drops a feature whenever its penalised count is not positive."""
    n, d = X.shape
    _, w, u, v = e_step(X, state)
    k = w.shape[1]
    new = {name: np.array(values, dtype=float) for name, values in state.items()}
    for feature in range(d):
        x, rho = X[:, feature], state["saliency"][feature]

        def term(setting, feature=feature):
            """This feature's part of the expected message length."""
            total = parameter_length(setting["saliency"][feature], k, n)
            for i in range(n):
                for j in range(k):
                    total -= w[i, j] * np.log(sum(feature_density(X, setting, i, j, feature)))
            return total

        def with_saliency(rho, component, common, feature=feature):
            setting = {name: values.copy() for name, values in state.items()}
            setting["saliency"][feature] = rho
            for j in range(k):
                setting["means"][j, feature], setting["variances"][j, feature] = component[j]
            setting["common_means"][feature], setting["common_variances"][feature] = common
            return setting

        pooled = weighted(x, np.ones(n), floor)
        zero = with_saliency(0.0, [pooled] * k, pooled)
        one = with_saliency(1.0, [weighted(x, w[:, j], floor) for j in range(k)], pooled)
        chosen = zero if rho == 0 else one
        relevant = u[:, :, feature].sum() - PARAMETERS / 2 * k
        common = v[:, :, feature].sum() - PARAMETERS / 2
        if 0 < rho < 1:
            best, least, most = 0.0, min(k / n, 0.5), 1 - 1 / n
            grid = [least, most]
            if relevant > 0 and common > 0:
                grid = [np.clip(relevant / (relevant + common), least, most)]
            costs = [-relevant * np.log(r) - common * np.log(1 - r) for r in grid]
            best = grid[int(np.argmin(costs))]
            chosen = with_saliency(
                best,
                [weighted(x, u[:, j, feature], floor) for j in range(k)],
                weighted(x, v[:, :, feature].sum(axis=1), floor),
            )
            may_be_zero = rho < 0.5 or everywhere
            may_be_one = common <= 0 or everywhere
        else:
            may_be_zero = may_be_one = everywhere
        if literal:
            if 0 < rho < 1 and relevant <= 0:
                chosen = zero
            elif 0 < rho < 1 and common <= 0:
                chosen = one
        else:
            now, as_zero, as_one = term(state), term(zero), term(one)
            if as_zero < now and as_zero <= as_one:
                chosen = zero if may_be_zero else chosen
            elif as_one < now:
                chosen = one if may_be_one else chosen
        for name in new:
            if name != "weights":
                new[name][..., feature] = chosen[name][..., feature]
    new["weights"] = w.sum(axis=0) / n
    return new


def start_from_labels(X, labels, floor):
    clusters = [X[labels == label] for label in np.unique(labels)]
    return {
        "weights": np.array([len(cluster) / len(X) for cluster in clusters]),
        "saliency": np.full(X.shape[1], 0.5),
        "means": np.array([cluster.mean(axis=0) for cluster in clusters]),
        "variances": np.array([np.maximum(cluster.var(axis=0), floor) for cluster in clusters]),
        "common_means": X.mean(axis=0),
        "common_variances": X.var(axis=0),
    }
