// Choosing: the number of columns, the list of them, and one of them closely. Sliding asks nobody.

import { barsPath, barsPicture, List } from "./columns.js";
import { ask, ASIDE, DROP, FREE, KEEP, UNUSED } from "./data.js";
import { $, count, fill, later, make, percent, perFrame, whole } from "./dom.js";
import { draw, NumberMark } from "./figures.js";
import { columns, complain, doing, kindName, number, setShown, state } from "./page.js";
import { showPixels } from "./pictures.js";

export const ROW = 46;

let marks = [];
export let sliding = false;

export function showSettings() {
  const { decisions, result, methods } = state;
  if (!$("method").options.length) {
    fill($("method"), ...methods.map((one) => make("option", { value: one.name, textContent: one.name })));
    fill($("method-boxes"), ...methods.map((one) => make("label", { title: one.prefers },
      make("input", { type: "checkbox", value: one.name, checked: ["auto", "max_variance", "laplacian_score", "mrsf", "column_subset"].includes(one.name) }),
      make("span", { textContent: ` ${one.name}` }))));
  }
  $("method").value = decisions.method;
  if (document.activeElement !== $("clusters")) $("clusters").value = decisions.clusters ?? "";
  const method = methods.find((one) => one.name === decisions.method);
  $("method-prefers").textContent = `Keeps ${method.prefers}.`;
  $("found").hidden = decisions.number === null || !result;
  $("found").textContent = decisions.method === "auto" ? "Let Auto find it" : "The usual number";
  const sentences = result ? [...result.sentences, ...result.said] : [];
  fill($("sentences"), ...sentences.map((textContent) => make("li", { textContent })));
  $("decided").hidden = !sentences.length;
}

// --- the number ---------------------------------------------------------------------------------

const most = () => Math.max(1, columns?.byRank.length || 1);

const showNumber = perFrame(() => {
  if (!columns) return;
  columns.keep(number);
  $("number-shown").textContent = `${whole(columns.number)} of ${count(columns.n, "column")}`;
  if (document.activeElement !== $("number")) $("number").value = columns.number;
  $("number").max = most();
  $("slider").value = most() > 1 ? Math.round(1000 * Math.log(number) / Math.log(most())) : 1000;
  $("slider").setAttribute("aria-valuetext", `${columns.number} columns`);
  for (const mark of marks) mark.set(columns.number);
  list.show();
});

export function setNumber(wanted) {
  setShown(Math.max(1, Math.min(Math.round(wanted) || 1, most())));
  showNumber();
}

const decideNumber = later(350, () => {
  sliding = false;
  if (state?.decisions && number !== state.result?.number) doing({ do: "number", number });
  if (["kept", "left"].includes($("show").value)) showFiltered();
  showPixels();
});

function slide(wanted) {
  sliding = true;
  if (wanted !== null) setNumber(wanted);
  decideNumber();
}

$("slider").addEventListener("input", () => slide(most() ** ($("slider").value / 1000)));
$("slider").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (!step) return;
  event.preventDefault(); // one column, wherever on the scale
  slide(number + step);
});
$("number").addEventListener("input", () => { if ($("number").value) slide(Number($("number").value)); });
$("number").addEventListener("change", () => slide(Number($("number").value) || number));
$("found").addEventListener("click", () => doing({ do: "number", number: null }));
$("method").addEventListener("change", () => doing({ do: "method", method: $("method").value }));
$("clusters").addEventListener("change", () => doing({ do: "clusters", clusters: Number($("clusters").value) || null }));

export async function showCurves() {
  const there = state.result.figures;
  const curves = ["variance", "groups", "agreement"].filter((name) => there.includes(name));
  if (curves.length) {
    const holders = curves.slice(0, 2).map(() => make("div"));
    const drawn = await Promise.all(holders.map((holder, at) => draw(holder, curves[at])));
    fill($("curves"), ...holders);
    marks = drawn.map(({ figure, svg }) => new NumberMark(svg, figure.reach, slide));
    showNumber();
  }
}

// --- the list of columns ------------------------------------------------------------------------

function cell(css, tag = "span") {
  return make(tag, { class: css });
}

function createRow() {
  const row = make("div");
  const picture = barsPicture({ nBins: columns.nBins }, "bars");
  row.parts = {
    rank: cell("rank"), name: cell("name"), about: cell("about"), score: cell("score"),
    fill: cell("fill"), refits: cell("refits"), path: picture.path,
    keep: make("button", { class: "wish", textContent: "Keep", tabIndex: -1 }),
    drop: make("button", { class: "wish", textContent: "Drop", tabIndex: -1 }),
  };
  const { rank, name, about, score, refits, keep, drop } = row.parts;
  score.append(row.parts.fill);
  keep.addEventListener("click", (event) => { event.stopPropagation(); wish(row.column, "keep"); });
  drop.addEventListener("click", (event) => { event.stopPropagation(); wish(row.column, "drop"); });
  row.append(rank, make("span", { class: "names" }, name, about), picture.svg, score, refits,
    make("span", { class: "wishes" }, keep, drop));
  return row;
}

const LONG = { [DROP]: "dropped by you", [ASIDE]: "set aside" };

function drawRow(row, j) {
  const { rank, name, about, fill: bar, refits, path, keep, drop } = row.parts;
  const kept = columns.kept(j), stated = columns.states[j];
  row.classList.toggle("kept", kept);
  row.classList.toggle("out", !columns.rankOf[j]);
  rank.textContent = columns.rankOf[j] ? whole(columns.rankOf[j]) : "–";
  if (row.column !== j || row.of !== columns) {
    name.textContent = columns.names[j];
    name.title = columns.names[j];
    path.setAttribute("d", barsPath(columns, j));
    row.column = j;
    row.of = columns;
  }
  about.textContent = aboutColumn(j, kept, stated);
  const share = columns.rankOf[j] ? (columns.scores[j] - columns.lowest) / columns.reach : 0;
  bar.style.width = `${(100 * Math.max(0, Math.min(1, share))).toFixed(1)}%`;
  const stability = columns.nearest ? columns.nearest.stability[j] : NaN;
  refits.textContent = percent(stability);
  refits.title = "Share of refits on half of the rows that keep it";
  keep.setAttribute("aria-pressed", stated === KEEP);
  drop.setAttribute("aria-pressed", stated === DROP);
  keep.hidden = drop.hidden = stated === UNUSED || stated === ASIDE;
  keep.setAttribute("aria-label", `Keep ${columns.names[j]}`);
  drop.setAttribute("aria-label", `Drop ${columns.names[j]}`);
  row.setAttribute("aria-label", `${columns.names[j]}, ${kept ? "kept" : "not kept"}, ${about.textContent}`);
}

function aboutColumn(j, kept, stated) {
  if (LONG[stated]) return LONG[stated];
  if (!columns.rankOf[j]) return `not chosen among: ${kindName(j)}`;
  const asked = stated === KEEP ? "kept by you · " : "";
  const leader = columns.leader(j);
  if (kept) {
    const stands = columns.stands[j];
    return `${asked}kept${stands ? ` · stands for ${whole(stands)} not kept` : ""}`;
  }
  if (!leader) return `${asked}not kept`;
  const r = leader.alike.toFixed(2).replace("-", "−");
  return `${asked}not kept · most like ${columns.names[leader.column]} (r = ${r})`;
}

export async function wish(j, what) {
  const stated = columns.states[j];
  if ((what === "keep" && stated === KEEP) || (what === "drop" && stated === DROP)) what = "free";
  // Shown at once; the ranking that follows comes when it is found.
  columns.states[j] = { keep: KEEP, drop: DROP, free: FREE, label: ASIDE, id: ASIDE }[what];
  list.show();
  await doing({ do: "column", place: j, wish: what });
}

function listKey(event, j) {
  const what = { k: "keep", d: "drop", f: "free" }[event.key.toLowerCase()];
  if (what && ![UNUSED, ASIDE].includes(columns.states[j])) {
    event.preventDefault();
    wish(j, what);
  }
}

export const list = new List($("list"), {
  height: ROW, create: createRow, draw: drawRow, key: listKey,
  chosen: () => showDetail(),
});

export function showFiltered() {
  if (!columns) return;
  const wanted = $("find").value.trim().toLowerCase(), which = $("show").value, by = $("sort").value;
  const test = {
    all: () => true,
    kept: (j) => columns.kept(j),
    left: (j) => columns.rankOf[j] && !columns.kept(j),
    decided: (j) => columns.states[j] === KEEP || columns.states[j] === DROP,
    aside: (j) => !columns.rankOf[j],
  }[which];
  const found = [];
  for (let j = 0; j < columns.n; j++) {
    if (test(j) && (!wanted || columns.folded[j].includes(wanted))) found.push(j);
  }
  const last = (j) => columns.rankOf[j] || columns.n + 1 + j;
  const value = {
    rank: last,
    place: (j) => j,
    stability: (j) => -(columns.nearest?.stability[j] || 0),
    stands: (j) => -columns.stands[j],
  }[by];
  if (by === "name") {
    const order = new Intl.Collator(undefined, { numeric: true });
    found.sort((a, b) => order.compare(columns.names[a], columns.names[b]));
  } else {
    const values = new Map(found.map((j) => [j, value(j)]));
    found.sort((a, b) => values.get(a) - values.get(b) || last(a) - last(b));
  }
  list.set(found);
  $("count").textContent = found.length === columns.n ? "" : `${count(found.length, "column")}`;
}

$("find").addEventListener("input", later(60, showFiltered));
$("show").addEventListener("change", showFiltered);
$("sort").addEventListener("change", showFiltered);

// --- one column ---------------------------------------------------------------------------------

export const showDetail = later(80, async () => {
  const j = list.current;
  if (j === undefined || !columns) {
    fill($("detail"), make("p", { class: "soft", textContent: "Choose a column to see why it is kept, or not." }));
    return;
  }
  const of = columns;
  const told = await ask(`column/${j}`).catch((error) => ({ sentences: [error.message], examples: [], stands_for: [] }));
  if (j !== list.current || of !== columns) return;
  const picture = barsPicture(columns, "bars large");
  picture.path.setAttribute("d", barsPath(columns, j));
  const facts = [
    `Taken for ${kindName(j)}.`,
    columns.gaps[j] > 0 ? `${percent(columns.gaps[j])} of its values are missing.` : null,
  ].filter(Boolean);
  fill($("detail"),
    make("h3", { textContent: told.name || columns.names[j] }),
    picture.svg,
    make("p", { class: "soft small", textContent: `${facts.join(" ")} ${told.examples.length ? `Such as ${told.examples.join(", ")}.` : ""}` }),
    ...told.sentences.map((textContent) => make("p", { textContent })),
    told.made_of?.length ? make("p", { class: "soft small", textContent: `Made into ${told.made_of.join(", ")}.` }) : null,
    told.stands_for.length ? make("h4", { textContent: "Most like it, among those not kept" }) : null,
    told.stands_for.length ? make("ul", {}, ...told.stands_for.map(([name, r]) =>
      make("li", { textContent: `${name} (r = ${r.toFixed(2).replace("-", "−")})` }))) : null);
});
