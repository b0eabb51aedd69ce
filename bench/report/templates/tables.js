const COLLATOR = new Intl.Collator("en", { numeric: true });

/** What a cell sorts by: its value, as a number where it is one; null, which comes last, where there is none. */
function sortValue(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.value ?? (cell.textContent.trim() === NOTHING ? null : cell.textContent.trim());
  if (text === null || text === "") return null;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return COLLATOR.compare(String(a), String(b));
}

/** Make the titles of a table sort: ascending, descending, and the order in which the table came. */
function makeSortable(table) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    button.disabled = false;
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", next);
      table.classList.toggle("sorted", next !== "none");
      body.append(...ordered(original, column, next));
      say(next === "none" ? "in the original order" : `sorted by ${button.textContent}, ${next}`);
    });
  });
}

function ordered(rows, column, direction) {
  if (direction === "none") return rows;
  const sign = direction === "ascending" ? 1 : -1;
  return rows
    .map((row, place) => ({ row, place, value: sortValue(row, column) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return (a.value === null) - (b.value === null) || a.place - b.place;
      return sign * compare(a.value, b.value) || a.place - b.place;
    })
    .map(({ row }) => row);
}

/** Make a form filter a table: by text in any cell, and by what its rows say of themselves in `data-...`. */
function makeFilter(form, table) {
  const fields = [...form.querySelectorAll("[data-filter]")];
  const output = form.querySelector("output");
  const rows = [...table.tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const apply = () => {
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !fields.every((field) => {
        if (field.value === "") return true;
        if (field.dataset.filter !== "text") return matches(row.dataset[field.dataset.filter], field.value);
        return field.value.toLowerCase().split(/\s+/).every((word) => texts[i].includes(word));
      });
      shown += row.hidden ? 0 : 1;
    });
    output.textContent = shown === rows.length ? "" : `${shown} of ${plural(rows.length, "row")}`;
  };
  form.hidden = false;
  for (const event of ["input", "change"]) form.addEventListener(event, apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  // The fields are empty only after the event.
  form.addEventListener("reset", () => setTimeout(apply));
}

const ruler = document.createElement("canvas").getContext("2d");

/** Cut the options of a choice to what its place has room for; the whole text is their title. */
function fitOptions(select) {
  const style = getComputedStyle(select);
  const room = (select.closest("form, .controls, .picture")?.clientWidth ?? innerWidth) - 2 * parseFloat(style.paddingLeft) - 36;
  ruler.font = style.font;
  for (const option of select.options) {
    const whole = option.title || option.textContent;
    let shown = whole;
    while (shown.length > 8 && ruler.measureText(shown).width > room) shown = `${shown.slice(0, -2).trimEnd()}…`;
    if (shown === whole) continue;
    // Without a value of its own an option has its text for one.
    option.value = option.getAttribute("value") ?? whole;
    option.title = whole;
    option.textContent = shown;
  }
}

/** A row may belong to several methods or statuses, one a line. */
function matches(own, wanted) {
  return own !== undefined && own.split("\n").includes(wanted);
}

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
document.querySelectorAll("form.filters").forEach((form) => {
  makeFilter(form, document.getElementById(form.dataset.table));
});

/** All choices on the page, when there is a place that they must fit. */
const fitAll = () => document.querySelectorAll("select").forEach(fitOptions);
addEventListener("load", fitAll);
addEventListener("resize", fitAll);
