// Figures as files: every shape carries its own colours, so that a file needs no style sheet.

const LOOK = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-linecap",
  "stroke-linejoin", "stroke-dasharray", "vector-effect", "font-size", "font-weight",
  "font-family", "paint-order", "shape-rendering", "visibility",
];
const SVG = "http://www.w3.org/2000/svg";

function whole(svg) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, number) => {
    const style = getComputedStyle(from[number]);
    if (style.display === "none") element.setAttribute("display", "none");
    for (const name of LOOK) element.setAttribute(name, style.getPropertyValue(name));
    element.removeAttribute("class");
    element.removeAttribute("style");
  });
  const style = getComputedStyle(svg), box = svg.getBoundingClientRect();
  const [top, right, bottom, left] = ["Top", "Right", "Bottom", "Left"].map(
    (side) => parseFloat(style[`padding${side}`]));
  const outer = document.createElementNS(SVG, "svg");
  outer.setAttribute("xmlns", SVG);
  outer.setAttribute("width", box.width);
  outer.setAttribute("height", box.height);
  outer.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  const paper = document.createElementNS(SVG, "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--card").trim());
  copy.setAttribute("x", left);
  copy.setAttribute("y", top);
  copy.setAttribute("width", box.width - left - right);
  copy.setAttribute("height", box.height - top - bottom);
  copy.setAttribute("overflow", "visible");
  outer.append(paper, copy);
  return { text: new XMLSerializer().serializeToString(outer), width: box.width, height: box.height };
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function picture(svg, kind) {
  const { text, width, height } = whole(svg);
  const drawn = new Blob([text], { type: "image/svg+xml" });
  if (kind === "svg") return drawn;
  const address = URL.createObjectURL(drawn);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * width;
    canvas.height = 2 * height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

export async function save(svg, title, kind) {
  const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "figure";
  download(await picture(svg, kind), `${name}.${kind}`);
}
