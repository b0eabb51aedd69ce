const data = JSON.parse(document.getElementById("data").textContent);
const NOTHING = "–";

/** An HTML element: attributes by name, `on` for listeners, then children (texts become text, never HTML). */
function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for SVG. */
function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (key === "style") for (const [name, text] of Object.entries(value)) node.style.setProperty(name, text);
    else if (value !== undefined && value !== null && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function percent(value) {
  if (value === null || value === undefined) return NOTHING;
  if (value === 0) return "0%";
  const shown = 100 * value;
  let digits = 2;
  while (digits < 6 && Math.abs(shown) < 2 * 10 ** (1 - digits)) digits += 1;
  return `${shown.toFixed(digits)}%`;
}

function seconds(value) {
  if (value === null || value === undefined) return NOTHING;
  if (value < 1e-3) return `${(value * 1e6).toFixed(0)} µs`;
  if (value < 1) return `${Number((value * 1e3).toPrecision(3))} ms`;
  return value < 100 ? `${value.toFixed(2)} s` : `${value.toFixed(0)} s`;
}

function amount(value, digits = 4) {
  if (value === null || value === undefined) return NOTHING;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

/** A number with so many digits that count. */
function counted(value, digits = 4) {
  return value.toLocaleString("en-US", Math.abs(value) < 10000 ? { maximumSignificantDigits: digits } : { maximumFractionDigits: 0 });
}

function plural(count, word) {
  return `${amount(count)} ${word}${count === 1 ? "" : "s"}`;
}

/** A method's name with its mark, as in the tables that came with the page; `method` is a number, or a name. */
function methodName(method) {
  const mark = typeof method === "number"
    ? svg("svg", { class: "mark", "aria-hidden": "true" }, svg("use", { href: `#mark${method}` }))
    : null;
  return el("span", { class: "method" }, mark, methodWords(labelOf(method)));
}

/** Name and parameters of a method, these smaller and below. */
function methodWords(label) {
  const [name, parameters] = split(label);
  return el("span", {}, name, parameters ? el("span", { class: "parameters" }, ...parameters.split(/(?<=,)/).flatMap((part) => [part, el("wbr")])) : null);
}

function split(label) {
  const cut = label.indexOf("[");
  return cut < 0 ? [label, ""] : [label.slice(0, cut), label.slice(cut)];
}

const labelOf = (method) => (typeof method === "number" ? data.methods[method] : method);

/** Say something to those who cannot see what changed. */
function say(text) {
  document.getElementById("said").textContent = text;
}

const tip = document.getElementById("tip");

/** Show a text near a point of the window, within the window. */
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? x - 14 - width : x + 14;
  const top = y + 14 + height > innerHeight ? y - 14 - height : y + 14;
  tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
}

function hideTip() {
  tip.hidden = true;
}

addEventListener("scroll", hideTip, { passive: true });
addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTip();
});

/** A note of its own shows where the pointer or the focus is; those who do not see it have it as a description. */
for (const [kinds, isShown] of [[["pointerover", "focusin"], true], [["pointerout", "focusout"], false]]) {
  for (const kind of kinds) {
    addEventListener(kind, (event) => {
      const noted = event.target.closest?.("[data-tip]");
      if (!noted) return;
      const { left, bottom } = noted.getBoundingClientRect();
      if (isShown) showTip(noted.dataset.tip, left, bottom - 8);
      else hideTip();
    });
  }
}
