/** Figures with a curve for each method: performance profiles, gaps over time, times over sizes. */

const CURVE_HEIGHT = 300;
const MOST_TOLD = 14;
const MOST_WALKED = 25;
// A curve keeps each value until the next and the last to the end of the axis, or until the next, or is a line.
const [HELD, STEP, LINE] = Array(3).keys();

function curveFrame(width) {
  return { left: 52, right: width - 14, top: 24, bottom: CURVE_HEIGHT - 40 };
}

/** The value of a curve at x; undefined before its beginning and, unless it is held, after its end. */
function valueAt([xs, ys], x, kind) {
  let low = 0;
  let high = xs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] <= x) low = middle + 1;
    else high = middle;
  }
  if (low === xs.length && kind !== HELD && x > xs[low - 1]) return undefined;
  if (low === 0 || low === xs.length || kind !== LINE) return ys[low - 1];
  return ys[low - 1] + ((ys[low] - ys[low - 1]) * (x - xs[low - 1])) / (xs[low] - xs[low - 1]);
}

function trace([xs, ys], x, y, kind, end) {
  let path = "";
  xs.forEach((value, i) => {
    const place = x.at(value).toFixed(1);
    const height = y.at(ys[i]).toFixed(1);
    if (i === 0) path += `M${place},${height}`;
    else path += kind === LINE ? `L${place},${height}` : `H${place}V${height}`;
  });
  return kind === HELD ? `${path}H${end}` : path;
}

function curveOf(method, curve, kind, x, y, end) {
  const [xs, ys] = curve;
  return groupOf(
    method,
    svg("path", { class: "line", d: trace(curve, x, y, kind, end), "stroke-dasharray": dashOf(method) }),
    // Marks tell the curves apart where colours do not.
    ...markedPlaces(curve, method).map((i) => markAt(method, x.at(xs[i]), y.at(ys[i]), "mean", 0.85)),
  );
}

/** Where a curve has marks: a quarter, a half and three quarters of its ups and downs, a little elsewhere for each method. */
function markedPlaces([, ys], method) {
  let sum = 0;
  const way = ys.map((value, i) => (sum += i === 0 ? 0 : Math.abs(value - ys[i - 1])));
  if (sum === 0) return [0];
  const shares = [0.25, 0.5, 0.75].map((share) => share + 0.05 * ((method % 5) - 2));
  return [...new Set(shares.map((share) => way.findIndex((done) => done >= share * sum)))];
}

/**
 * Curves over x, rows of method, points, and if need be name and kind; `told` says what a curve's value is, `better`
 * sorts the best first.
 */
function drawCurves(width, rows, xOf, yOf, titles, told, better) {
  if (rows.length === 0) return null;
  const named = rows.map(([method, curve, name = labelOf(method), kind = HELD]) => ({ method, curve, name, kind }));
  const frame = curveFrame(width);
  const x = invertible(xOf(frame), frame);
  const y = yOf(frame);
  const at = (place) => {
    if (place < frame.left || place > frame.right + 8) return null;
    const value = x.back(Math.min(place, frame.right));
    const known = named.map(({ curve, name, kind }) => [name, valueAt(curve, value, kind)]).filter(([, found]) => found !== undefined);
    known.sort(([, a], [, b]) => better * (a - b));
    const lines = known.slice(0, MOST_TOLD).map(([name, found]) => `${told(found)}  ${name}`);
    if (known.length > MOST_TOLD) lines.push(`and ${known.length - MOST_TOLD} more`);
    return { cursor: place, text: `${x.told(value)}\n${lines.join("\n")}` };
  };
  const label = named.map(({ name, curve: [, ys] }) => `${name}: ${told(ys[ys.length - 1])} at the end`).join("; ");
  const drawn = named.map(({ method, curve, kind }) => curveOf(method, curve, kind, x, y, frame.right));
  const hits = named.flatMap(({ method, curve: [xs, ys], name }) =>
    walkedPlaces(xs.length).map((i) => ({ x: x.at(xs[i]), y: y.at(ys[i]), method, text: `${name}\n${x.told(xs[i])}\n${told(ys[i])}` })));
  return { height: CURVE_HEIGHT, frame, at, hits, label, children: [...xAxis(frame, x, titles[0]), ...yAxis(frame, y, titles[1]), ...drawn] };
}

/** So many points of a curve as one cares to walk along, from the first to the last. */
function walkedPlaces(count) {
  const steps = Math.min(count, MOST_WALKED) - 1;
  return Array.from({ length: steps + 1 }, (_, i) => Math.round((i * (count - 1)) / (steps || 1)));
}

/** A scale with `back`, from pixels to values, by bisection: scales ascend. */
function invertible(scale, { left, right }) {
  const back = (place) => {
    let [low, high] = scale.range;
    for (let i = 0; i < 50; i += 1) {
      const middle = (low + high) / 2;
      if (scale.at(middle) < place) low = middle;
      else high = middle;
    }
    return high;
  };
  return { ...scale, back, from: left, to: right };
}

const shareScale = (frame) => linearScale(0, 1, frame.bottom, frame.top, (value) => `${Math.round(100 * value)}%`);
const lastOf = (rows) => Math.max(...rows.map(([, [xs]]) => xs[xs.length - 1]));
const shortShare = (share) => `${(100 * share).toFixed(share === 1 || share === 0 ? 0 : 1)}%`;

function drawTimeProfile(width) {
  const rows = numbered(scope().time);
  const most = Math.max(rows.length ? lastOf(rows) : 1, 1.5);
  const x = (frame) => ({ ...logScale(1, most, frame.left, frame.right, (value) => `${amount(value)}×`), range: [1, most], told: (value) => `within ${Number(value.toPrecision(3))} × the fastest` });
  return drawCurves(width, rows, x, shareScale, ["time / fastest method's", "share of runs solved"], shortShare, -1);
}

function drawGapProfile(width) {
  const rows = numbered(scope().gap);
  const gaps = rows.flatMap(([, [xs]]) => xs);
  const most = Math.max(...gaps, 1e-6);
  const x = (frame) => ({ ...gapScale(gaps, state.isLog, frame.left, frame.right), range: [0, most], told: (value) => `gap at most ${percent(value)}` });
  return drawCurves(width, rows, x, shareScale, ["gap", "share of runs"], shortShare, -1);
}

function drawAnytime(width) {
  const rows = numbered(scope().anytime);
  const moments = rows.flatMap(([, [xs]]) => xs.filter((value) => value > 0));
  if (moments.length === 0) return null;
  const [least, most] = [Math.min(...moments), Math.max(...moments)];
  const x = (frame) => ({ ...logScale(least / 1.5, most * 1.2, frame.left, frame.right, seconds), range: [least / 1.5, most * 1.2], told: (value) => `after ${seconds(value)}` });
  const y = (frame) => gapScale(rows.flatMap(([, [, ys]]) => ys), state.isLog, frame.bottom, frame.top);
  return drawCurves(width, rows, x, y, ["time since the start", "mean gap so far"], percent, 1);
}

function drawGrowth(width) {
  const rows = data.growth.filter(([group, method]) => isOn(method) && isInScope(group));
  if (rows.length === 0) return null;
  const frame = curveFrame(width);
  const sizes = rows.flatMap(([, , tasks]) => tasks);
  const times = rows.flatMap(([, , , own, paper]) => [...own, ...paper.map(([, time]) => time)]);
  const x = logScale(Math.min(...sizes), Math.max(...sizes), frame.left + 6, frame.right - 6, (value) => amount(value));
  const y = logScale(Math.min(...times) / 1.3, Math.max(...times) * 1.3, frame.bottom, frame.top, seconds);
  const hits = [];
  const drawn = rows.map(([group, method, tasks, own, paper]) => {
    const at = tasks.map((size, i) => [x.at(size), y.at(own[i])]);
    at.forEach(([px, py], i) => hits.push({ x: px, y: py, method, text: `${labelOf(method)}\n${data.groups[group]}, ${amount(tasks[i])} tasks\nmedian ${seconds(own[i])}` }));
    paper.forEach(([size, time]) => hits.push({ x: x.at(size), y: y.at(time), method, text: `${labelOf(method)}, the paper\n${amount(size)} tasks\n${seconds(time)}` }));
    return groupOf(
      method,
      svg("path", { class: "line", d: `M${at.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join("L")}`, "stroke-dasharray": data.dashes[group % data.dashes.length] }),
      ...at.map(([px, py]) => markAt(method, px, py, "mean")),
      ...paper.map(([size, time]) => markAt(method, x.at(size), y.at(time), "hollow")),
    );
  });
  const label = rows.map(([group, method, tasks, own]) => `${labelOf(method)}, ${data.groups[group]}: ${seconds(own[own.length - 1])} for ${amount(tasks[tasks.length - 1])} tasks`).join("; ");
  return { height: CURVE_HEIGHT, frame, hits, label, children: [...xAxis(frame, x, "tasks"), ...yAxis(frame, y, "median time"), ...drawn] };
}
