/** The list of instances, and what each method made of the one that is chosen. */

const LISTED = ["instance", "worst gap", "instances", "best bound", "best objective", "runs", "failed"];
const [METHOD, REPETITION, STATUS, OBJECTIVE, BOUND, GAP, WALL, MEMORY, REASON, PICTURE, MEASURES] = Array(11).keys();
const statusOf = (run) => data.statuses[run[STATUS]];
const detail = el("div", { class: "detail", hidden: true, tabindex: "-1" });
const rowsByInstance = [];

function cell(text, value, isNumber = true) {
  return el("td", { class: isNumber ? "number" : null, "data-value": value }, text);
}

function headed(titles, words) {
  return el("thead", {}, el("tr", {}, ...titles.map((title) =>
    el("th", { scope: "col", "aria-sort": "none", class: words.includes(title) ? null : "number" }, el("button", { type: "button" }, title)))));
}

function chooser(name, title, all, options) {
  return el("label", {}, `${title} `, el("select", { "data-filter": name }, el("option", { value: "" }, all), ...options.map((option) => el("option", {}, option))));
}

function instanceRow(instance, number) {
  const open = el("button", { type: "button", class: "open", "aria-expanded": "false", on: { click: () => showInstance(number) } }, instance.name);
  const statuses = new Set(instance.runs.map(statusOf));
  const row = el("tr", {
    "data-group": instance.group,
    "data-method": [...new Set(instance.runs.map((run) => labelOf(run[METHOD])))].join("\n"),
    "data-status": [...statuses].map((status) => status.replace("_", " ")).join("\n"),
  },
    el("th", { scope: "row", "data-value": instance.name }, open),
    cell(percent(instance.worst), instance.worst),
    cell(instance.group || NOTHING, instance.group || null, false),
    cell(amount(instance.bound), instance.bound),
    cell(`${amount(instance.objective)}${instance.proven ? " ✓" : ""}`, instance.objective),
    cell(amount(instance.runs.length), instance.runs.length),
    cell(amount(instance.failed), instance.failed));
  rowsByInstance.push({ row, open });
  return row;
}

function runRow(run, pick) {
  const status = statusOf(run);
  return el("tr", {},
    el("th", { scope: "row", "data-value": labelOf(run[METHOD]) }, methodName(run[METHOD])),
    cell(percent(run[GAP]), run[GAP]),
    el("td", {}, el("span", { class: `status s-${status}` }, status.replace("_", " ")), run[REPETITION] === null ? null : ` · repetition ${run[REPETITION]}`),
    cell(amount(run[OBJECTIVE]), run[OBJECTIVE]),
    cell(amount(run[BOUND]), run[BOUND]),
    cell(seconds(run[WALL]), run[WALL]),
    cell(run[MEMORY] === null ? NOTHING : `${amount(run[MEMORY], 0)} MiB`, run[MEMORY]),
    el("td", {}, pick ?? NOTHING),
    el("td", { class: "wide" }, run[REASON] || NOTHING));
}

/** What the family reads off the solution, as one line, and what that is. */
function measuresOf(run) {
  if (run[MEASURES].length === 0) return null;
  const line = run[MEASURES].map(([name, value]) => `${name.replaceAll("_", " ")} ${amount(value)}`).join(" · ");
  const names = new Map();
  for (const [name] of run[MEASURES]) {
    const note = data.measures[name];
    if (note) names.set(note, [...(names.get(note) ?? []), name.replaceAll("_", " ")]);
  }
  return el("div", {},
    el("p", { class: "note" }, line),
    names.size === 0 ? null : el("details", { class: "note" }, el("summary", {}, "What these measures are"),
      el("dl", { class: "meanings" }, ...[...names].map(([note, own]) => el("div", {}, el("dt", {}, own.join(", ")), el("dd", {}, note))))));
}

/** Who made a solution, and what it is worth. */
function solutionHead(run, unit, words) {
  return el("div", { class: "picture-head" }, el("h4", {}, words), methodName(run[METHOD]), el("span", { class: "quiet-text" }, `${amount(run[OBJECTIVE])} ${unit}${run[GAP] === null ? "" : `, gap ${percent(run[GAP])}`}`));
}

const runName = (run) => `${labelOf(run[METHOD])}${run[REPETITION] === null ? "" : `, repetition ${run[REPETITION]}`}`;

/** The best of runs by objective, or the worst. */
function extreme(runs, sign) {
  return runs.reduce((best, run) => (sign * run[OBJECTIVE] < sign * best[OBJECTIVE] ? run : best));
}

/** A choice of the schedule that stands beside a run's: the best one, or the worst beside the best itself. */
function besideChoice(run, timed, redraw) {
  const others = timed.filter((other) => other !== run);
  if (others.length === 0) return { other: () => null, field: null };
  const best = extreme(timed, 1);
  const first = best === run ? extreme(others, -1) : best;
  const field = el("select", { on: { change: redraw } }, el("option", { value: -1 }, "no other"),
    ...others.map((other, i) => el("option", { value: i, selected: other === first }, `${runName(other)}, ${amount(other[OBJECTIVE])}`)));
  return { other: () => others[field.value] ?? null, field: el("label", { class: "beside" }, "Beside it ", field) };
}

/** Schedules by time: a run's, and below it another's, to see where they part. */
function timetablesOf(run, timed, unit) {
  const box = el("div", {});
  const redraw = () => {
    const shown = [run, other()].filter((each) => each !== null).map((each, i) => ({
      head: i === 0 ? null : solutionHead(each, unit, "Beside it: "),
      table: unpacked(each[PICTURE]).table,
      title: `Schedule of ${runName(each)}`,
    }));
    box.replaceChildren(drawTimetables(shown));
  };
  const { other, field } = besideChoice(run, timed, redraw);
  redraw();
  return [el("h4", {}, "What happens when"), field, box];
}

/** Pictures are chosen by pressing their run's button; the best solution's is shown first. */
function picturesOf(instance) {
  const box = el("div", { class: "picture" });
  const picks = new Map();
  const drawn = instance.runs.filter((run) => run[PICTURE] !== null);
  const timed = drawn.filter((run) => unpacked(run[PICTURE]).table);
  const show = (run) => {
    for (const [other, button] of picks) button.setAttribute("aria-pressed", String(other === run));
    const parts = [
      solutionHead(run, instance.unit, "Solution of "),
      measuresOf(run),
      ...(timed.includes(run) ? timetablesOf(run, timed, instance.unit) : []),
      ...drawPicture(unpacked(run[PICTURE])),
    ];
    box.replaceChildren(...parts.filter((part) => part !== null));
    if (box.isConnected) box.querySelectorAll("select").forEach(fitOptions);
  };
  for (const run of drawn) picks.set(run, el("button", { type: "button", class: "open", "aria-pressed": "false", "aria-label": `Show the solution of ${runName(run)}`, on: { click: () => show(run) } }, "show"));
  if (drawn.length > 0) show(extreme(drawn, 1));
  else box.append(el("p", { class: "note" }, "There is no picture of a solution of this instance."));
  return { box, picks };
}

function showInstance(number) {
  const instance = data.instances[number];
  const { box, picks } = picturesOf(instance);
  const titles = ["method", "gap", "status", `objective (${instance.unit})`, "own bound", "time", "memory", "picture", "reason"];
  const table = el("table", {}, headed(titles, ["method", "status", "picture", "reason"]), el("tbody", {}, ...instance.runs.map((run) => runRow(run, picks.get(run)))));
  makeSortable(table);
  const words = instance.proven ? "the best solution is proven optimal" : "not proven optimal";
  detail.replaceChildren(
    el("h3", {}, instance.name),
    el("p", { class: "note" }, `${instance.group ? `${instance.group}; ` : ""}${instance.source}; digest ${instance.digest}. Best proven bound ${amount(instance.bound)}, best verified solution ${amount(instance.objective)} ${instance.unit}; ${words}.`),
    el("div", { class: "box", tabindex: "0", role: "region", "aria-label": `Runs on ${instance.name}` }, table),
    ...curvesOf(number),
    box);
  detail.hidden = false;
  forgetCharts();
  charts.filter(({ figure }) => detail.contains(figure)).forEach(redraw);
  rowsByInstance.forEach(({ row, open }, i) => {
    row.classList.toggle("chosen", i === number);
    open.setAttribute("aria-expanded", String(i === number));
  });
}

/** Open the instance of a point; `name` is its number among the names of points. */
function openInstance(name) {
  const number = data.instances.findIndex((instance) => instance.name === data.names[name]);
  if (number < 0) {
    say("this instance is not among those that can be opened");
    return;
  }
  showInstance(number);
  detail.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  detail.focus({ preventScroll: true });
}

{
  const table = el("table", { id: "instance-table" }, headed(LISTED, ["instance", "instances"]), el("tbody", {}, ...data.instances.map(instanceRow)));
  const groups = [...new Set(data.instances.map((instance) => instance.group).filter(Boolean))];
  const methods = [...new Set(data.instances.flatMap((instance) => instance.runs.map((run) => labelOf(run[METHOD]))))];
  const form = el("form", { class: "filters" },
    el("label", {}, "Find ", el("input", { type: "search", "data-filter": "text", placeholder: "name of an instance", autocomplete: "off" })),
    groups.length > 1 ? chooser("group", "Instances", "all", groups) : null,
    methods.length > 1 ? chooser("method", "Method", "all", methods) : null,
    data.statuses.length > 1 ? chooser("status", "Status of a run", "any", data.statuses.map((status) => status.replace("_", " "))) : null,
    el("button", { type: "reset", class: "quiet" }, "Clear"),
    el("output", {}));
  document.getElementById("instance-list").append(form, el("div", { class: "box list", tabindex: "0", role: "region", "aria-label": "List of instances" }, table), detail);
  makeSortable(table);
  makeFilter(form, table);
  if (data.instances.length > 0) showInstance(0);
  watch(detail);
}
