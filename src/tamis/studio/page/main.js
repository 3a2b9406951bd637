// The page: what is decided goes to the server, what follows comes back; sliding asks nobody.

import { barsPath, barsPicture, List } from "./columns.js";
import {
  act, arrays, ask, ASIDE, Columns, DROP, FREE, KEEP, listen, NotThere, send, UNUSED,
} from "./data.js";
import { $, count, fill, later, make, percent, perFrame, whole } from "./dom.js";
import { draw, NumberMark, show } from "./figures.js";

const SAMPLES = { digits: "Handwritten digits", breast_cancer: "Tumours", wine: "Wines", iris: "Iris" };
const FILES = [
  ["selected.csv", "The kept columns, as CSV"],
  ["selected.parquet", "The kept columns, as Parquet"],
  ["selection.json", "The selection, for tamis apply"],
  ["report.html", "The report: why these columns (takes some seconds)"],
  ["select.py", "Python that repeats it"],
  ["command.txt", "The command line that repeats it"],
];
const ROW = 46;

let state = null;
let columns = null;
let seen = {};
let marks = [];
let number = 0; // as it is shown; while sliding, ahead of what was decided
let sliding = false;

// --- messages ------------------------------------------------------------------------------------

function complain(error) {
  if (error instanceof NotThere) return;
  $("alert-text").textContent = error.message || String(error);
  $("alert").hidden = false;
}

const doing = (wish) => act(wish).catch(complain);

function showWork() {
  const busy = state.busy;
  $("work").classList.toggle("busy", Boolean(busy));
  $("work-text").textContent = busy ? `${busy.what} …` : "";
  $("work-share").style.width = busy ? `${Math.round(8 + 92 * busy.share)}%` : "0";
  $("cancel").hidden = !busy;
  $("alert").hidden = !state.error;
  $("alert-text").textContent = state.error;
  $("undo").disabled = !state.undo;
  $("redo").disabled = !state.redo;

}

// --- the state -----------------------------------------------------------------------------------

async function changed(now) {
  state = now;
  showWork();
  $("open").hidden = Boolean(state.table) || Boolean(state.busy);
  $("studio").hidden = !state.table;
  $("table-name").textContent = state.table
    ? `${state.table.name} · ${whole(state.table.n_rows)} × ${whole(state.table.n_columns)}` : "";
  if (!state.table) return;
  document.title = `${state.table.name} · tamis studio`;
  showSettings();
  await update();
}

let updating = null;
let again = false;

// One update at a time; what came meanwhile is one more.
async function update() {
  if (updating) {
    again = true;
    return updating;
  }
  updating = (async () => {
    do {
      again = false;
      const { version, busy, result } = state;
      await fetchParts();
      document.body.dataset.settled = Boolean(!busy && result?.settled);
      document.body.dataset.version = version;
    } while (again);
  })().catch(complain).finally(() => { updating = null; });
  return updating;
}

async function fetchParts() {
  const parts = state.parts;
  if (parts.table !== seen.table) {
    seen = { table: parts.table };
    const found = new Columns(await arrays("table"));
    columns = found;
    showTable();
  }
  if (!state.result) return;
  if (parts.ranking !== seen.ranking) {
    seen.ranking = parts.ranking;
    columns.rank(await arrays("ranking"));
    if (!sliding) number = state.result.number;
    setNumber(number);
    showFiltered();
    showDetail();
    types.show();
  }
  if (parts.nearest && parts.nearest !== seen.nearest || parts.stability !== seen.stability) {
    if (parts.nearest >= parts.ranking) {
      seen.nearest = parts.nearest;
      seen.stability = parts.stability;
      columns.relate(await arrays("nearest"));
      list.show();
      if (["stands", "stability"].includes($("sort").value)) showFiltered();
    }
  }
  if (parts.figures !== seen.figures) {
    seen.figures = parts.figures;
    await showFigures();
    showDetail();
  }
  showComparisons();
  showTake();
}

function showSettings() {
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

// --- the number ----------------------------------------------------------------------------------

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

function setNumber(wanted) {
  number = Math.max(1, Math.min(Math.round(wanted) || 1, most()));
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

// --- the list of columns -------------------------------------------------------------------------

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

const kindName = (j) => Object.values(state.kinds)[columns.kinds[j]];

async function wish(j, what) {
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

const list = new List($("list"), {
  height: ROW, create: createRow, draw: drawRow, key: listKey,
  chosen: () => showDetail(),
});

function showFiltered() {
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

// --- one column ----------------------------------------------------------------------------------

const showDetail = later(80, async () => {
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

// --- the table -----------------------------------------------------------------------------------

const types = new List($("types"), {
  height: ROW, role: "listitem",
  create: () => {
    const row = make("div");
    const picture = barsPicture({ nBins: columns.nBins }, "bars");
    const kinds = Object.entries(state.kinds).filter(([kind]) => !["constant", "empty"].includes(kind));
    const select = make("select", {},
      make("option", { value: "auto", textContent: "as recognised" }),
      ...kinds.map(([kind, name]) => make("option", { value: kind, textContent: name })));
    const use = make("select", {},
      ...[["free", "chosen among"], ["keep", "kept"], ["drop", "dropped"], ["label", "labels, set aside"], ["id", "names rows, set aside"]].map(
        ([value, textContent]) => make("option", { value, textContent })));
    row.parts = { name: cell("name"), kind: cell("about"), path: picture.path, gaps: cell("refits"), select, use };
    select.addEventListener("change", () => doing({ do: "kind", place: row.column, kind: select.value }));
    use.addEventListener("change", () => wish(row.column, use.value));
    row.append(make("span", { class: "names" }, row.parts.name, row.parts.kind), picture.svg, row.parts.gaps, select, use);
    return row;
  },
  draw: (row, j) => {
    const { name, kind, path, gaps, select, use } = row.parts;
    row.column = j;
    name.textContent = columns.names[j];
    name.title = columns.names[j];
    kind.textContent = kindName(j);
    path.setAttribute("d", barsPath(columns, j));
    gaps.textContent = columns.gaps[j] ? `${percent(columns.gaps[j])} missing` : "";
    const decided = state.decisions;
    select.value = decided.kinds[columns.names[j]] || "auto";
    select.setAttribute("aria-label", `What ${columns.names[j]} holds`);
    use.value = decided.labels === columns.names[j] ? "label" : decided.ids.includes(columns.names[j]) ? "id"
      : columns.states[j] === KEEP ? "keep" : columns.states[j] === DROP ? "drop" : "free";
    use.setAttribute("aria-label", `What becomes of ${columns.names[j]}`);
  },
});

function showTypes() {
  if (!columns) return;
  const wanted = $("find-type").value.trim().toLowerCase(), kind = $("show-type").value;
  const found = [];
  for (let j = 0; j < columns.n; j++) {
    if ((kind === "all" || kindName(j) === kind) && (!wanted || columns.folded[j].includes(wanted))) found.push(j);
  }
  types.set(found);
  $("count-type").textContent = found.length === columns.n ? "" : count(found.length, "column");
}

function showTable() {
  const table = state.table;
  const aside = table.aside.length ? ` Set aside: ${table.aside.join(", ")}.` : "";
  $("shape").textContent = `${table.name}: ${count(table.n_rows, "row")}, ${count(table.n_columns, "column")}.${aside}`;
  fill($("notes"), ...table.notes.map((textContent) => make("li", { textContent })));
  const kinds = [...new Set(Array.from({ length: columns.n }, (_, j) => kindName(j)))];
  const chosen = $("show-type").value;
  fill($("show-type"), make("option", { value: "all", textContent: "all" }),
    ...kinds.map((kind) => make("option", { value: kind, textContent: kind })));
  $("show-type").value = kinds.includes(chosen) ? chosen : "all";
  fill($("colour"), make("option", { value: "", textContent: "groups" }),
    table.has_labels ? make("option", { value: "labels", textContent: "labels" }) : null,
    make("option", { value: "column", textContent: "a column" }));
  fill($("colour-names"), ...columns.names.slice(0, 1000).map((value) => make("option", { value })));
  $("pixels-card").hidden = !table.image;
  showTypes();
  showFiltered();
  ask("figure/rows").then((told) => fill($("rows"), make("table", {},
    make("thead", {}, make("tr", {}, make("th", { textContent: "Row" }), ...told.columns.map((name) => make("th", { scope: "col", textContent: name })))),
    make("tbody", {}, ...told.rows.map((row, at) => make("tr", {}, make("th", { scope: "row", textContent: whole(row) }),
      ...told.cells.map((cells) => make("td", { class: cells[at] ? "" : "gap", textContent: cells[at] || "missing" })))))),
  told.left_out ? make("p", { class: "soft", textContent: `${whole(told.left_out)} more columns are not shown.` }) : null)).catch(complain);
}

$("find-type").addEventListener("input", later(60, showTypes));
$("show-type").addEventListener("change", showTypes);

// --- pictures ------------------------------------------------------------------------------------

async function showFigures() {
  const there = state.result.figures;
  const curves = ["variance", "groups", "agreement"].filter((name) => there.includes(name));
  if (curves.length) {
    const holders = curves.slice(0, 2).map(() => make("div"));
    const drawn = await Promise.all(holders.map((holder, at) => draw(holder, curves[at])));
    fill($("curves"), ...holders);
    marks = drawn.map(({ figure, svg }) => new NumberMark(svg, figure.reach, slide));
    showNumber();
  }
  if (!$("view-pictures").hidden) await showPictures();
}

let pictured = null;

async function showPictures() {
  if (!state?.result || pictured === seen.figures) return;
  pictured = seen.figures;
  const there = state.result.figures;
  for (const [name, holder] of [["map", "map"], ["scores", "scores"]]) {
    if (there.includes(name)) await draw($(holder), name);
    else fill($(holder), make("p", { class: "soft", textContent: name === "map" ? "This method tells of no column whom it stands for; Auto does." : "" }));
  }
  const pairs = ["correlation before", "correlation after"].filter((name) => there.includes(name));
  const holders = pairs.map(() => make("div"));
  await Promise.all(holders.map((holder, at) => draw(holder, pairs[at])));
  fill($("correlations"), ...holders);
  if (!state.busy || there.includes("correlation after")) await showPlanes();
  await showPixels();
}

async function showPlanes() {
  let colour = $("colour").value;
  $("colour-column-label").hidden = colour !== "column";
  if (colour === "column") {
    const name = $("colour-column").value;
    if (!columns.names.includes(name)) return;
    colour = `column:${name}`;
  }
  const holders = [make("div"), make("div")];
  try {
    await Promise.all(["plane before", "plane after"].map((name, at) =>
      draw(holders[at], name, { framed: true }, `?colour=${encodeURIComponent(colour)}`)));
    fill($("planes"), ...holders);
  } catch (error) {
    fill($("planes"), make("p", { class: "soft", textContent: error.message }));
  }
}

$("colour").addEventListener("change", showPlanes);
$("colour-column").addEventListener("change", showPlanes);

async function showPixels() {
  if (!state?.table?.image || !state.result || $("view-pictures").hidden) return;
  show($("pixels"), await ask(`figure/pixels?number=${number}`));
}

// --- comparing -----------------------------------------------------------------------------------

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

function showComparisons() {
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

// --- taking along --------------------------------------------------------------------------------

async function showTake() {
  if ($("view-take").hidden || !state.result) return;
  const ready = !state.busy || state.result.settled;
  fill($("files"), ...FILES.map(([name, text]) => make("li", {},
    make("button", { textContent: name, disabled: !ready, onclick: (event) => take(name, event.target) }),
    make("span", { class: "soft", textContent: ` ${text}` }))));
  if (!ready) return;
  for (const [name, holder] of [["command.txt", "command"], ["select.py", "python"]]) {
    const answer = await fetch(`export/${name}`);
    const text = await answer.text();
    $(holder).textContent = told(answer) ? JSON.parse(text).error : text;
  }
}

// Whether an answer is a message instead of a file.
const told = (answer) => !answer.ok || answer.headers.get("Content-Type").startsWith("application/json");

async function take(name, button) {
  button.disabled = true;
  try {
    const answer = await fetch(`export/${name}`);
    if (told(answer) && name !== "selection.json") throw new Error((await answer.json()).error);
    const { download } = await import("./exports.js");
    download(await answer.blob(), name);
  } catch (error) {
    complain(error);
  } finally {
    button.disabled = false;
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText($(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}

// --- the frame -----------------------------------------------------------------------------------

const tabs = [...$("tabs").children];

function openTab(tab, { focus = false } = {}) {
  for (const one of tabs) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", chosen);
    one.tabIndex = chosen ? 0 : -1;
    $(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  if (focus) tab.focus();
  if (!state?.result) return;
  if (tab.id === "tab-pictures") showPictures().catch(complain);
  if (tab.id === "tab-take") showTake().catch(complain);
  if (tab.id === "tab-compare") showComparisons();
}

for (const [at, tab] of tabs.entries()) {
  tab.addEventListener("click", () => openTab(tab));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      openTab(tabs[(to + tabs.length) % tabs.length], { focus: true });
    }
  });
}

$("undo").addEventListener("click", () => doing({ do: "undo" }));
$("redo").addEventListener("click", () => doing({ do: "redo" }));
$("cancel").addEventListener("click", () => doing({ do: "cancel" }));
$("again").addEventListener("click", () => doing({ do: "again" }));

addEventListener("keydown", (event) => {
  const typing = event.target.matches("input:not([type=range]), select, textarea");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing) {
    event.preventDefault();
    doing({ do: event.shiftKey ? "redo" : "undo" });
  } else if (event.key === "/" && !typing) {
    event.preventDefault();
    openTab($("tab-choose"));
    $("find").focus();
  } else if (event.key === "Escape" && event.target === $("find")) {
    $("find").value = "";
    showFiltered();
  }
});

fill($("samples"), ...Object.entries(SAMPLES).map(([name, textContent]) =>
  make("button", { textContent, onclick: () => doing({ do: "sample", name }) })));
$("file").addEventListener("change", () => {
  const [file] = $("file").files;
  if (file) send(file).catch(complain);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) send(file).catch(complain);
});

listen(changed, () => complain(new Error("The studio does not answer: was it ended in the terminal?")));
