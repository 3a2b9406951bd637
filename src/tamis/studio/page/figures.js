// Figures come from the server as SVG, drawn by the code that draws the report's. Here they are put
// into the page, marked, and made files of.

import { ask } from "./data.js";
import { fill, make } from "./dom.js";
import { save } from "./exports.js";

const SVG = "http://www.w3.org/2000/svg";

export function parsed(text) {
  const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg");
  return document.importNode(svg, true);
}

function swatch(css) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 12 12");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("class", css);
  path.setAttribute("d", "M6 6h0");
  svg.append(path);
  return svg;
}

export function show(holder, figure, { framed = false } = {}) {
  const svg = parsed(figure.svg);
  const key = figure.key.length
    ? make("ul", { class: "key" }, ...figure.key.map(([css, name]) => make("li", {}, swatch(css), make("span", { textContent: name }))))
    : null;
  const tools = make("span", { class: "figure-tools" },
    ...["svg", "png"].map((kind) => make("button", {
      class: "plain", textContent: kind.toUpperCase(), title: `Save this figure as ${kind.toUpperCase()}`,
      onclick: () => save(svg, figure.title, kind),
    })));
  fill(holder,
    make("figure", {},
      make("h3", {}, make("span", { textContent: figure.title }), tools),
      key,
      framed ? make("div", { class: "frame" }, svg) : svg,
      make("figcaption", { textContent: figure.caption })));
  return svg;
}

export async function draw(holder, name, options = {}, query = "") {
  const figure = await ask(`figure/${encodeURIComponent(name)}${query}`);
  return { figure, svg: show(holder, figure, options) };
}

// A mark at the number that is kept, over a figure whose axis is logarithmic from 1 to `reach`.
export class NumberMark {
  constructor(svg, reach, slid) {
    this.reach = reach;
    this.line = document.createElementNS(SVG, "line");
    this.line.setAttribute("class", "mark cut");
    this.line.setAttribute("y1", "0");
    this.line.setAttribute("y2", "100%");
    this.label = document.createElementNS(SVG, "text");
    this.label.setAttribute("class", "mark-label cut");
    this.label.setAttribute("y", "0");
    this.label.setAttribute("dy", "12");
    svg.append(this.line, this.label);
    svg.classList.add("slidable");
    const to = (event) => {
      const box = svg.querySelector("svg.data").getBoundingClientRect();
      const plane = svg.getBoundingClientRect();
      const style = getComputedStyle(svg);
      const left = plane.left + parseFloat(style.paddingLeft);
      const width = plane.width - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      if (!box.width) return;
      const share = Math.max(0, Math.min(1, (event.clientX - left) / width));
      slid(Math.round(this.reach ** share));
    };
    svg.addEventListener("pointerdown", (event) => {
      svg.setPointerCapture(event.pointerId);
      to(event);
    });
    svg.addEventListener("pointermove", (event) => {
      if (svg.hasPointerCapture(event.pointerId)) to(event);
    });
    svg.addEventListener("pointerup", () => slid(null));
  }

  set(number) {
    const share = this.reach > 1 ? Math.log(number) / Math.log(this.reach) : 0.5;
    const at = `${(100 * Math.max(0, Math.min(1, share))).toFixed(2)}%`;
    this.line.setAttribute("x1", at);
    this.line.setAttribute("x2", at);
    this.label.setAttribute("x", at);
    this.label.setAttribute("dx", share > 0.6 ? "-7" : "7");
    this.label.setAttribute("text-anchor", share > 0.6 ? "end" : "start");
    this.label.textContent = `kept: ${number.toLocaleString("en-US")}`;
  }
}
