/** Curves of the solutions of an instance: those of all methods over each other, a chart for each title. */

// Up to so many methods, each can be pressed by itself with ease.
const FEW_METHODS = 6;

const exact = (value) => amount(value, 12);
// Short, but not so short that ticks close to each other look the same.
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 6 });

/** The curves of an instance by their head: rows as `drawCurves` takes them. */
function curvesByHead(number) {
  const { runs } = data.instances[number];
  const found = new Map();
  for (const [instance, i, head, isStep, x, y] of data.curves.rows) {
    if (instance !== number) continue;
    if (!found.has(head)) found.set(head, []);
    const [method, repetition] = [runs[i][METHOD], runs[i][REPETITION]];
    const name = labelOf(method) + (repetition === null ? "" : `, repetition ${repetition}`);
    found.get(head).push([method, [data.curves.columns[x], data.curves.columns[y]], name, isStep ? STEP : LINE]);
  }
  return found;
}

/** What an axis has to know of a curve's values; all of them could be more than a call takes. */
function ends(values) {
  const positive = values.filter((value) => value > 0);
  return [Math.min(...values), Math.max(...values), ...(positive.length > 0 ? [Math.min(...positive)] : [])];
}

function drawSolutionCurves(all, [, xTitle, yTitle], isLog, width) {
  const rows = all.filter(([method]) => isOn(method));
  if (rows.length === 0) return null;
  const xs = rows.flatMap(([, [own]]) => ends(own));
  const [least, most] = [Math.min(...xs), Math.max(...xs)];
  const low = !isLog && roomFor(xs)[0] === 0 ? 0 : least;
  const range = [low, most > low ? most : low + 1];
  const scale = ({ left, right }) => (isLog && most > 0 ? zeroLogScale(xs, left, right, exact) : linearScale(...range, left, right, exact));
  const x = (frame) => ({ ...scale(frame), range, told: (value) => `${xTitle} ${counted(value)}\n${yTitle}` });
  const [bottom, top] = roomFor(rows.flatMap(([, [, own]]) => ends(own)));
  const isLong = Math.max(-bottom, top) >= 1e5;
  const y = (frame) => linearScale(bottom, top, frame.bottom, frame.top, (value) => (isLong ? compact.format(value) : exact(value)));
  return drawCurves(width, rows, x, y, [xTitle, yTitle], counted, -1);
}

/** The charts of an instance with their legend, or nothing; they are drawn when they are on the page. */
function curvesOf(number) {
  const found = curvesByHead(number);
  if (found.size === 0) return [];
  const rows = [...found.values()].flat();
  const methods = [...new Set(rows.map(([method]) => method))].sort((a, b) => a - b);
  const box = el("div", { class: "charts" });
  for (const [head, own] of found) {
    const [title, xTitle, yTitle] = data.curves.heads[head];
    const isLog = data.curves.logs.some(([instance, other]) => instance === number && other === head);
    addChart(title, `${yTitle} by ${xTitle}`, (width) => drawSolutionCurves(own, data.curves.heads[head], isLog, width), { box, isWalked: true, heading: "h5" });
  }
  const legend = el("div", { class: "keys" },
    methods.length > FEW_METHODS ? el("div", { class: "controls" }, ...allOrNone()) : null,
    el("ul", { "aria-label": "Methods; press to show or hide" }, ...methods.map((method) => el("li", {}, legendButton(method)))));
  return [el("div", { class: "curves" }, el("h4", {}, "All solutions over each other"), legend, box)];
}
