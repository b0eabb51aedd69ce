/** What all figures share: which instances and methods are shown, on which axis of gaps, and how they are redrawn. */

const state = { scope: 0, isLog: data.wide, off: new Set(data.fruitless) };
const charts = [];

const isOn = (method) => !state.off.has(Number(method));

/** A series without a choice of instances, or a group of them, is always shown. */
function isShown(series, chart) {
  const { group } = data.scopes[state.scope] ?? { group: null };
  if (series.scope !== undefined && series.scope !== state.scope) return false;
  if (series.group !== undefined && group !== null && series.group !== group) return false;
  if (chart.spec.has_own_legend) return !chart.off.has(series.method) && !chart.off.has(series.role);
  return isOn(series.method);
}

/** Put a figure on the page. spec: as it came with the page. heading: level of its title. */
function addChart(spec, box, heading = "h3") {
  const picture = svg("svg", { class: "chart", role: "img", tabindex: "0" });
  const many = el("p", { hidden: true });
  const figure = el("figure", { class: spec.is_broad ? "broad" : null }, el("figcaption", {}, el(heading, {}, spec.title), el("p", {}, spec.note), many), picture);
  const chart = { figure, picture, many, spec, series: spec.series.map((series) => unpackedSeries(series, spec)), off: new Set(), drawn: null };
  picture.addEventListener("pointermove", (event) => point(chart, event));
  picture.addEventListener("pointerdown", (event) => point(chart, event));
  picture.addEventListener("pointerleave", () => point(chart, null));
  picture.addEventListener("click", (event) => {
    const hit = nearest(chart, event);
    if (hit && hit.instance !== undefined) openInstance(hit.instance);
  });
  makeWalkable(chart);
  box.append(figure);
  charts.push(chart);
  return chart;
}

/** Arrow keys to the left and right go from hit to hit, up and down to the nearest hit of another method; enter opens. */
function makeWalkable(chart) {
  const { picture } = chart;
  let place = -1;
  const tell = (hit) => {
    const box = picture.getBoundingClientRect();
    light(hit.key);
    showTip(hit.text, box.left + hit.x, box.top + hit.y);
    say(hit.text);
  };
  picture.addEventListener("keydown", (event) => {
    // Where several points tell the same, one of them does.
    const hits = [...new Map((chart.drawn?.hits ?? []).map((hit) => [hit.text, hit])).values()];
    if (event.key === "Enter" && hits[place]?.instance !== undefined) openInstance(hits[place].instance);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined || hits.length === 0) return;
    event.preventDefault();
    const from = hits[place];
    if (from === undefined) place = 0;
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") place = (place + step + hits.length) % hits.length;
    else {
      const keys = [...new Set(hits.map(({ key }) => key))];
      const next = keys[(keys.indexOf(from.key) + step + keys.length) % keys.length];
      const own = hits.filter(({ key }) => key === next);
      place = hits.indexOf(own.reduce((best, hit) => (Math.abs(hit.x - from.x) < Math.abs(best.x - from.x) ? hit : best)));
    }
    tell(hits[place]);
  });
  picture.addEventListener("blur", () => {
    light(null);
    hideTip();
  });
}

/** Forget the charts that are no longer on the page. */
function forgetCharts() {
  const kept = charts.filter(({ figure }) => figure.isConnected);
  charts.splice(0, charts.length, ...kept);
}

/** Redraw the charts when the width of their box changes. */
function watch(box) {
  new ResizeObserver(() => {
    charts.forEach((chart) => {
      if (Math.floor(chart.figure.getBoundingClientRect().width) !== chart.width) redraw(chart);
    });
  }).observe(box);
}

function redraw(chart) {
  const width = Math.floor(chart.figure.getBoundingClientRect().width);
  if (width === 0) return;
  chart.width = width;
  chart.drawn = drawFigure(chart.spec, chart.series.filter((series) => isShown(series, chart)), width);
  if (chart.drawn === null) {
    chart.picture.replaceChildren(svg("text", { x: 0, y: 24 }, "Nothing to show for this choice."));
    chart.picture.setAttribute("viewBox", `0 0 ${width} 40`);
    chart.picture.setAttribute("height", 40);
    return;
  }
  const { height, children, label, lines } = chart.drawn;
  const isMany = lines > MOST_LINES;
  chart.picture.classList.toggle("many", isMany);
  chart.many.hidden = !isMany;
  chart.many.textContent = `${amount(lines)} lines: the ${MOST_LED} that are ${chart.spec.is_lower_better ? "lowest" : "highest"} on the whole have colours; point at another line, or at its name, to see it.`;
  chart.cursor = svg("line", { class: "cursor", visibility: "hidden" });
  chart.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  chart.picture.setAttribute("height", height);
  chart.picture.setAttribute("aria-label", `${chart.spec.title}. ${label}`);
  chart.picture.replaceChildren(...children, chart.cursor);
}

function redrawAll() {
  hideTip();
  charts.forEach(redraw);
}

function place(chart, event) {
  const box = chart.picture.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function nearest(chart, event) {
  const [x, y] = place(chart, event);
  let best = null;
  let least = 14 * 14;
  for (const hit of chart.drawn?.hits ?? []) {
    const distance = (hit.x - x) ** 2 + (hit.y - y) ** 2;
    if (distance < least) [best, least] = [hit, distance];
  }
  return best;
}

function point(chart, event) {
  if (chart.drawn === null) return;
  const told = event && (chart.drawn.at ? chart.drawn.at(...place(chart, event)) : nearest(chart, event));
  chart.picture.style.cursor = told && told.instance !== undefined ? "pointer" : "";
  light(told?.key ?? null);
  chart.cursor?.setAttribute("visibility", told && told.cursor !== undefined ? "visible" : "hidden");
  if (!told) {
    hideTip();
    return;
  }
  if (told.cursor !== undefined) {
    const { top, bottom } = chart.drawn.frame;
    for (const [key, value] of Object.entries({ x1: told.cursor, x2: told.cursor, y1: top, y2: bottom })) chart.cursor.setAttribute(key, value);
  }
  showTip(told.text, event.clientX, event.clientY);
}

/** Let what has one mark stand out in all figures; null for nothing. */
function light(key) {
  for (const box of document.querySelectorAll(".charts")) {
    if (box.dataset.lit === String(key)) continue;
    box.dataset.lit = key;
    const own = key === null ? [] : box.querySelectorAll(`[data-m="${key}"]`);
    box.classList.toggle("dimmed", own.length > 0);
    box.querySelectorAll(".lit").forEach((node) => node.classList.remove("lit"));
    own.forEach((node) => {
      node.classList.add("lit");
      // Above the others, which would hide it where there are many.
      if (node.closest(".many")) node.parentNode.insertBefore(node, node.parentNode.querySelector(".cursor"));
    });
  }
}
