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

// Shows a table that the server described (kinelo/presentation.py): headings, and cells as text.
export function fillTable(node, { columns, rows, below }) {
  const kind = (k) => (columns[k].number ? "number" : "");
  node.replaceChildren(
    element("thead", {}, element("tr", {}, ...columns.map(({ label }, k) => element("th", { scope: "col", class: kind(k) }, label)))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((text, k) => element("td", { class: kind(k) }, text)))),
      ...below.map((text) => element("tr", {}, element("td", { colspan: String(columns.length || 1) }, text)))));
}

export function figure(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return Number(value.toPrecision(digits)).toString();
}

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
