// Small helpers. Whatever comes from the table goes through textContent.

export const $ = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

export const whole = (number) => number.toLocaleString("en-US");

export function percent(share) {
  if (!Number.isFinite(share)) return "–";
  const rounded = Math.round(100 * share);
  if (rounded === 0 && share > 0) return "< 1 %";
  if (rounded === 100 && share < 1) return "> 99 %";
  return `${rounded} %`;
}

export const count = (number, noun) => `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;

export function later(wait, action) {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), wait);
  };
}

// Drawing is done once per frame, however often it is asked for.
export function perFrame(action) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      action();
    });
  };
}
