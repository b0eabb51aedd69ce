/** Figures with a row for each method: gaps as boxes over single runs, and the paper's figures beside ours. */

const ROWS_TOP = 8;

/** Rows with names at the left, or above where the page is narrow: { left, bottom, y(i), label(i) }. */
function rowLayout(names, width) {
  const isNarrow = width < 620;
  const step = isNarrow ? 46 : 32;
  const left = isNarrow ? 4 : Math.min(0.4 * width, 16 + 6.7 * Math.max(...names.flatMap(split).map((text) => text.length)));
  const most = Math.floor((isNarrow ? width : left - 12) / 6.7);
  const y = (i) => ROWS_TOP + i * step + (isNarrow ? 30 : 16);
  const cut = (text) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const parts = names.map(split);
  return {
    left,
    bottom: ROWS_TOP + names.length * step,
    y,
    label: (i) => {
      const [name, parameters] = parts[i];
      if (isNarrow) return svg("text", { class: "row", x: 4, y: y(i) - 17 }, cut(name + parameters));
      const end = { x: left - 12, "text-anchor": "end" };
      if (!parameters) return svg("text", { class: "row", ...end, y: y(i) + 4 }, cut(name));
      return svg("g", {}, svg("text", { class: "row", ...end, y: y(i) - 2 }, cut(name)), svg("text", { ...end, y: y(i) + 12 }, cut(parameters)));
    },
  };
}

/** A number in [0, 1) that looks like chance and is always the same. */
function scattered(number) {
  return (number * 0.6180339887498949) % 1;
}

function drawSpreads(width) {
  const rows = numbered(scope().spreads);
  if (rows.length === 0) return null;
  const layout = rowLayout(rows.map(([method]) => labelOf(method)), width);
  const frame = { left: layout.left, right: width - 12, top: ROWS_TOP, bottom: layout.bottom };
  const gaps = rows.flatMap(([, [, least, , median, , most]]) => [least, median, most]);
  const scale = gapScale(gaps, state.isLog, frame.left + 4, frame.right);
  const hits = [];
  const single = new Map(rows.map(([method]) => [method, []]));
  data.points.forEach(([method, group, instance, wall, gap], i) => {
    if (!single.has(method) || !isInScope(group)) return;
    const y = layout.y(rows.findIndex(([other]) => other === method)) + (scattered(i) - 0.5) * 15;
    hits.push({ x: scale.at(gap), y, method, instance, text: `${labelOf(method)}\n${data.names[instance]}\n${DISTANCE} ${percent(gap)} in ${seconds(wall)}` });
    single.get(method).push(svg("circle", { class: "dot", cx: scale.at(gap).toFixed(1), cy: y.toFixed(1), r: 2.2 }));
  });
  const drawn = rows.map(([method, [count, least, lower, median, upper, most, mean]], i) => {
    const y = layout.y(i);
    hits.push({ x: scale.at(mean), y, method, text: `${labelOf(method)}\nmean ${percent(mean)}, median ${percent(median)}\nhalf of the gaps from ${percent(lower)} to ${percent(upper)}\nall from ${percent(least)} to ${percent(most)}; ${plural(count, "run")}` });
    return groupOf(
      method,
      ...single.get(method),
      svg("line", { class: "span", x1: scale.at(least), x2: scale.at(most), y1: y, y2: y }),
      svg("rect", { class: "body", x: scale.at(lower), y: y - 9, width: Math.max(1, scale.at(upper) - scale.at(lower)), height: 18 }),
      svg("line", { class: "bound", x1: scale.at(median), x2: scale.at(median), y1: y - 9, y2: y + 9 }),
      markAt(method, scale.at(mean), y, "mean"),
    );
  });
  const label = rows.map(([method, [, , , median, , most]]) => `${labelOf(method)}: median ${percent(median)}, worst ${percent(most)}`).join("; ");
  return { height: frame.bottom + 38, frame, hits, label, children: [...xAxis(frame, scale, DISTANCE), ...rows.map((_, i) => layout.label(i)), ...drawn] };
}

function drawPairs(width) {
  const rows = data.pairs.filter(([group, method]) => isOn(method) && (scope().group === null || data.groups[scope().group] === group));
  if (rows.length === 0) return null;
  const several = new Set(data.pairs.map(([group]) => group)).size > 1;
  const layout = rowLayout(rows.map(([group, method]) => (several ? `${labelOf(method)}, ${group}` : labelOf(method))), width);
  const frame = { left: layout.left, right: width - 12, top: ROWS_TOP, bottom: layout.bottom };
  const ends = rows.flatMap(([, , ours, oursStd, paper, paperStd]) => [ours - (oursStd ?? 0), ours + (oursStd ?? 0), paper - (paperStd ?? 0), paper + (paperStd ?? 0)]);
  const scale = linearScale(Math.min(1, ...ends), Math.max(...ends) + 0.01, frame.left + 6, frame.right, (value) => value.toFixed(2));
  const hits = [];
  const drawn = rows.map(([, method, ours, oursStd, paper, paperStd], i) => {
    const y = layout.y(i);
    const shown = (mean, std) => mean.toFixed(3) + (std === null ? "" : ` ± ${std.toFixed(3)}`);
    const text = `${labelOf(method)}\nours ${shown(ours, oursStd)}\npaper ${shown(paper, paperStd)}`;
    hits.push({ x: scale.at(ours), y: y - 4, method, text }, { x: scale.at(paper), y: y + 5, method, text });
    const span = (mean, std, at) => svg("line", { class: "span", x1: scale.at(mean - (std ?? 0)), x2: scale.at(mean + (std ?? 0)), y1: at, y2: at });
    return groupOf(method, span(ours, oursStd, y - 5), markAt(method, scale.at(ours), y - 5, "mean"), span(paper, paperStd, y + 6), markAt(method, scale.at(paper), y + 6, "hollow"));
  });
  const label = rows.map(([, method, ours, , paper]) => `${labelOf(method)}: ours ${ours.toFixed(3)}, the paper's ${paper.toFixed(2)}`).join("; ");
  return { height: frame.bottom + 38, frame, hits, label, children: [...xAxis(frame, scale, "cost / optimum"), ...rows.map((_, i) => layout.label(i)), ...drawn] };
}
