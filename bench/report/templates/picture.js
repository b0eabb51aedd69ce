/** A picture of a solution: containers as rows, on each axis a tube of their capacity with what they hold. */

// Labels beyond these share the last, grey colour.
const MOST_COLOURED = 7;
const MOST_SEPARATE = 40;

/** The numbers of a packed picture: axes, containers left out, bars { label, kept, capacity, repeat, parts }, notes, split, timetable. */
function unpacked(number) {
  const { axes, containers, parts, pictures } = data.packed;
  const [axis, leftOut, bars, notes, split, table] = pictures[number];
  return {
    axes: axes[axis],
    leftOut,
    notes,
    split,
    table: table && unpackedTable(table),
    bars: bars.map(([container, repeat, ...pairs]) => {
      const [label, kept, ...capacity] = containers[container];
      const own = [];
      for (let i = 0; i < pairs.length; i += 2) {
        const [name, ...amounts] = parts[pairs[i]];
        own.push({ name, amounts, count: pairs[i + 1] });
      }
      return { label, kept, capacity, repeat, parts: own };
    }),
  };
}

/** Colours by label, the most frequent first; one for all, and no names, where no two rows share a label. */
function partColours(bars) {
  const total = new Map();
  const rows = new Map();
  for (const { repeat, parts } of bars) {
    for (const { name, count } of parts) total.set(name, (total.get(name) ?? 0) + repeat * count);
    for (const name of new Set(parts.map((part) => part.name))) rows.set(name, (rows.get(name) ?? 0) + 1);
  }
  if (bars.length > 1 && Math.max(...rows.values()) === 1) return { colours: new Map([...rows.keys()].map((name) => [name, 0])), names: [], total };
  const names = [...total].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  return { colours: new Map(names.map((name, i) => [name, Math.min(i, MOST_COLOURED)])), names, total };
}

function tube(bar, axis, colours) {
  const capacity = bar.capacity[axis];
  const used = bar.parts.reduce((sum, { amounts, count }) => sum + amounts[axis] * count, 0);
  const label = el("span", {}, capacity > 0 ? `${amount(used, 1)} / ${amount(capacity, 1)}` : NOTHING);
  if (!(capacity > 0)) return el("div", { class: "stack" }, el("div", { class: "tube none" }), label);
  const pieces = bar.parts.flatMap(({ name, amounts, count }) => {
    if (!(amounts[axis] > 0)) return [];
    const pieces = count <= MOST_SEPARATE ? count : 1;
    const share = (100 * amounts[axis] * count) / pieces / capacity;
    return Array.from({ length: pieces }, () => el("b", { style: { width: `${share}%`, "--p": `var(--p${colours.get(name)})` } }));
  });
  return el("div", { class: "stack" }, el("div", { class: "tube" }, ...pieces), label);
}

function described(bar, axes) {
  const uses = axes.map((axis, i) => `${axis} ${amount(bar.parts.reduce((sum, part) => sum + part.amounts[i] * part.count, 0), 2)} of ${amount(bar.capacity[i], 2)}`);
  return `${bar.repeat > 1 ? `${amount(bar.repeat)} × ` : ""}${bar.label}${bar.kept ? `\nkept: ${bar.kept}` : ""}\n${bar.parts.map(({ name, count }) => `${amount(count)} ${name}`).join(", ")}\n${uses.join("; ")}`;
}

/** Rows take the focus one at a time: one stop of the tab key, arrows within. */
function roving(rows) {
  rows.forEach((row, i) => {
    row.tabIndex = i === 0 ? 0 : -1;
    row.addEventListener("keydown", (event) => {
      const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: rows.length - 1 }[event.key];
      if (to === undefined || !rows[to]) return;
      event.preventDefault();
      row.tabIndex = -1;
      rows[to].tabIndex = 0;
      rows[to].focus();
    });
  });
}

/** What machines cost beyond what a bound's prices say that their contents are worth, the dearest loss first. */
function drawSplit([unit, bound, losses]) {
  const total = losses.reduce((sum, [, , price, worth]) => sum + price - worth, 0);
  const most = Math.max(...losses.map(([, , price, worth]) => price - worth));
  const rows = losses.map(([name, count, price, worth]) => {
    const loss = price - worth;
    return el("tr", {},
      el("th", { scope: "row" }, name),
      cell(count > 0 ? amount(count) : NOTHING, count),
      cell(amount(price), price),
      cell(amount(worth), worth),
      cell(el("span", { class: "barred" }, el("span", { class: "bar", "aria-hidden": "true" }, el("b", { style: { width: `${most > 0 ? (100 * Math.max(loss, 0)) / most : 0}%` } })), amount(loss)), loss),
      cell(total > 0 ? percent(loss / total) : NOTHING, total > 0 ? loss / total : null));
  });
  const table = el("table", {}, headed(["machines of type", "number", `price (${unit})`, "worth of contents", "loss", "share"], ["machines of type"]), el("tbody", {}, ...rows));
  makeSortable(table);
  return el("div", { class: "split" },
    el("h4", {}, "Which machines cost the gap"),
    el("p", { class: "note" }, `Prices of tasks at which no machine's contents are worth more than the machine prove a bound of ${amount(bound)} ${unit}. What machines cost beyond the worth of their contents adds up to ${amount(total)} ${unit}, the distance to that bound, which need not be the best one.`),
    el("div", { class: "box", tabindex: "0", role: "region", "aria-label": "Losses by machine type" }, table));
}

function drawPicture({ axes, leftOut, notes, bars, split }) {
  const { colours, names, total } = partColours(bars);
  const legend = names.slice(0, MOST_COLOURED).map((name, i) => el("li", {}, el("i", { style: { "--p": `var(--p${i})` } }), `${name} `, el("span", { class: "quiet-text" }, amount(total.get(name)))));
  if (names.length > MOST_COLOURED) {
    legend.push(el("li", {}, el("i", { style: { "--p": `var(--p${MOST_COLOURED})` } }), `${names.length - MOST_COLOURED} others`));
  }
  const rows = bars.map((bar) => {
    const text = described(bar, axes);
    const row = el("div", { class: "machine", role: "listitem", "aria-label": text.replaceAll("\n", "; ") },
      el("span", { class: "name" }, bar.repeat > 1 ? `${amount(bar.repeat)} × ${bar.label}` : bar.label, bar.kept ? el("span", { class: "kept" }, bar.repeat > 1 ? "kept" : bar.kept) : null),
      ...axes.map((_, axis) => tube(bar, axis, colours)));
    row.addEventListener("pointermove", (event) => showTip(text, event.clientX, event.clientY));
    row.addEventListener("pointerleave", hideTip);
    row.addEventListener("focus", () => {
      if (!row.matches(":focus-visible")) return;
      const { left, bottom } = row.getBoundingClientRect();
      showTip(text, left + 20, bottom - 8);
    });
    row.addEventListener("blur", hideTip);
    return row;
  });
  roving(rows);
  const title = el("div", { class: "machine title", "aria-hidden": "true" }, el("span", { class: "name" }), ...axes.map((axis) => el("span", {}, axis)));
  const facts = [...notes, ...(bars.some(({ kept }) => kept) ? ["names of machines that are kept are outlined"] : [])];
  const note = leftOut > 0 ? el("p", { class: "note" }, `${amount(leftOut)} more are not shown.`) : null;
  return [
    facts.length > 0 ? el("p", { class: "note" }, facts.join(" · ")) : null,
    legend.length > 0 ? el("ul", { class: "parts" }, ...legend) : null,
    rows.length === 0 ? null : el("div", { class: "machines", role: "list", "aria-label": "What holds what; arrow keys go from one row to the next", style: { "--axes": String(axes.length) } }, title, ...rows),
    note,
    split ? drawSplit(split) : null,
  ];
}
