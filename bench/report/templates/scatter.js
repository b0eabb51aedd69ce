/** Time against gap: every run a point, and the median of each method as its mark. */

function middle(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

function drawScatter(width) {
  const own = data.points.filter(([method, group]) => isOn(method) && isInScope(group));
  if (own.length === 0) return null;
  const frame = { left: 52, right: width - 14, top: 24, bottom: 380 };
  const times = own.map(([, , , wall]) => Math.max(wall, 1e-6));
  const x = logScale(Math.min(...times) / 1.4, Math.max(...times) * 1.4, frame.left, frame.right, seconds);
  const y = gapScale(own.map(([, , , , gap]) => gap), state.isLog, frame.bottom, frame.top);
  const hits = [];
  const groups = new Map();
  for (const [method, , instance, wall, gap] of own) {
    if (!groups.has(method)) groups.set(method, { dots: [], walls: [], gaps: [] });
    const group = groups.get(method);
    const [px, py] = [x.at(wall), y.at(gap)];
    group.dots.push(svg("circle", { class: "dot", cx: px.toFixed(1), cy: py.toFixed(1), r: 2.4 }));
    group.walls.push(wall);
    group.gaps.push(gap);
    hits.push({ x: px, y: py, method, instance, text: `${labelOf(method)}\n${data.names[instance]}\n${DISTANCE} ${percent(gap)} in ${seconds(wall)}` });
  }
  const clouds = [];
  const marks = [];
  const said = [];
  for (const [method, { dots, walls, gaps }] of groups) {
    const [wall, gap] = [middle(walls), middle(gaps)];
    hits.push({ x: x.at(wall), y: y.at(gap), method, text: `${labelOf(method)}\nmedian ${DISTANCE} ${percent(gap)}, median time ${seconds(wall)}\n${plural(walls.length, "run")}` });
    clouds.push(groupOf(method, ...dots));
    marks.push(groupOf(method, markAt(method, x.at(wall), y.at(gap), "mean", 1.5)));
    said.push(`${labelOf(method)}: ${percent(gap)} in ${seconds(wall)}`);
  }
  return { height: 420, frame, hits, label: said.join("; "), children: [...xAxis(frame, x, "time of a run"), ...yAxis(frame, y, DISTANCE), ...clouds, ...marks] };
}
