/** What all figures share: which instances and methods are shown, on which axis of gaps, and how they are redrawn. */

const state = { scope: 0, isLog: data.wide, off: new Set(data.fruitless) };
const charts = [];

const scope = () => data.scopes[state.scope];
const isOn = (method) => !state.off.has(Number(method));
const isInScope = (group) => scope().group === null || scope().group === group;
const numbered = (byMethod) => Object.entries(byMethod).map(([method, value]) => [Number(method), value]).filter(([method]) => isOn(method));

/**
 * A figure. `draw(width)` returns { height, children, hits, label, at } or null for nothing to show:
 * hits are points { x, y, text, instance } that tell about themselves, `at(x)` instead tells about a place.
 * isWalked: whether the arrow keys go from hit to hit. heading: its level, as the title of the figure.
 */
function addChart(title, note, draw, { isBroad = false, isWalked = false, heading = "h3", box = document.getElementById("charts") } = {}) {
  const picture = svg("svg", { class: "chart", role: "img" });
  const figure = el("figure", { class: isBroad ? "broad" : null }, el("figcaption", {}, el(heading, {}, title), el("p", {}, note)), picture);
  const chart = { figure, picture, draw, title, drawn: null };
  picture.addEventListener("pointermove", (event) => point(chart, event));
  picture.addEventListener("pointerdown", (event) => point(chart, event));
  picture.addEventListener("pointerleave", () => point(chart, null));
  picture.addEventListener("click", (event) => {
    const hit = nearest(chart, event);
    if (hit && hit.instance !== undefined) openInstance(hit.instance);
  });
  if (isWalked) makeWalkable(chart);
  box.append(figure);
  charts.push(chart);
  return chart;
}

/** Arrow keys to the left and right go from hit to hit, up and down to the nearest hit of another method. */
function makeWalkable(chart) {
  const { picture } = chart;
  let place = -1;
  const tell = (hit) => {
    const box = picture.getBoundingClientRect();
    light(hit.method);
    showTip(hit.text, box.left + hit.x, box.top + hit.y);
    say(hit.text);
  };
  picture.setAttribute("tabindex", "0");
  picture.addEventListener("keydown", (event) => {
    // Where several points tell the same, one of them does.
    const hits = [...new Map((chart.drawn?.hits ?? []).map((hit) => [hit.text, hit])).values()];
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined || hits.length === 0) return;
    event.preventDefault();
    const from = hits[place];
    if (from === undefined) place = 0;
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") place = (place + step + hits.length) % hits.length;
    else {
      const methods = [...new Set(hits.map(({ method }) => method))];
      const next = methods[(methods.indexOf(from.method) + step + methods.length) % methods.length];
      const own = hits.filter(({ method }) => method === next);
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
  chart.drawn = chart.draw(width);
  if (chart.drawn === null) {
    chart.picture.replaceChildren(svg("text", { x: 0, y: 24 }, "Nothing to show for this choice."));
    chart.picture.setAttribute("viewBox", `0 0 ${width} 40`);
    chart.picture.setAttribute("height", 40);
    return;
  }
  const { height, children, label } = chart.drawn;
  chart.cursor = svg("line", { class: "cursor", visibility: "hidden" });
  chart.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  chart.picture.setAttribute("height", height);
  chart.picture.setAttribute("aria-label", `${chart.title}. ${label}`);
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
  const told = event && (chart.drawn.at ? chart.drawn.at(place(chart, event)[0]) : nearest(chart, event));
  chart.picture.style.cursor = told && told.instance !== undefined ? "pointer" : "";
  light(told && told.method !== undefined ? told.method : null);
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

/** Let one method stand out in all figures; null for none. */
function light(method) {
  for (const box of document.querySelectorAll(".charts")) {
    if (box.dataset.lit === String(method)) continue;
    box.dataset.lit = method;
    const own = method === null ? [] : box.querySelectorAll(`[data-m="${method}"]`);
    box.classList.toggle("dimmed", own.length > 0);
    box.querySelectorAll(".lit").forEach((node) => node.classList.remove("lit"));
    own.forEach((node) => node.classList.add("lit"));
  }
}

const colourOf = (method) => `m${data.methods[method][1]}`;
const dashOf = (method) => data.dashes[data.methods[method][3]];

/** The mark of a method at a place. */
function markAt(method, x, y, kind, scale = 1) {
  const outline = data.shapes[data.methods[method][2]];
  return svg("path", { class: `${kind} ${colourOf(method)}`, d: outline, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale})` });
}

/** Methods' parts are groups that can stand out. */
function groupOf(method, ...children) {
  return svg("g", { "data-m": method, class: colourOf(method) }, ...children);
}
