// Draws the charts of a page from Vega-Lite specifications. Expressions are interpreted, never compiled: no eval.
// A chart is as wide as its place, if its words allow it, and has the colours of the page.
import { expressionInterpreter } from "./vendor/vega-interpreter-2.3.2.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const LEAST = 120;

// The widest part of a chart is its picture; what stands beside it keeps its place.
const widest = (part) => {
  if (Array.isArray(part)) return Math.max(0, ...part.map(widest));
  if (part === null || typeof part !== "object") return 0;
  const own = typeof part.width === "number" ? part.width : 0;
  return Math.max(own, ...["spec", "hconcat", "vconcat", "concat"].map((name) => widest(part[name] ?? null)));
};

const narrower = (part, from, to) => {
  if (Array.isArray(part)) return part.map((each) => narrower(each, from, to));
  if (part === null || typeof part !== "object") return part;
  const copy = { ...part };
  if (copy.width === from) copy.width = to;
  for (const name of ["spec", "hconcat", "vconcat", "concat"]) if (name in copy) copy[name] = narrower(copy[name], from, to);
  return copy;
};

const drawn = async (written, place) => {
  const view = new vega.View(vega.parse(vegaLite.compile(written).spec, null, { ast: true }),
    { expr: expressionInterpreter, renderer: "svg", container: place });
  view.loader().load = () => Promise.reject(new Error("a chart loads nothing"));
  await view.runAsync();
  return view;
};

const draw = async (place) => {
  const answer = await fetch(place.dataset.chart + (dark.matches ? "&dark=1" : ""), { credentials: "same-origin" });
  const written = answer.ok ? await answer.json() : null;
  if (!written) return;
  const room = place.clientWidth;
  written.config = { ...written.config, background: "transparent" };
  written.config.legend = { ...written.config.legend, labelLimit: Math.max(120, room - 140) };
  place.replaceChildren();
  let view = await drawn(written, place);
  const over = place.querySelector("svg").width.baseVal.value - place.clientWidth;
  const from = widest(written);
  if (over > 0 && from > LEAST) {
    view.finalize();
    place.replaceChildren();
    view = await drawn(narrower(written, from, Math.max(LEAST, Math.floor(from - over))), place);
  }
  place.dataset.drawn = "yes";
};

const drawAll = async () => {
  for (const place of document.querySelectorAll("[data-chart]")) await draw(place);
};
await drawAll();
dark.addEventListener("change", drawAll);
