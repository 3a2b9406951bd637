"""A report on a selection: one HTML file that opens offline and says why these columns.

>>> from sklearn.datasets import load_iris
>>> from tamis import MaxVariance, report
>>> X = load_iris(as_frame=True).data
>>> selector = MaxVariance(2).fit(X)
>>> page = report.selection(selector, X)
>>> print(page.summary[0])
2 of 4 columns keep 97 % of the variance in held-out rows, against a noise level of 83 %: better
than 20 of 20 random choices of 2 columns.
>>> page.save("iris.html")  # doctest: +SKIP
"""

from tamis.report._report import Report, selection

__all__ = ["Report", "selection"]
