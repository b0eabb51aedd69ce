/** How any figure is drawn from its specification; what it is about, only that knows. */

const LINES_HEIGHT = 310;
const POINTS_HEIGHT = 420;
const ROWS_TOP = 8;
// Of marks at the ends of an axis.
const INSET = 10;
// So many methods are told of at a place, and so many places of a curve are walked along.
const MOST_TOLD = 14;
const MOST_WALKED = 25;
// More lines than colours: all are grey but a few, and the nearest one to the pointer within so many pixels.
const MOST_LINES = 8;
const MOST_LED = 4;
const PROBES = 40;
const NEAR = 40;
const SIZES = { few: 0.85, all: 1, large: 1.5, hollow: 1.35 };
const columnOf = (number) => (number === undefined ? [] : data.columns[number]);

/** A series with its columns of numbers. */
function unpackedSeries(series, figure) {
  return {
    ...series,
    name: series.name ?? labelOf(series.method),
    key: figure.has_own_legend ? `s${series.method}` : String(series.method),
    x: columnOf(series.x),
    y: columnOf(series.y),
    seconds: columnOf(series.seconds),
    instances: columnOf(series.instances),
    spans: series.spans?.map(columnOf),
  };
}

/** Rows with names at the left, or above where the page is narrow: { left, bottom, step, y(row), labels }. */
function rowLayout(names, shown, width) {
  const rows = [...new Set(shown.map(({ row }) => row))].sort((a, b) => a - b);
  const parts = rows.map((row) => split(names[row]));
  const isNarrow = width < 620;
  const step = isNarrow ? 46 : 32;
  const left = isNarrow ? 4 : Math.min(0.4 * width, 16 + 6.7 * Math.max(...parts.flat().map((text) => text.length)));
  const most = Math.floor((isNarrow ? width : left - 12) / 6.7);
  const y = (row) => ROWS_TOP + rows.indexOf(row) * step + (isNarrow ? 30 : 16);
  const cut = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const labels = rows.map((row, i) => {
    const [name, parameters] = parts[i];
    if (isNarrow) return svg("text", { class: "row", x: 4, y: y(row) - 17 }, cut(name + parameters));
    const end = { x: left - 12, "text-anchor": "end" };
    if (!parameters) return svg("text", { class: "row", ...end, y: y(row) + 4 }, cut(name));
    return svg("g", {}, svg("text", { class: "row", ...end, y: y(row) - 2 }, cut(name)), svg("text", { ...end, y: y(row) + 12 }, cut(parameters)));
  });
  return { left, bottom: ROWS_TOP + rows.length * step, step, y, labels };
}

/** A number in [0, 1) that looks like chance and is always the same. */
function scattered(number) {
  return (number * 0.6180339887498949) % 1;
}

/** Where the points of series are, in pixels; dots in a row lie beside each other. */
function placesOf(shown, x, y, layout) {
  let dots = 0;
  return new Map(shown.map((series) => {
    const height = (i) => {
      if (layout === null) return y.at(series.y[i]);
      return layout.y(series.row) + layout.step * (series.shift ?? 0) + (series.marks === "dots" ? (scattered((dots += 1)) - 0.5) * 15 : 0);
    };
    return [series, series.x.map((value, i) => [x.at(value), height(i)])];
  }));
}

function spread(values) {
  const positive = values.filter((value) => value > 0);
  return values.length === 0 ? [] : [Math.min(...values), Math.max(...values), ...(positive.length > 0 ? [Math.min(...positive)] : []), ...(values.includes(0) ? [0] : [])];
}

function drawFigure(figure, shown, width) {
  if (shown.length === 0) return null;
  const layout = figure.y.names ? rowLayout(figure.y.names, shown, width) : null;
  const height = shown.some(({ line }) => line) ? LINES_HEIGHT : POINTS_HEIGHT;
  const frame = layout ? { left: layout.left, right: width - 12, top: ROWS_TOP, bottom: layout.bottom } : { left: 52, right: width - 14, top: 24, bottom: height - 40 };
  const areCurves = shown.every(({ marks }) => marks === "few");
  const inset = areCurves ? 0 : INSET;
  const spans = shown.flatMap((series) => (series.spans ?? []).flatMap(spread));
  const xs = [...shown.flatMap((series) => [...spread(series.x), ...(series.box ?? [])]), ...(layout ? spans : [])];
  const ys = layout ? [] : [...shown.flatMap((series) => spread(series.y)), ...spans];
  const x = scaleOf(figure.x, xs, frame.left + inset, frame.right - inset, true);
  const y = layout ? null : scaleOf(figure.y, ys, frame.bottom, frame.top, false);
  const places = placesOf(shown, x, y, layout);
  const leading = leaders(figure, shown, x, frame);
  const said = shown.filter((series) => series.said || series.marks === "few").map((series) =>
    `${series.name}: ${series.said ?? `${y.unit(series.y.at(-1))} at the end`}`);
  return {
    height: layout ? frame.bottom + 38 : height,
    frame,
    hits: shown.flatMap((series) => hitsOf(series, places.get(series), x, y)),
    at: areCurves ? (place, height) => toldAt(figure, shown, x, y, frame, place, height) : null,
    lines: shown.filter(({ line }) => line).length,
    label: (figure.has_own_legend ? `${figure.note}. ` : "") + said.join("; "),
    children: [
      ...xAxis(frame, x, figure.x.title),
      ...(layout ? layout.labels : yAxis(frame, y, figure.y.title)),
      ...[...shown.filter((series) => !leading.has(series)), ...leading].map((series) => drawSeries(series, places.get(series), x, y, frame, leading.has(series))),
    ],
  };
}

/** The lines that keep their colours where there are many: the best on the whole. */
function leaders(figure, shown, x, frame) {
  const places = Array.from({ length: PROBES }, (_, i) => valueOf(x, frame.left + ((i + 0.5) / PROBES) * (frame.right - frame.left)));
  const sum = (series) => places.reduce((total, place) => total + (valueAt(series, place) ?? series.y.at(-1) ?? 0), 0);
  const sign = figure.is_lower_better ? 1 : -1;
  const ranked = shown.filter(({ line }) => line).map((series) => [sign * sum(series), series]).sort(([a], [b]) => a - b);
  return new Set(ranked.slice(0, MOST_LED).map(([, series]) => series).reverse());
}

function drawSeries(series, places, x, y, frame, isLeading) {
  const parts = [];
  const mark = (i) => markAt(series.method, ...places[i], series.marks === "hollow" ? "hollow" : "mean", SIZES[series.marks]);
  if (series.spans) {
    const [least, most] = series.spans;
    places.forEach(([px, py], i) => parts.push(svg("line", y === null
      ? { class: "span", x1: x.at(least[i]), x2: x.at(most[i]), y1: py, y2: py }
      : { class: "span", x1: px, x2: px, y1: y.at(least[i]), y2: y.at(most[i]) })));
  }
  if (series.box) {
    const [lower, middle, upper] = series.box.map(x.at);
    const middleY = places[0][1];
    parts.push(svg("rect", { class: "body", x: lower, y: middleY - 9, width: Math.max(1, upper - lower), height: 18 }));
    parts.push(svg("line", { class: "bound", x1: middle, x2: middle, y1: middleY - 9, y2: middleY + 9 }));
  }
  if (series.line) {
    const kind = series.role === "model" ? "line model" : "line";
    parts.push(svg("path", { class: kind, d: trace(places, series.line, frame.right), "stroke-dasharray": data.dashes[series.dash ?? 0] || null }));
  }
  // One path for all, since there are thousands: each dot is the round end of a line without a length.
  if (series.marks === "dots") parts.push(svg("path", { class: "dot", d: places.map(([px, py]) => `M${px.toFixed(1)},${py.toFixed(1)}h0`).join("") }));
  else if (series.marks === "strokes") parts.push(...places.map(([px, py]) => svg("line", { class: "tick", x1: px - 5, x2: px + 5, y1: py, y2: py })));
  // Marks tell the curves apart where colours do not.
  else if (series.marks) parts.push(...(series.marks === "few" ? markedPlaces(series) : places.keys()).map(mark));
  return svg("g", { "data-m": series.key, class: `${colourOf(series.method)}${isLeading ? " leading" : ""}` }, ...parts);
}

function trace(places, line, end) {
  const path = places.map(([px, py], i) => {
    const [at, height] = [px.toFixed(1), py.toFixed(1)];
    if (i === 0) return `M${at},${height}`;
    return line === "line" ? `L${at},${height}` : `H${at}V${height}`;
  }).join("");
  return line === "held" ? `${path}H${end}` : path;
}

/** Where a curve has marks: a quarter, a half and three quarters of its ups and downs, a little elsewhere for each method. */
function markedPlaces({ y, method }) {
  let sum = 0;
  const way = y.map((value, i) => (sum += i === 0 ? 0 : Math.abs(value - y[i - 1])));
  if (sum === 0) return [0];
  const shares = [0.25, 0.5, 0.75].map((share) => share + 0.05 * ((method % 5) - 2));
  return [...new Set(shares.map((share) => way.findIndex((done) => done >= share * sum)))];
}

/** Places that tell about themselves: { x, y, key, text, instance }. */
function hitsOf(series, places, x, y) {
  const steps = Math.min(places.length, series.marks === "few" ? MOST_WALKED : Infinity) - 1;
  const chosen = Array.from({ length: steps + 1 }, (_, i) => Math.round((i * (places.length - 1)) / (steps || 1)));
  return chosen.map((i) => ({ x: places[i][0], y: places[i][1], key: series.key, instance: series.instances[i], text: `${series.name}\n${textOf(series, i, x, y)}` }));
}

function textOf(series, i, x, y) {
  if (Array.isArray(series.text)) return series.text[i];
  if (series.text === undefined) return `${x.told(series.x[i])}\n${y.unit(series.y[i])}`;
  const known = { x: () => x.unit(series.x[i]), y: () => y.unit(series.y[i]), seconds: () => seconds(series.seconds[i]), instance: () => data.names[series.instances[i]] };
  return series.text.replace(/\{(\w+)\}/g, (_, name) => known[name]());
}

/** What all curves have at a place of the axis of x, and which is the nearest to a height. */
function toldAt(figure, shown, x, y, frame, place, height) {
  if (place < frame.left || place > frame.right + 8) return null;
  const value = valueOf(x, Math.min(place, frame.right));
  const known = shown.map((series) => [series.name, valueAt(series, value), series.key]).filter(([, found]) => found !== undefined);
  const far = ([, found]) => Math.abs(y.at(found) - height);
  const near = known.reduce((best, each) => (best === null || far(each) < far(best) ? each : best), null);
  const isNear = near !== null && far(near) < NEAR;
  known.sort(([, a], [, b]) => (figure.is_lower_better ? a - b : b - a));
  const told = known.slice(0, MOST_TOLD);
  if (isNear && known.length > MOST_LINES && !told.includes(near)) told[MOST_TOLD - 1] = near;
  const mark = (each) => (isNear && each === near && known.length > MOST_LINES ? "▸ " : "");
  const lines = told.map((each) => `${mark(each)}${y.unit(each[1])}  ${each[0]}`);
  if (known.length > MOST_TOLD) lines.push(`and ${known.length - MOST_TOLD} more`);
  return { cursor: place, key: isNear && known.length > MOST_LINES ? near[2] : undefined, text: `${x.told(value)}\n${lines.join("\n")}` };
}

/** The value of a curve at x; undefined before its beginning and, unless it is held, after its end. */
function valueAt({ x: xs, y: ys, line }, x) {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle + 1;
    else high = middle;
  }
  if (low === xs.length && line !== "held" && x > xs[low - 1]) return undefined;
  if (low === 0 || low === xs.length || line !== "line") return ys[low - 1];
  return ys[low - 1] + ((ys[low] - ys[low - 1]) * (x - xs[low - 1])) / (xs[low] - xs[low - 1]);
}

const colourOf = (method) => `m${data.marks[method][0]}`;
const outlineOf = (method) => data.shapes[data.marks[method][1]];

/** The mark of a method at a place. */
function markAt(method, x, y, kind, scale) {
  return svg("path", { class: kind, d: outlineOf(method), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale})` });
}
