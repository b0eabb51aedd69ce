/** The figures of this page and the one legend that they share. */

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

function legendButton(method) {
  const button = el(
    "button",
    { type: "button", "aria-pressed": String(isOn(method)), "data-method": method, class: colourOf(method) },
    svg("svg", { viewBox: "-15 -6 30 12", "aria-hidden": "true", class: "chart-key" },
      svg("line", { x1: -15, x2: 15, y1: 0, y2: 0, "stroke-dasharray": dashOf(method), style: { stroke: "var(--m)", "stroke-width": "1.8" } }),
      svg("path", { d: data.shapes[data.methods[method][2]], style: { fill: "var(--m)" } })),
    methodWords(labelOf(method)),
  );
  button.addEventListener("click", () => showOnly((other) => isOn(other) !== (other === method)));
  for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => { if (isOn(method)) light(method); });
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => light(null));
  return button;
}

function buildLegend(box) {
  const buttons = data.methods.map((_, method) => legendButton(method));
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
  box.append(controls, el("ul", { "aria-label": "Methods; press to show or hide" }, ...buttons.map((button) => el("li", {}, button))));
}

function addSpreads() {
  if (Object.keys(data.scopes[0].spreads).length === 0) return;
  addChart(data.bounds ? "Gaps" : "Distance to the best known solution", (data.bounds ? "" : "Nobody proved a bound, so these are no gaps: the best known solution itself may be far from optimal. ") + "A point for each run, a box around the middle half with a bar at the median, the method's mark at the mean. Further left is better.", drawSpreads, { isBroad: true });
}

if (data.scopes.length > 0) {
  if (data.pairs.length > 0) addChart("The paper and ours", "Filled: measured here. Hollow: the paper's. Lines: standard deviations.", drawPairs, { isBroad: true });
  if (data.growth.length > 0) addChart("Time by size", `Median time of a run. Hollow: the paper's, on its machine.${data.groups.length > 1 ? " Each group of instances has dashes of its own." : ""}`, drawGrowth, { isBroad: true });
  if (data.bounds) addSpreads();
  addChart("Profile of times", "Share of runs solved in at most so many times the fastest method's time. Higher is better; the left end says who is fastest, the right end who solves most.", drawTimeProfile);
  if (data.bounds) addChart("Profile of gaps", "Share of runs with at most this gap. Higher is better; the left end is proven optimal.", drawGapProfile);
  if (Object.keys(data.scopes[0].anytime).length > 0) {
    addChart("Gap over time", "Mean gap of the solution known after so much time, 100% before the first. Points on the way are the methods' own word, held against the verified end.", drawAnytime);
  }
  if (data.points.length > 0) addChart(`Time against ${data.bounds ? "gap" : "distance"}`, "A point for each run, a mark at the method's medians. Lower and further left is better; a point opens its instance.", drawScatter);
  // Distances that are no gaps say the least.
  if (!data.bounds) addSpreads();
  buildLegend(document.getElementById("legend"));
  watch(document.getElementById("charts"));
  redrawAll();
} else {
  document.getElementById("charts").append(el("p", { class: "note" }, "No run has anything to draw."));
}
