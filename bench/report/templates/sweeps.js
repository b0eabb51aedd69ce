/** Figures of a measure over a parameter: measured, predicted by a model, and the paper's; each with its own legend. */

const SWEEP_HEIGHT = 330;
const [NAME, STRAND, COLOUR, SHAPE, , MEASURED, PREDICTED, PAPER] = Array(8).keys();

/** A number with so many digits that count. */
function counted(value, digits = 4) {
  return value.toLocaleString("en-US", Math.abs(value) < 10000 ? { maximumSignificantDigits: digits } : { maximumFractionDigits: 0 });
}

function against(ours, other) {
  if (ours === undefined || ours === other || other === 0) return "";
  const share = (100 * (ours - other)) / Math.abs(other);
  return ` (ours ${share < 0 ? "−" : "+"}${Math.abs(share).toFixed(1)}%)`;
}

/** Measured values at an x with their range, or undefined. */
function toldAt(path, x) {
  const i = path === null ? -1 : path[0].indexOf(x);
  return i < 0 ? undefined : { mean: path[1][i], least: (path[2] ?? path[1])[i], most: (path[3] ?? path[1])[i] };
}

function strandText(sweep, strand, x) {
  const ours = toldAt(strand[MEASURED], x);
  const model = toldAt(strand[PREDICTED], x);
  const lines = [`${strand[NAME]}`, `${sweep.x} ${amount(x)}`, sweep.y];
  if (ours) lines.push(`${counted(ours.mean)}${ours.least === ours.most ? "" : `, from ${counted(ours.least)} to ${counted(ours.most)}`}`);
  if (model && sweep.show.models) lines.push(`model ${counted(model.mean)}${against(ours?.mean, model.mean)}`);
  if (sweep.show.paper) {
    for (const [at, value, name] of strand[PAPER]) if (at === x) lines.push(`the paper ${counted(value)}${against(ours?.mean, value)}, ${name}`);
  }
  return lines.join("\n");
}

function sweepScales(sweep, strands, frame) {
  const paths = strands.flatMap((strand) => [strand[MEASURED], sweep.show.models ? strand[PREDICTED] : null]).filter((path) => path !== null);
  const papers = sweep.show.paper ? strands.flatMap((strand) => strand[PAPER]) : [];
  const xs = [...paths.flatMap(([own]) => own), ...papers.map(([x]) => x)];
  const ys = [...paths.flatMap(([, ...axes]) => axes.flat()), ...papers.map(([, y]) => y)];
  if (xs.length === 0) return null;
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const x = sweep.logX
    ? logScale(low, high, frame.left + 12, frame.right - 12, amount)
    : linearScale(low, high, frame.left + 12, frame.right - 12, amount);
  const short = (value) => counted(value, 3);
  if (sweep.logY && Math.max(...ys) > 0) return { x, y: zeroLogScale(ys, frame.bottom, frame.top, short) };
  return { x, y: linearScale(...roomFor(ys), frame.bottom, frame.top, short) };
}

function strandPath(x, y, [xs, ys]) {
  return xs.map((value, i) => `${i === 0 ? "M" : "L"}${x.at(value).toFixed(1)},${y.at(ys[i]).toFixed(1)}`).join("");
}

function strandMark(strand, x, y, kind, scale) {
  return svg("path", { class: kind, d: data.shapes[strand[SHAPE]], transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale})` });
}

function drawStrand(sweep, strand, { x, y }) {
  const parts = [];
  const [measured, predicted] = [strand[MEASURED], sweep.show.models ? strand[PREDICTED] : null];
  if (predicted !== null) {
    parts.push(svg("path", { class: "line model", d: strandPath(x, y, predicted) }));
    // A model of a single place would be no line.
    predicted[0].forEach((value, i) => parts.push(svg("line", { class: "tick", x1: x.at(value) - 5, x2: x.at(value) + 5, y1: y.at(predicted[1][i]), y2: y.at(predicted[1][i]) })));
  }
  if (measured !== null) {
    const [xs, means, least, most] = measured;
    parts.push(svg("path", { class: "line", d: strandPath(x, y, measured) }));
    if (least) xs.forEach((value, i) => parts.push(svg("line", { class: "span", x1: x.at(value), x2: x.at(value), y1: y.at(least[i]), y2: y.at(most[i]) })));
    xs.forEach((value, i) => parts.push(strandMark(strand, x.at(value), y.at(means[i]), "mean", 0.95)));
  }
  if (sweep.show.paper) for (const [at, value] of strand[PAPER]) parts.push(strandMark(strand, x.at(at), y.at(value), "hollow", 1.35));
  return svg("g", { "data-m": `s${strand[STRAND]}`, class: `m${strand[COLOUR]}` }, ...parts);
}

/** Places that tell about themselves, strand by strand from left to right. */
function strandHits(sweep, strand, { x, y }) {
  const paths = [strand[MEASURED], sweep.show.models ? strand[PREDICTED] : null].filter((path) => path !== null);
  const places = paths.flatMap(([xs, means]) => xs.map((value, i) => [value, means[i]]));
  if (sweep.show.paper) places.push(...strand[PAPER].map(([at, value]) => [at, value]));
  places.sort(([a], [b]) => a - b);
  return places.map(([at, value]) => ({ x: x.at(at), y: y.at(value), method: `s${strand[STRAND]}`, text: strandText(sweep, strand, at) }));
}

function drawSweep(sweep, width) {
  const strands = sweep.strands.filter((strand) => !sweep.off.has(strand));
  const frame = { left: 58, right: width - 8, top: 24, bottom: SWEEP_HEIGHT - 40 };
  const scales = sweepScales(sweep, strands, frame);
  if (scales === null) return null;
  const label = strands.filter((strand) => strand[MEASURED] !== null).map((strand) => {
    const [xs, means] = strand[MEASURED];
    return `${strand[NAME]}: ${xs.map((x, i) => `${counted(means[i])} at ${amount(x)}`).join(", ")}`;
  }).join("; ");
  return {
    height: SWEEP_HEIGHT,
    frame,
    hits: strands.flatMap((strand) => strandHits(sweep, strand, scales)),
    label: `${sweep.y} by ${sweep.x}. ${label}`,
    children: [...xAxis(frame, scales.x, sweep.x), ...yAxis(frame, scales.y, sweep.y), ...strands.map((strand) => drawStrand(sweep, strand, scales))],
  };
}

function keyPicture(strand) {
  const line = (kind) => svg("line", { class: kind, x1: -15, x2: 15, y1: 0, y2: 0 });
  return svg("svg", { viewBox: "-15 -6 30 12", "aria-hidden": "true", class: "chart-key" },
    strand[MEASURED] === null ? line("model") : [line("whole"), svg("path", { class: "filled", d: data.shapes[strand[SHAPE]] })]);
}

function toggle(classes, picture, words, isShown, turn) {
  const button = el("button", { type: "button", class: classes, "aria-pressed": String(isShown) }, picture, words);
  button.addEventListener("click", () => {
    const isNow = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isNow));
    turn(isNow);
  });
  return button;
}

function sweepKeys(sweep, chart) {
  const again = () => { light(null); hideTip(); redraw(chart); };
  const buttons = sweep.strands.map((strand) => {
    const button = toggle(`m${strand[COLOUR]}`, keyPicture(strand), methodWords(strand[NAME]), true, (isShown) => {
      sweep.off[isShown ? "delete" : "add"](strand);
      again();
    });
    for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => { if (!sweep.off.has(strand)) light(`s${strand[STRAND]}`); });
    for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => light(null));
    return button;
  });
  const kinds = [];
  if (sweep.strands.some((strand) => strand[PREDICTED] !== null)) {
    kinds.push(["models", "model", svg("line", { class: "model", x1: -15, x2: 15, y1: 0, y2: 0 })]);
  }
  if (sweep.strands.some((strand) => strand[PAPER].length > 0)) kinds.push(["paper", "the paper", svg("path", { class: "empty", d: data.shapes[0] })]);
  for (const [kind, words, picture] of kinds) {
    buttons.push(toggle("kind", svg("svg", { viewBox: "-15 -6 30 12", "aria-hidden": "true", class: "chart-key" }, picture), words, true, (isShown) => {
      sweep.show[kind] = isShown;
      again();
    }));
  }
  return el("div", { class: "keys" }, el("ul", { "aria-label": "Lines; press to show or hide" }, ...buttons.map((button) => el("li", {}, button))));
}

if (data.sweeps.length > 0) {
  const box = document.getElementById("sweep-charts");
  for (const given of data.sweeps) {
    const sweep = { ...given, off: new Set(), show: { models: true, paper: true } };
    const note = `${sweep.y} by ${sweep.x}${sweep.left ? `; ${plural(sweep.left, "more line")} left out: the figures cannot tell more apart` : ""}`;
    const chart = addChart(sweep.title, note, (width) => drawSweep(sweep, width), { box, isWalked: true });
    chart.picture.before(sweepKeys(sweep, chart));
  }
  watch(box);
  redrawAll();
}
