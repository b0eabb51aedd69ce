/** Scales: `at` gives the place of a value in pixels, `ticks` are pairs of value and label. */

// On a logarithmic axis of gaps, 0 has a place of its own at the beginning; this share of the axis.
const ZERO_PLACE = 0.07;
const MOST_DECADES = 6;

function niceTicks(least, most, count) {
  const rough = (most - least) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(least / step - 1e-9); i * step <= most + step * 1e-3; i += 1) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function linearScale(least, most, from, to, label) {
  const span = most - least || 1;
  const ticks = niceTicks(least, least + span, 5).map((value) => [value, label(value)]);
  return { at: (value) => from + ((value - least) / span) * (to - from), ticks };
}

function logScale(least, most, from, to, label) {
  const [low, high] = [Math.log10(least), Math.log10(Math.max(most, least * 1.5))];
  const ticks = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) {
    for (const factor of high - low < 1.5 ? [1, 2, 5] : [1]) {
      const value = factor * 10 ** power;
      if (value >= least * 0.999 && value <= most * 1.001) ticks.push([value, label(Number(value.toPrecision(6)))]);
    }
  }
  return { at: (value) => from + ((Math.log10(Math.max(value, least)) - low) / (high - low)) * (to - from), ticks };
}

const shortPercent = (value) => `${Number((100 * value).toPrecision(3))}%`;

/** A scale of gaps from 0 to the largest, linear or logarithmic; the latter from the decade of the least above 0. */
function gapScale(gaps, isLog, from, to) {
  const positive = gaps.filter((gap) => gap > 0);
  const most = Math.max(...positive, 1e-6);
  if (!isLog || positive.length === 0) return linearScale(0, most * 1.02, from, to, shortPercent);
  const top = Math.log10(most);
  const low = Math.max(Math.floor(Math.log10(Math.min(...positive))), Math.floor(top) - MOST_DECADES);
  const ticks = [[0, "0%"]];
  for (let power = low; power <= top; power += 1) ticks.push([10 ** power, shortPercent(10 ** power)]);
  const share = (gap) => {
    if (gap < 10 ** low) return (ZERO_PLACE * Math.max(gap, 0)) / 10 ** low;
    return ZERO_PLACE + ((1 - ZERO_PLACE) * (Math.log10(gap) - low)) / (top - low || 1);
  };
  return { at: (gap) => from + share(gap) * (to - from), ticks };
}

/** A logarithmic scale of what is not below 0; where 0 occurs, it has a place of its own at the beginning. */
function zeroLogScale(values, from, to, label) {
  const positive = values.filter((value) => value > 0);
  const most = 1.15 * Math.max(...positive);
  const least = Math.max(Math.min(...positive) / 1.15, most / 10 ** MOST_DECADES);
  if (positive.length === values.length) return logScale(least, most, from, to, label);
  const begin = from + ZERO_PLACE * (to - from);
  const scale = logScale(least, most, begin, to, label);
  return { at: (value) => (value > 0 ? scale.at(value) : from), ticks: [[0, label(0)], ...scale.ticks] };
}

/** The ends of a linear axis for these values: it begins at 0 where that does not squeeze the lines. */
function roomFor(values) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = 0.05 * (most - least || Math.abs(most) || 1);
  return [least >= 0 && least < 0.4 * most ? 0 : least - room, most + room];
}

/** Ticks whose labels do not run into each other, along a horizontal axis. */
function roomy(scale) {
  let end = -Infinity;
  return scale.ticks.filter(([value, label]) => {
    const half = label.length * 3.4 + 3;
    const place = scale.at(value);
    if (place - half < end) return false;
    end = place + half;
    return true;
  });
}

function xAxis(frame, scale, title) {
  const { left, right, top, bottom } = frame;
  return [
    ...scale.ticks.map(([value]) => svg("line", { class: "rule", x1: scale.at(value), x2: scale.at(value), y1: top, y2: bottom })),
    svg("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }),
    ...roomy(scale).map(([value, label]) =>
      svg("text", { x: scale.at(value), y: bottom + 15, "text-anchor": "middle" }, label)),
    svg("text", { x: right, y: bottom + 31, "text-anchor": "end" }, title),
  ];
}

function yAxis(frame, scale, title) {
  const { left, right, top } = frame;
  return [
    ...scale.ticks.map(([value]) => svg("line", { class: "rule", x1: left, x2: right, y1: scale.at(value), y2: scale.at(value) })),
    ...scale.ticks.map(([value, label]) =>
      svg("text", { x: left - 6, y: scale.at(value) + 4, "text-anchor": "end" }, label)),
    svg("text", { x: 0, y: top - 8 }, title),
  ];
}
