// What can be taken along.

import { $, fill, make } from "./dom.js";
import { download } from "./exports.js";
import { complain, state } from "./page.js";

const FILES = [
  ["selected.csv", "The kept columns, as CSV"],
  ["selected.parquet", "The kept columns, as Parquet"],
  ["selection.json", "The selection, for tamis apply"],
  ["report.html", "The report: why these columns (takes some seconds)"],
  ["select.py", "Python that repeats it"],
  ["command.txt", "The command line that repeats it"],
];

export async function showTake() {
  if ($("view-take").hidden || !state.result) return;
  const ready = state.result.settled;
  fill($("files"), ...FILES.map(([name, text]) => make("li", {},
    make("button", { textContent: name, disabled: !ready, onclick: (event) => take(name, event.target) }),
    make("span", { class: "soft", textContent: ` ${text}` }))));
  for (const holder of ["command", "python"]) if (!ready) $(holder).textContent = "";
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
