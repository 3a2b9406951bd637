// Sorts and filters the table of columns, and finds those not in it; filters the reasons. The page
// says all it has to say without it.
"use strict";
(() => {
  const table = document.getElementById("columns");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  // Columns that the table does not list: see _other_columns of _page.py.
  const others = JSON.parse(document.getElementById("other-columns").dataset.columns);
  const most = 50;
  const cell = (css, text, tag = "td") => {
    const made = document.createElement(tag);
    made.className = css;
    made.textContent = text;
    return made;
  };
  const otherRow = ([name, shown, rank, index, score, frequency, kept]) => {
    const row = document.createElement("tr");
    row.className = "other";
    const title = cell("", shown, "th");
    title.scope = "row";
    if (shown !== name) title.title = name;
    title.append(cell("narrow", kept ? " kept" : " not kept", "small"));
    row.append(cell("number", rank), title, cell("number wide", index), cell("number", score));
    row.append(cell("wide", kept ? "kept" : "not kept"));
    if (frequency !== null) row.append(cell("number", frequency));
    row.append(cell("wide", "–"));
    return row;
  };
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  find.closest("label").hidden = false;
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    let shown = 0;
    for (const row of body.querySelectorAll(".other")) row.remove();
    for (const row of rows) {
      row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    const matching = wanted ? others.filter(([name]) => name.toLowerCase().includes(wanted)) : [];
    body.append(...matching.slice(0, most).map(otherRow));
    const left = matching.filter((column) => !column[6]).length;
    let text = wanted ? `${shown + matching.length - left} kept, ${left} not kept` : "";
    if (matching.length > most) text += `; the best ${most} of those not listed are shown`;
    found.textContent = text;
  });
  const reasons = document.getElementById("reasons");
  if (reasons) {
    const findReason = document.getElementById("find-reason");
    findReason.closest("label").hidden = false;
    findReason.addEventListener("input", () => {
      const wanted = findReason.value.trim().toLowerCase();
      let shown = 0;
      for (const row of reasons.tBodies[0].rows) {
        row.hidden = !row.dataset.text.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      }
      document.getElementById("found-reasons").textContent = wanted ? `${shown} found` : "";
    });
  }
  for (const button of table.tHead.querySelectorAll("button")) {
    button.disabled = false;
    button.addEventListener("click", () => {
      const header = button.closest("th");
      const key = button.dataset.key;
      const sorted = header.getAttribute("aria-sort");
      // Large scores are good ones: they come first at the first click.
      const falling = sorted ? sorted === "ascending" : ["score", "frequency"].includes(key);
      const sign = falling ? -1 : 1;
      for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const text = key === "name";
      rows.sort((a, b) => sign * (text
        ? a.dataset.name.localeCompare(b.dataset.name, undefined, { numeric: true })
        : Number(a.dataset[key]) - Number(b.dataset[key])));
      body.prepend(...rows);
    });
  }
})();
