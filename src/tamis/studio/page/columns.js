// A list of any length: only the rows in sight are there.

import { fill, make, perFrame } from "./dom.js";

export class List {
  // `draw(row, j)` shows column j in a row that may have shown another before.
  constructor(element, { height, create, draw, role = "option", chosen = () => {}, key = () => {} }) {
    this.element = element;
    this.height = height;
    this.create = create;
    this.draw = draw;
    this.role = role;
    this.chosen = chosen;
    this.key = key;
    this.items = [];
    this.at = -1;
    this.rows = [];
    this.space = make("div", { class: "space" });
    fill(element, this.space);
    this.show = perFrame(() => this._show());
    element.addEventListener("scroll", this.show, { passive: true });
    element.addEventListener("keydown", (event) => this._key(event));
    new ResizeObserver(this.show).observe(element);
  }

  set(items) {
    const now = this.items[this.at];
    this.items = items;
    this.at = now === undefined ? -1 : items.indexOf(now);
    this.space.style.height = `${items.length * this.height}px`;
    this.show();
  }

  get current() {
    return this.items[this.at];
  }

  choose(at, { scroll = true } = {}) {
    if (!this.items.length) return;
    this.at = Math.max(0, Math.min(at, this.items.length - 1));
    if (scroll) {
      const top = this.at * this.height, view = this.element;
      if (top < view.scrollTop) view.scrollTop = top;
      if (top + this.height > view.scrollTop + view.clientHeight) {
        view.scrollTop = top + this.height - view.clientHeight;
      }
    }
    this.chosen(this.items[this.at]);
    this.show();
  }

  _key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    let to = null;
    if (event.key in steps) to = this.at < 0 ? 0 : this.at + steps[event.key];
    if (event.key === "Home") to = 0;
    if (event.key === "End") to = this.items.length - 1;
    if (to !== null) {
      event.preventDefault();
      this.choose(to);
    } else if (this.at >= 0) {
      this.key(event, this.items[this.at]);
    }
  }

  _show() {
    const view = this.element;
    const first = Math.max(0, Math.floor(view.scrollTop / this.height) - 3);
    const wanted = Math.min(
      this.items.length - first, Math.ceil(view.clientHeight / this.height) + 6,
    );
    while (this.rows.length < wanted) {
      const row = this.create();
      row.classList.add("row");
      row.setAttribute("role", this.role);
      row.id = `${view.id}-row-${this.rows.length}`;
      row.addEventListener("click", () => this.choose(row.place, { scroll: false }));
      this.rows.push(row);
      this.space.append(row);
    }
    this.rows.forEach((row, number) => {
      row.hidden = number >= wanted;
      if (row.hidden) return;
      row.place = first + number;
      row.style.transform = `translateY(${row.place * this.height}px)`;
      const chosen = row.place === this.at;
      row.classList.toggle("current", chosen);
      if (this.role === "option") row.setAttribute("aria-selected", chosen);
      if (chosen) view.setAttribute("aria-activedescendant", row.id);
      row.setAttribute("aria-posinset", row.place + 1);
      row.setAttribute("aria-setsize", this.items.length);
      this.draw(row, this.items[row.place]);
    });
    if (this.at < 0) view.removeAttribute("aria-activedescendant");
  }
}

// A histogram as the path of its bars, in a box of bins × 255.
export function barsPath(columns, j) {
  let path = "";
  for (let bin = 0, at = j * columns.nBins; bin < columns.nBins; bin++, at++) {
    const height = columns.bars[at];
    if (height) path += `M${bin + 0.06} 255V${255 - height}h.88V255z`;
  }
  return path;
}

export function barsPicture(columns, css) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("class", css);
  svg.setAttribute("viewBox", `0 0 ${columns.nBins} 255`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  svg.append(path);
  return { svg, path };
}
