/**
 * Scales: `at` gives the place of a value in pixels, `ticks` are pairs of value and label, `range` are the ends, `unit`
 * writes a value and `told` tells of one.
 */

// On a logarithmic axis, 0 has a place of its own at the beginning; this share of the axis.
const ZERO_PLACE = 0.07;
const MOST_DECADES = 6;

const exact = (value) => amount(value, 12);
// Short, but not so short that ticks close to each other look the same.
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 6 });
const shortPercent = (value) => `${Number((100 * value).toPrecision(3))}%`;

// How the numbers of an axis are written: at its ticks, and in words.
const UNITS = {
  number: [(value) => (Math.abs(value) >= 1e5 ? compact.format(value) : exact(value)), counted],
  percent: [shortPercent, percent],
  seconds: [seconds, seconds],
  times: [(value) => `${amount(value)}×`, (value) => `${Number(value.toPrecision(3))} ×`],
  share: [(value) => `${Math.round(100 * value)}%`, (share) => `${(100 * share).toFixed(share === 1 || share === 0 ? 0 : 1)}%`],
};

function niceTicks(least, most, count) {
  const rough = (most - least) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(least / step - 1e-9); i * step <= most + step * 1e-3; i += 1) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function linearScale(least, most, from, to) {
  const span = most - least || 1;
  return { at: (value) => from + ((value - least) / span) * (to - from), ticks: niceTicks(least, least + span, 5), range: [least, least + span] };
}

/** A logarithmic scale whose first part is the place of 0, as a share of the axis. */
function logScale(least, most, from, to, zero) {
  const [low, high] = [Math.log10(least), Math.log10(Math.max(most, least * 1.5))];
  const ticks = zero > 0 ? [0] : [];
  for (let power = Math.floor(low); power <= Math.ceil(high); power += 1) {
    for (const factor of high - low < 1.5 ? [1, 2, 5] : [1]) {
      const value = Number((factor * 10 ** power).toPrecision(6));
      if (value >= least * 0.999 && value <= 10 ** high * 1.001) ticks.push(value);
    }
  }
  const share = (value) => {
    if (value < least) return (zero * Math.max(value, 0)) / least;
    return zero + ((1 - zero) * (Math.log10(value) - low)) / (high - low);
  };
  return { at: (value) => from + share(value) * (to - from), ticks, range: [zero > 0 ? 0 : least, 10 ** high] };
}

/** The scale of an axis for what is on it. isAcross: whether lines go along it, so that it needs no room at its ends. */
function scaleOf(axis, given, from, to, isAcross) {
  const values = axis.includes === undefined ? given : [...given, axis.includes];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const positive = values.filter((value) => value > 0);
  const isLog = (axis.scale === "log" || (axis.scale === "gap" && state.isLog)) && positive.length > 0;
  let scale;
  if (axis.scale === "share") scale = linearScale(0, 1, from, to);
  else if (isLog) {
    const room = isAcross || axis.scale === "gap" ? 1 : 1.15;
    const low = Math.max(Math.min(...positive) / room, most / 10 ** MOST_DECADES);
    const hasZero = axis.scale === "gap" || positive.length < values.length;
    scale = logScale(axis.scale === "gap" ? 10 ** Math.floor(Math.log10(low)) : low, most * room, from, to, hasZero ? ZERO_PLACE : 0);
  } else if (axis.scale === "gap") scale = linearScale(0, Math.max(most, 1e-6) * 1.02, from, to);
  else {
    const room = isAcross ? 0 : 0.05 * (most - least || Math.abs(most) || 1);
    // It begins at 0 where that does not squeeze the lines.
    scale = linearScale(least >= 0 && least < 0.4 * most ? 0 : least - room, most + room, from, to);
  }
  const [label, unit] = UNITS[axis.unit ?? "number"];
  const told = (value) => (axis.told ?? "{}").replace("{}", () => unit(value));
  return { ...scale, ticks: scale.ticks.map((value) => [value, label(value)]), unit, told };
}

/** The value at a place of a scale, by bisection: scales ascend. */
function valueOf(scale, place) {
  let [low, high] = scale.range;
  for (let i = 0; i < 50; i += 1) {
    const middle = (low + high) / 2;
    if (scale.at(middle) < place) low = middle;
    else high = middle;
  }
  return high;
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

function xAxis({ left, right, top, bottom }, scale, title) {
  return [
    ...scale.ticks.map(([value]) => svg("line", { class: "rule", x1: scale.at(value), x2: scale.at(value), y1: top, y2: bottom })),
    svg("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }),
    ...roomy(scale).map(([value, label]) =>
      svg("text", { x: scale.at(value), y: bottom + 15, "text-anchor": "middle" }, label)),
    svg("text", { x: right, y: bottom + 31, "text-anchor": "end" }, title),
  ];
}

function yAxis({ left, right, top }, scale, title) {
  return [
    ...scale.ticks.map(([value]) => svg("line", { class: "rule", x1: left, x2: right, y1: scale.at(value), y2: scale.at(value) })),
    ...scale.ticks.map(([value, label]) =>
      svg("text", { x: left - 6, y: scale.at(value) + 4, "text-anchor": "end" }, label)),
    svg("text", { x: 0, y: top - 8 }, title),
  ];
}
