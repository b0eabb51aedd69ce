/**
 * Schedules by time: machines as rows, what happens on them as marks. All timetables of a box show the same stretch of
 * time; buttons, the keyboard, a drag, and the wheel with Ctrl change it.
 */

// Of a mark's numbers, as in `instances/picture.py`.
const [TOP, HIGH, BEGIN, LENGTH, LOOK, LABEL] = Array(6).keys();
const TICKS = 100_000;
const PARTS = 120;
const ROW_GAP = 3;
const AXIS_HEIGHT = 34;
// Marks with more pixels than these carry their label, where it fits; a row with more lanes than one is higher.
const TEXT_HEIGHT = 11;
const [LOW_ROW, HIGH_ROW, LANE] = [18, 72, 8];
// Jobs have colours of their own where there are few, else shades; waits and moves keep theirs.
const JOB_COLOURS = [0, 2, 4, 5, 6, 7];
const SHADES = [100, 78, 89];
const LOOKS = ["runs", "other", "waits", "moves", "lost", "idle", "away"];
const MOST_ZOOM = 400;
const SECONDS_OF = { seconds: 1, minutes: 60, hours: 3600, days: 86400 };

function unpackedTable([unit, begin, end, looks, labels, rows, note]) {
  const { words } = data.packed;
  const tick = (end - begin) / TICKS;
  return {
    unit, begin, end, note,
    looks: looks.map((word) => words[word]),
    rows: rows.map(([name, peak, ...numbers]) => {
      const marks = [];
      for (let i = 0; i < numbers.length; i += 6) {
        const since = begin + tick * numbers[i + BEGIN];
        marks.push({
          top: numbers[i + TOP] / PARTS, high: numbers[i + HIGH] / PARTS, since, until: since + tick * numbers[i + LENGTH],
          look: numbers[i + LOOK], label: numbers[i + LABEL] < 0 ? "" : words[labels[numbers[i + LABEL]]],
        });
      }
      const least = Math.min(1, ...marks.map(({ high }) => high));
      return { name: words[name], peak, marks, height: peak > 0 ? 34 : Math.min(HIGH_ROW, Math.max(LOW_ROW, LANE / least)) };
    }),
  };
}

/** The colour of each job that runs, of all timetables together; a legend only where each has its own. */
function jobColours(tables) {
  const jobs = [...new Set(tables.flatMap(({ rows }) => rows.flatMap(({ marks }) => marks.filter(({ look, label }) => look === 0 && label).map(({ label }) => label))))].sort(COLLATOR.compare);
  const isFew = jobs.length <= JOB_COLOURS.length && jobs.length > 1;
  const colour = (i) => (isFew ? `var(--m${JOB_COLOURS[i]})` : `color-mix(in oklab, var(--m0) ${SHADES[i % SHADES.length]}%, var(--page))`);
  return { colours: new Map(jobs.map((job, i) => [job, colour(i)])), named: isFew ? jobs : [] };
}

/** What a mark tells: what it is of, when, and how many where it is a mean. */
function toldMark(table, row, mark) {
  const when = `${counted(mark.since, 6)} to ${counted(mark.until, 6)} ${table.unit}`;
  const many = row.peak > 0 ? `${counted(mark.high * row.peak, 3)} at a time, on average` : mark.label;
  return [row.name, `${table.looks[mark.look]}${many ? `: ${many}` : ""}`, when].join("\n");
}

/** A view of time that the timetables of a box share: `of` is the whole, `[from, to]` what is shown. */
function sharedView(tables) {
  const of = [Math.min(...tables.map(({ begin }) => begin)), Math.max(...tables.map(({ end }) => end))];
  const view = { of, from: of[0], to: of[1], redraw: [] };
  view.show = (from, to) => {
    const whole = of[1] - of[0];
    const length = Math.min(whole, Math.max(whole / MOST_ZOOM, to - from));
    view.from = Math.min(Math.max(of[0], from), of[1] - length);
    view.to = view.from + length;
    view.redraw.forEach((act) => act());
  };
  view.zoom = (factor, at = (view.from + view.to) / 2) => view.show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  view.pan = (share) => {
    const step = share * (view.to - view.from);
    view.show(view.from + step, view.to + step);
  };
  return view;
}

/** Let the marks of one job stand out in all timetables of a box. */
function lightJob(picture, job) {
  const box = picture.closest(".timetables");
  if (box.dataset.job === job) return;
  box.dataset.job = job;
  box.querySelectorAll("rect[data-job]").forEach((rect) => rect.classList.toggle("dim", job !== "" && rect.dataset.job !== job));
}

/** One timetable as a focusable picture. */
function timetablePicture(table, view, title, longest, colours) {
  const picture = svg("svg", { class: "chart timetable", role: "img", tabindex: "0" });
  const used = new Map();
  for (const { marks } of table.rows) for (const { look } of marks) used.set(look, (used.get(look) ?? 0) + 1);
  const said = [...used].map(([look, count]) => `${plural(count, "mark")} of "${table.looks[look]}"`).join(", ");
  picture.setAttribute("aria-label", `${title}: ${plural(table.rows.length, "row")} from ${counted(table.begin, 6)} to ${counted(table.end, 6)} ${table.unit}; ${said}. Plus and minus zoom, arrow keys move.`);
  let hits = [];
  let frame = null;
  const draw = () => {
    const width = Math.floor(picture.parentNode?.getBoundingClientRect().width ?? 0);
    if (width === 0) return;
    const letters = Math.min(width < 520 ? 11 : 22, longest);
    frame = { left: 8 + 6.4 * letters, right: width - 8 };
    const x = linearScale(view.from, view.to, frame.left, frame.right);
    const ticks = { ...x, ticks: x.ticks.filter((value) => value <= view.to).map((value) => [value, exact(value)]) };
    const parts = [];
    hits = [];
    let top = 2;
    for (const row of table.rows) {
      const name = row.name.length > letters ? `${row.name.slice(0, letters - 1)}…` : row.name;
      parts.push(svg("rect", { class: "lane", x: frame.left, y: top, width: frame.right - frame.left, height: row.height }));
      parts.push(svg("text", { class: "row", x: frame.left - 6, y: top + row.height / 2 + 4, "text-anchor": "end" }, name));
      if (row.peak > 0) parts.push(svg("text", { class: "peak", x: frame.left + 3, y: top + 10 }, counted(row.peak, 3)));
      for (const mark of row.marks) {
        if (mark.until <= view.from || mark.since >= view.to) continue;
        const [left, right] = [Math.max(frame.left, x.at(mark.since)), Math.min(frame.right, x.at(mark.until))];
        const box = { x: left, y: top + mark.top * row.height, width: Math.max(0.6, right - left), height: mark.high * row.height };
        const gap = row.peak > 0 || box.width < 3 ? 0 : 0.5;
        const style = mark.look === 0 && colours.has(mark.label) ? { "--at": colours.get(mark.label) } : {};
        parts.push(svg("rect", { class: `at ${LOOKS[mark.look]}`, "data-job": mark.label || null, ...box, width: box.width - gap, height: Math.max(0.5, box.height - gap), style }));
        if (mark.label && box.height >= TEXT_HEIGHT && box.width > 6.4 * mark.label.length + 6) {
          parts.push(svg("text", { class: `inside ${LOOKS[mark.look]}`, x: left + 4, y: box.y + box.height / 2 + 4 }, mark.label));
        }
        hits.push({ ...box, row, mark });
      }
      top += row.height + ROW_GAP;
    }
    picture.setAttribute("viewBox", `0 0 ${width} ${top + AXIS_HEIGHT}`);
    picture.setAttribute("height", top + AXIS_HEIGHT);
    picture.replaceChildren(...parts, ...xAxis({ ...frame, top: 0, bottom: top }, ticks, table.unit));
  };
  const timeAt = (event) => {
    const share = (event.clientX - picture.getBoundingClientRect().left - frame.left) / (frame.right - frame.left);
    return view.from + Math.min(1, Math.max(0, share)) * (view.to - view.from);
  };
  let held = null;
  picture.addEventListener("pointerdown", (event) => {
    if (frame === null || event.button !== 0) return;
    held = { x: event.clientX, from: view.from, to: view.to };
    picture.setPointerCapture(event.pointerId);
  });
  for (const name of ["pointerup", "pointercancel"]) picture.addEventListener(name, () => { held = null; });
  picture.addEventListener("pointermove", (event) => {
    if (held !== null && Math.abs(event.clientX - held.x) > 2) {
      const moved = ((held.x - event.clientX) / (frame.right - frame.left)) * (held.to - held.from);
      view.show(held.from + moved, held.to + moved);
      hideTip();
      return;
    }
    const box = picture.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const hit = hits.findLast((each) => px >= each.x - 1 && px <= each.x + each.width + 1 && py >= each.y && py <= each.y + each.height);
    lightJob(picture, hit?.mark.label ?? "");
    if (hit) showTip(toldMark(table, hit.row, hit.mark), event.clientX, event.clientY);
    else hideTip();
  });
  picture.addEventListener("pointerleave", () => {
    lightJob(picture, "");
    hideTip();
  });
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || frame === null) return;
    event.preventDefault();
    view.zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event));
  }, { passive: false });
  picture.addEventListener("keydown", (event) => {
    const act = { "+": () => view.zoom(0.6), "=": () => view.zoom(0.6), "-": () => view.zoom(1 / 0.6), 0: () => view.show(...view.of), ArrowLeft: () => view.pan(-0.2), ArrowRight: () => view.pan(0.2) }[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    act();
    say(`${counted(view.from, 4)} to ${counted(view.to, 4)} ${table.unit}`);
  });
  view.redraw.push(draw);
  return { picture, draw };
}

/** The same timetable in another unit of time. */
function inUnit(table, unit) {
  const factor = SECONDS_OF[table.unit] / SECONDS_OF[unit];
  if (factor === 1 || table.rows.length === 0) return table;
  const marks = (row) => row.marks.map((mark) => ({ ...mark, since: mark.since * factor, until: mark.until * factor }));
  return { ...table, unit, begin: table.begin * factor, end: table.end * factor, rows: table.rows.map((row) => ({ ...row, marks: marks(row) })) };
}

/** Timetables of runs of one instance over each other; given: [{ head, table, title }]. */
function drawTimetables(given) {
  const units = given.filter(({ table }) => table.rows.length > 0).map(({ table }) => table.unit);
  const unit = Object.keys(SECONDS_OF).findLast((each) => units.includes(each));
  const shown = given.map((each) => ({ ...each, table: inUnit(each.table, unit) }));
  const tables = shown.map(({ table }) => table).filter(({ rows }) => rows.length > 0);
  const notes = [...new Set(shown.flatMap(({ table }) => (table.note ? table.note.split("; ") : [])))];
  const note = notes.length > 0 ? el("p", { class: "note" }, `${notes.join("; ")}.`) : null;
  if (tables.length === 0) return el("div", { class: "timetables" }, note);
  const looks = new Map(tables.flatMap(({ looks: words }) => words.map((word, look) => [look, word]).filter(([, word]) => word)));
  const view = sharedView(tables);
  const { colours, named } = jobColours(tables);
  const longest = Math.max(...tables.flatMap(({ rows }) => rows.map(({ name }) => name.length)));
  const button = (text, name, act) => el("button", { type: "button", class: "quiet", "aria-label": name, on: { click: act } }, text);
  return el("div", { class: "timetables" },
    el("div", { class: "controls", role: "group", "aria-label": "Time that is shown" },
      button("+", "Zoom in", () => view.zoom(0.6)), button("−", "Zoom out", () => view.zoom(1 / 0.6)),
      button("←", "Earlier", () => view.pan(-0.4)), button("→", "Later", () => view.pan(0.4)),
      button("All", "Show all of the time", () => view.show(...view.of)),
      el("ul", { class: "parts" }, ...named.map((job) => el("li", {}, el("i", { style: { background: colours.get(job) } }), job)), ...[...looks].filter(([look]) => look > 0 || named.length === 0).sort(([a], [b]) => a - b).map(([look, word]) => el("li", {}, el("i", { class: `at ${LOOKS[look]}` }), word)))),
    note,
    ...shown.filter(({ table }) => table.rows.length > 0).map(({ head, table, title }) => {
      const box = el("div", { class: "lanes" });
      const { picture, draw } = timetablePicture(table, view, title, longest, colours);
      box.append(picture);
      new ResizeObserver(draw).observe(box);
      return el("div", { class: "schedule" }, head, box);
    }));
}
