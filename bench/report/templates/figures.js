/** The figures of this page, the one legend that most of them share, and the legends of sweeps. */

// Up to so many methods, each can be pressed by itself with ease.
const FEW_METHODS = 6;

function segments(title, options, chosen, choose) {
  const buttons = options.map(([name, value]) =>
    el("button", { type: "button", "aria-pressed": String(value === chosen) , on: { click: () => {
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(options[i][1] === value)));
      choose(value);
    } } }, name));
  return el("span", { class: "segments", role: "group", "aria-label": title }, ...buttons);
}

/** Show these methods in all figures, and in all legends that they are shown. */
function showOnly(isShown) {
  state.off = new Set([...data.methods.keys()].filter((method) => !isShown(method)));
  for (const button of document.querySelectorAll("button[data-method]")) {
    button.setAttribute("aria-pressed", String(isOn(button.dataset.method)));
  }
  light(null);
  redrawAll();
}

function allOrNone() {
  return [["All methods", true], ["None", false]].map(([name, isShown]) =>
    el("button", { type: "button", class: "quiet", on: { click: () => showOnly(() => isShown) } }, name));
}

/** A button of a legend. method: whose mark and dash it shows. isShown: whether that is on, so that it can stand out. */
function keyButton(key, method, classes, words, isShown, press, attributes = {}) {
  const button = el("button", { type: "button", "aria-pressed": String(isShown()), class: colourOf(method), ...attributes },
    svg("svg", { viewBox: "-15 -6 30 12", "aria-hidden": "true", class: "chart-key" }, ...classes.map(([kind, dash]) => (kind === "filled" || kind === "empty"
      ? svg("path", { class: kind, d: outlineOf(method) })
      : svg("line", { class: kind, x1: -15, x2: 15, y1: 0, y2: 0, "stroke-dasharray": dash })))),
    words);
  button.addEventListener("click", () => press(button));
  for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => { if (key !== null && isShown()) light(key); });
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => light(null));
  return el("li", {}, button);
}

function legendKey(method) {
  return keyButton(method, method, [["whole", data.dashes[data.marks[method][2]] || null], ["filled"]], methodWords(labelOf(method)), () => isOn(method),
    () => showOnly((other) => isOn(other) !== (other === method)), { "data-method": method });
}

/** The legend of a figure whose marks are its own: its lines, and what of them is not measured. */
function ownLegend(chart) {
  const turn = (what) => (button) => {
    chart.off[chart.off.has(what) ? "delete" : "add"](what);
    button.setAttribute("aria-pressed", String(!chart.off.has(what)));
    light(null);
    hideTip();
    redraw(chart);
  };
  const first = new Map([...chart.series].reverse().map((series) => [series.method, series]));
  const keys = [...new Set(chart.series.map(({ method }) => method))].map((method) => {
    const { name, key, role } = first.get(method);
    return keyButton(key, method, role === "model" ? [["model"]] : [["whole"], ["filled"]], methodWords(name), () => !chart.off.has(method), turn(method));
  });
  for (const [role, words, kind] of [["model", "model", "model"], ["paper", "the paper", "empty"]]) {
    if (chart.series.some((series) => series.role === role)) keys.push(keyButton(null, 0, [[kind]], words, () => !chart.off.has(role), turn(role), { class: "kind" }));
  }
  return el("div", { class: "keys" }, el("ul", { "aria-label": "Lines; press to show or hide" }, ...keys));
}

function buildLegend(box) {
  const controls = el("div", { class: "controls" });
  if (data.scopes.length > 1) {
    const choice = el("select", { on: { change: () => { state.scope = Number(choice.value); redrawAll(); } } },
      ...data.scopes.map(({ name }, i) => el("option", { value: i }, name)));
    controls.append(el("label", {}, "Show ", choice));
  }
  controls.append(
    el("span", {}, "Gap axis"),
    segments("Gap axis", [["log", true], ["linear", false]], state.isLog, (isLog) => { state.isLog = isLog; redrawAll(); }),
  );
  if (data.methods.length > 2) controls.append(...allOrNone());
  box.append(controls, el("ul", { "aria-label": "Methods; press to show or hide" }, ...data.methods.map((_, method) => legendKey(method))));
}

/** The charts of an instance's solutions with their legend, or nothing; they are drawn when they are on the page. */
function curvesOf(number) {
  const figures = data.curves[number] ?? [];
  if (figures.length === 0) return [];
  const box = el("div", { class: "charts" });
  for (const figure of figures) addChart(figure, box, "h5");
  const methods = [...new Set(figures.flatMap(({ series }) => series.map(({ method }) => method)))].sort((a, b) => a - b);
  const legend = el("div", { class: "keys" },
    methods.length > FEW_METHODS ? el("div", { class: "controls" }, ...allOrNone()) : null,
    el("ul", { "aria-label": "Methods; press to show or hide" }, ...methods.map(legendKey)));
  return [el("div", { class: "curves" }, el("h4", {}, "All solutions over each other"), legend, box)];
}

{
  const box = document.getElementById("sweep-charts");
  for (const sweep of data.sweeps) {
    const chart = addChart(sweep, box);
    chart.picture.before(ownLegend(chart));
  }
  if (box) watch(box);
}
{
  const box = document.getElementById("charts");
  for (const figure of data.figures) addChart(figure, box);
  if (data.figures.length > 0) buildLegend(document.getElementById("legend"));
  else box.append(el("p", { class: "note" }, "No run has anything to draw."));
  watch(box);
  redrawAll();
}
