// Pictures of the selection, drawn when they are looked at.

import { ask } from "./data.js";
import { $, fill, make } from "./dom.js";
import { draw, show } from "./figures.js";
import { columns, number, state } from "./page.js";

let pictured = null;

// Draws them unless those of this version are there.
export async function showPictures(version) {
  if (!state?.result || pictured === version) return;
  pictured = version;
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

export async function showPixels() {
  if (!state?.table?.image || !state.result || $("view-pictures").hidden) return;
  show($("pixels"), await ask(`figure/pixels?number=${number}`));
}
