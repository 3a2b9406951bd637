// Two selections, and several methods, side by side.

import { $, count, fill, make, percent, whole } from "./dom.js";
import { columns, doing, state } from "./page.js";

function names(places, most = 30) {
  const shown = places.slice(0, most).map((j) => columns.names[j]);
  return shown.join(", ") + (places.length > most ? ` and ${whole(places.length - most)} more` : "");
}

function showDifference() {
  const then = state.remembered;
  if (!then) return fill($("difference"));
  const before = new Set(then.kept), now = [...columns.byRank.slice(0, columns.number)];
  const gained = now.filter((j) => !before.has(j)), lost = then.kept.filter((j) => !now.includes(j));
  const both = now.length - gained.length;
  const either = now.length + lost.length;
  fill($("difference"),
    make("p", {}, make("b", { textContent: `${whole(both)} in both` }),
      ` of ${whole(then.kept.length)} remembered (${then.method}) and ${whole(now.length)} now (${state.result.method}): an overlap of ${percent(either ? both / either : 1)}.`),
    make("div", { class: "pair" },
      make("div", {}, make("h3", { textContent: `Only now: ${whole(gained.length)}` }), make("p", { textContent: names(gained) || "–" })),
      make("div", {}, make("h3", { textContent: `Only remembered: ${whole(lost.length)}` }), make("p", { textContent: names(lost) || "–" }))));
}

let comparedSeen = "";

export function showComparisons() {
  showDifference();
  const compared = state.compared;
  const key = JSON.stringify(compared);
  if (key === comparedSeen) return;
  comparedSeen = key;
  if (!compared) return fill($("compared"));
  const good = compared.methods.filter((one) => !one.error);
  const sets = good.map((one) => new Set(one.kept));
  const share = (a, b) => {
    let both = 0;
    for (const j of a) both += b.has(j);
    return a.size + b.size - both ? both / (a.size + b.size - both) : 1;
  };
  const matrix = make("table", { class: "agreement" },
    make("caption", { textContent: `Overlap of the ${count(compared.number, "column")} that each method keeps: those that both keep, of those that either keeps.` }),
    make("thead", {}, make("tr", {}, make("td"), ...good.map((one) => make("th", { scope: "col" }, make("span", { textContent: one.method }))))),
    make("tbody", {}, ...good.map((one, row) => make("tr", {},
      make("th", { scope: "row", textContent: one.method }),
      ...good.map((_, at) => {
        const value = share(sets[row], sets[at]);
        const shaded = make("td", { class: "number", textContent: percent(value) });
        shaded.style.backgroundColor = `color-mix(in srgb, var(--accent) ${Math.round(38 * value)}%, transparent)`;
        return shaded;
      })))));
  const votes = new Map();
  for (const set of sets) for (const j of set) votes.set(j, (votes.get(j) || 0) + 1);
  const union = [...votes.keys()].sort((a, b) => votes.get(b) - votes.get(a) || columns.rankOf[a] - columns.rankOf[b]);
  const shown = union.slice(0, 200);
  const side = make("table", { class: "side" },
    make("caption", { textContent: `Who keeps what${union.length > shown.length ? `: the ${shown.length} columns that most methods keep, of ${whole(union.length)}` : ""}.` }),
    make("thead", {}, make("tr", {}, make("th", { scope: "col", textContent: "Column" }), ...good.map((one) => make("th", { scope: "col" }, make("span", { textContent: one.method }))))),
    make("tbody", {}, ...shown.map((j) => make("tr", {},
      make("th", { scope: "row", textContent: columns.names[j] }),
      ...sets.map((set) => make("td", { class: set.has(j) ? "yes" : "no", "aria-label": set.has(j) ? "kept" : "not kept", textContent: set.has(j) ? "●" : "" }))))));
  fill($("compared"),
    ...compared.methods.filter((one) => one.error).map((one) => make("p", { class: "soft", textContent: `${one.method}: ${one.error}` })),
    make("div", { class: "scroll" }, matrix), make("div", { class: "scroll tall" }, side));
}

$("remember").addEventListener("click", () => doing({ do: "remember" }));
$("compare").addEventListener("click", () => doing({
  do: "compare",
  methods: [...$("method-boxes").querySelectorAll("input:checked")].map((box) => box.value),
}));
