// Small things the modules share: elements, numbers as people write them, and the notice at the foot of the page.

export const $ = (selector, within = document) => within.querySelector(selector);

export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Shows a table that the server described (kinelo/presentation.py): headings, and cells as text. `cell(key, row, text)` may
// return another cell for some of them, and `more` are columns that the page adds: a label, a class and a cell of each row.
export function fillTable(node, { columns, rows, below }, cell = () => null, more = []) {
  const kind = (k) => (columns[k].number ? "number" : "");
  const plain = (k, text) => element("td", { class: kind(k), "data-key": columns[k].key }, text);
  node.replaceChildren(
    element("thead", {}, element("tr", {}, ...columns.map(({ label }, k) => element("th", { scope: "col", class: kind(k), "data-key": columns[k].key }, label)),
      ...more.map((one) => element("th", { scope: "col", class: one.kind }, one.unseen ? element("span", { class: "unseen" }, one.label) : one.label)))),
    element("tbody", {}, ...rows.map((row, at) => element("tr", {}, ...row.map((text, k) => cell(columns[k].key, at, text) ?? plain(k, text)),
      ...more.map((one) => element("td", { class: one.kind }, one.cell(at))))),
    ...below.map((text) => element("tr", {}, element("td", { colspan: String(columns.length + more.length || 1) }, text)))));
}

export function figure(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(digits)).toString();
}

// What is counted, as a sentence says it: of "matches used" one is a "match used".
export const noun = (number, several) => (number === 1 ? several.replace(/^(match)es\b|^(\w+)s\b/, "$1$2") : several);
export const counted = (number, several) => `${number.toLocaleString("en")} ${noun(number, several)}`;

export const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;

export async function copy(text, words) {
  try {
    await navigator.clipboard.writeText(text);
    say(words);
  } catch {
    say(`Copy this: ${text}`, 12);
  }
}

let hiding = null;
export function say(text, seconds = 6) {
  const toast = $("#toast");
  toast.textContent = text;
  toast.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { toast.hidden = true; }, seconds * 1000);
}
