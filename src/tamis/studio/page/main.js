// The page: what is decided goes to the server, what follows comes back.

import {
  list, setNumber, showCurves, showDetail, showFiltered, showSettings, sliding,
} from "./choose.js";
import { showComparisons } from "./compare.js";
import { arrays, Columns, listen, send } from "./data.js";
import { $, fill, make, whole } from "./dom.js";
import { columns, complain, doing, number, setColumns, setState, state } from "./page.js";
import { showPictures } from "./pictures.js";
import { showTable, types } from "./table.js";
import { showTake } from "./take.js";

const SAMPLES = { digits: "Handwritten digits", breast_cancer: "Tumours", wine: "Wines", iris: "Iris" };

let seen = {};

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

// --- the state ----------------------------------------------------------------------------------

async function changed(now) {
  setState(now);
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
    setColumns(new Columns(await arrays("table")));
    showTable();
  }
  if (!state.result) return;
  if (parts.ranking !== seen.ranking) {
    seen.ranking = parts.ranking;
    columns.rank(await arrays("ranking"));
    setNumber(sliding ? number : state.result.number);
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
    await showCurves();
    if (!$("view-pictures").hidden) await showPictures(seen.figures);
    showDetail();
  }
  showComparisons();
  showTake();
}

// --- the frame ----------------------------------------------------------------------------------

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
  if (tab.id === "tab-pictures") showPictures(seen.figures).catch(complain);
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
