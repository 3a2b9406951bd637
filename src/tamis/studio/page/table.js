// The table as it was read, and corrections of what its columns were taken for.

import { barsPath, barsPicture, List } from "./columns.js";
import { ROW, showFiltered, wish } from "./choose.js";
import { ask, DROP, KEEP } from "./data.js";
import { $, count, fill, later, make, percent, whole } from "./dom.js";
import { columns, complain, doing, kindName, state } from "./page.js";

const cell = (css) => make("span", { class: css });

export const types = new List($("types"), {
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

export function showTable() {
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
