// Sorts and filters the table of columns; the page says all it has to say without it.
"use strict";
(() => {
  const table = document.getElementById("columns");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  find.closest("label").hidden = false;
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
      shown += row.hidden ? 0 : 1;
    }
    found.textContent = wanted ? `${shown} found` : "";
  });
  for (const button of table.tHead.querySelectorAll("button")) {
    button.disabled = false;
    button.addEventListener("click", () => {
      const header = button.closest("th");
      const key = button.dataset.key;
      const falling = header.getAttribute("aria-sort") === "ascending";
      const sign = falling ? -1 : 1;
      for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const text = key === "name";
      rows.sort((a, b) => sign * (text
        ? a.dataset.name.localeCompare(b.dataset.name, undefined, { numeric: true })
        : Number(a.dataset[key]) - Number(b.dataset[key])));
      body.append(...rows);
    });
  }
})();
