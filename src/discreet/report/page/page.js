// What the page does: sorts, filters, changes the level of intervals, draws pictures, compares, and hands out files.
// Names are only ever set as text, never as HTML. Charts are interpreted, not compiled: no code is made from text.
const known = JSON.parse(document.getElementById("known").textContent);
const find = name => document.getElementById(name);
const dark = matchMedia("(prefers-color-scheme: dark)");
let level = known.first, view = null;

const numbers = text => { // 32-bit floats, in base 64
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
};
const percent = value => {
  const shown = 100 * value, size = Math.abs(shown);
  return `${shown.toFixed(size < 1 ? 2 : 1)} %`;
};
const short = value => Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(3)).toString();
const chance = share => share > 0.995 ? "more than 0.99" : share < 0.005 ? "less than 0.01" : share.toFixed(2);
const option = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
const fill = (select, texts) => select.replaceChildren(...texts.map((text, index) => option(index, text)));

// The picture
const coloured = (spec, swap) => {
  if (Array.isArray(spec)) return spec.map(each => coloured(each, swap));
  if (spec && typeof spec === "object") return Object.fromEntries(Object.entries(spec).map(([key, each]) => [key, coloured(each, swap)]));
  return swap && typeof spec === "string" && Object.hasOwn(known.dark, spec) ? known.dark[spec] : spec;
};
const draw = async (printing = false) => {
  const written = coloured(known.charts[level], dark.matches && !printing);
  const spec = vegaLite.compile({ ...written, config: { ...written.config, aria: false } }).spec;
  view?.finalize();
  view = new vega.View(vega.parse(spec, null, { ast: true }), { expr: expression, renderer: "svg", container: find("chart") });
  view.loader().load = () => Promise.reject(new Error("a picture loads nothing"));
  await view.runAsync();
  find("chart").firstElementChild.setAttribute("aria-hidden", "true"); // its name stands around it, its numbers below it
  find("chart").dataset.drawn = level;
};

// The table
const table = find("rows"), body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
const fields = heads.map(head => head.dataset.field), lines = [...body.rows];
const keys = {
  quantity: index => known.rows[index].quantity, given: index => known.rows[index].given, unit: index => known.rows[index].unit,
  mean: index => known.rows[index].mean,
  interval: index => known.intervals[level][index].high - known.intervals[level][index].low,
  "due to privacy": index => known.intervals[level][index].share ?? -1,
};
const write = () => {
  for (const line of lines) {
    const own = known.intervals[level][line.dataset.index];
    const texts = { mean: own.mean_text, interval: own.text, "due to privacy": own.share_text };
    fields.forEach((field, column) => { if (field in texts) line.cells[column].textContent = texts[field]; });
  }
  for (const each of document.querySelectorAll(".level")) each.textContent = String(100 * Number(level));
};
heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
  const first = head.classList.contains("figure") ? "descending" : "ascending";
  const now = head.getAttribute("aria-sort"), other = first === "ascending" ? "descending" : "ascending";
  const order = now === first ? other : first, sign = order === "ascending" ? 1 : -1, key = keys[fields[column]];
  for (const each of heads) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", order);
  const compare = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  body.append(...[...body.rows].sort((a, b) => sign * compare(key(a.dataset.index), key(b.dataset.index))));
}));
find("filter").addEventListener("input", event => {
  const wanted = event.target.value.toLowerCase();
  let shown = 0;
  for (const line of lines) {
    const own = known.rows[line.dataset.index];
    line.hidden = !`${own.quantity} ${own.given}`.toLowerCase().includes(wanted);
    shown += line.hidden ? 0 : 1;
  }
  find("shown").textContent = wanted ? `${shown} of ${lines.length} lines are shown.` : "";
});
for (const form of document.forms) form.addEventListener("submit", event => event.preventDefault());

// Comparisons
const compared = (one, two) => {
  const apart = Float64Array.from(one, (value, index) => value - two[index]).sort();
  const at = share => { const index = share * (apart.length - 1), low = Math.floor(index); return apart[low] + (index - low) * (apart[Math.min(low + 1, apart.length - 1)] - apart[low]); };
  let more = 0, total = 0;
  for (const each of apart) { more += each > 0 ? 1 : each === 0 ? 0.5 : 0; total += each; }
  const tail = (1 - Number(level)) / 2;
  return { larger: more / apart.length, mean: total / apart.length, low: at(tail), high: at(1 - tail) };
};
const points = value => (100 * value).toFixed(Math.abs(value) < 0.01 ? 2 : 1);
const sentence = (found, is, shown, unit) => `The probability that ${is} is ${chance(found.larger)}. The difference is ${shown(found.mean)}${unit}, with a ${100 * Number(level)} % interval from ${shown(found.low)} to ${shown(found.high)}${unit}.`;

const arrays = known.draws.arrays, count = known.draws.count;
const unpacked = new Map();
const drawn = (index, row) => {
  if (!unpacked.has(index)) unpacked.set(index, numbers(arrays[index].data));
  return unpacked.get(index).subarray(row * count, (row + 1) * count);
};
const answer = () => {
  const index = Number(find("array").value), one = Number(find("one").value), two = Number(find("two").value);
  const { labels, unit } = arrays[index], shares = unit === "probability";
  find("answer").textContent = one === two ? "Choose two different ones."
    : sentence(compared(drawn(index, one), drawn(index, two)), `${labels[one]} is larger than ${labels[two]}`, shares ? points : short, shares ? " percentage points" : "");
};
const choose = () => {
  const { labels } = arrays[Number(find("array").value)];
  fill(find("one"), labels); fill(find("two"), labels);
  find("two").value = String(Math.min(1, labels.length - 1));
  answer();
};
const many = arrays.map((each, index) => [each, index]).filter(([each]) => each.labels.length > 1);
if (many.length) {
  find("array").replaceChildren(...many.map(([each, index]) => option(index, each.what)));
  find("count").textContent = count.toLocaleString("en");
  find("array").addEventListener("change", choose);
  for (const name of ["one", "two"]) find(name).addEventListener("change", answer);
  choose();
} else find("compare").parentElement.hidden = true;

// Groups
const strip = (low, high, mean) => {
  const made = (name, how) => { const each = document.createElementNS("http://www.w3.org/2000/svg", name); for (const [key, value] of Object.entries(how)) each.setAttribute(key, value); return each; };
  const picture = made("svg", { class: "strip", viewBox: "0 0 200 20", preserveAspectRatio: "none", "aria-hidden": "true" });
  const x = value => 4 + 192 * value;
  picture.append(made("line", { class: "all", x1: x(0), x2: x(1), y1: 10, y2: 10 }));
  if (mean !== null) picture.append(made("line", { class: "held", x1: x(low), x2: x(high), y1: 10, y2: 10 }), made("ellipse", { class: "mean", cx: x(mean), cy: 10, rx: 5, ry: 6 }));
  return picture;
};
const groupAnswer = () => {
  const asked = known.groups[Number(find("question").value)], one = Number(find("group-one").value), two = Number(find("group-two").value);
  const all = numbers(asked.data), each = all.length / asked.labels.length, own = index => all.subarray(index * each, (index + 1) * each);
  const unknown = [one, two].filter(index => asked.unknown[index]).map(index => asked.labels[index]);
  find("group-answer").textContent = one === two ? "Choose two different groups."
    : unknown.length ? `Nothing is known about ${unknown.join(" and ")}: there may be no records at all.`
    : sentence(compared(own(one), own(two)), `${asked.event} is more frequent in ${asked.labels[one]} than in ${asked.labels[two]}`, points, " percentage points");
};
const groups = () => {
  const asked = known.groups[Number(find("question").value)], rates = find("rates");
  rates.caption.textContent = `${asked.event} by ${asked.by}: rate and ${100 * Number(level)} % interval`;
  rates.tBodies[0].replaceChildren(...asked.labels.map((label, index) => {
    const line = document.createElement("tr"), { low, high } = asked.intervals[level][index], unknown = asked.unknown[index];
    const texts = [label, asked.records[index], unknown ? "nothing known" : percent(asked.means[index]), unknown ? "-" : `${percent(low).replace(" %", "")} to ${percent(high)}`];
    texts.forEach((text, column) => { const cell = line.insertCell(); cell.textContent = text; if (column) cell.className = "figure"; });
    line.insertCell().append(strip(low, high, unknown ? null : asked.means[index]));
    return line;
  }));
};
const ask = () => {
  const asked = known.groups[Number(find("question").value)];
  fill(find("group-one"), asked.labels); fill(find("group-two"), asked.labels);
  find("group-two").value = "1";
  groups(); groupAnswer();
};
if (known.groups.length) {
  fill(find("question"), known.groups.map(each => `${each.event}, by ${each.by}`));
  find("question").addEventListener("change", ask);
  for (const name of ["group-one", "group-two"]) find(name).addEventListener("change", groupAnswer);
  ask();
}

find("level").addEventListener("change", async event => {
  level = event.target.value;
  write();
  if (many.length) answer();
  if (known.groups.length) { groups(); groupAnswer(); }
  await draw();
});

// Files
const save = (text, kind, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
// A spreadsheet takes a cell that begins so for a formula: an apostrophe makes it a text.
const harmless = text => /^ *[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
const cell = value => value === null || value === undefined ? "" : typeof value === "number" ? String(value) : `"${harmless(value).replaceAll('"', '""')}"`;
const csv = rows => "\uFEFF" + rows.map(row => row.map(cell).join(",")).join("\r\n") + "\r\n";
find("csv").addEventListener("click", () => {
  const head = ["quantity", "given", "mean", "median", "low", "high", "sd", "share_due_to_privacy", "unit", "level"];
  const all = [...body.rows].filter(line => !line.hidden).map(line => {
    const row = known.rows[line.dataset.index], own = known.intervals[level][line.dataset.index];
    return [row.quantity, row.given, row.mean, row.median, own.low, own.high, row.sd, own.share, row.unit, Number(level)];
  });
  save(csv([head, ...all]), "text/csv", `${known.name}.csv`);
});
find("draws").addEventListener("click", () => {
  const columns = arrays.flatMap((each, index) => each.labels.map((label, row) => [each.labels.length > 1 ? `${each.name}[${label}]` : each.name, drawn(index, row)]));
  const all = Array.from({ length: count }, (_, draw) => [draw, ...columns.map(([, values]) => values[draw])]);
  save(csv([["draw", ...columns.map(([name]) => name)], ...all]), "text/csv", `${known.name}-draws.csv`);
});
for (const button of document.querySelectorAll("button.release")) button.addEventListener("click", () => {
  const index = button.dataset.index;
  save(find(`release-${index}`).textContent, "application/json", `${known.name}${index === "0" ? "" : `-${Number(index) + 1}`}.release.json`);
});

dark.addEventListener("change", () => draw());
addEventListener("beforeprint", () => { if (dark.matches) draw(true); });
addEventListener("afterprint", () => { if (dark.matches) draw(); });
await draw();
