// Every chart can be taken away: as a picture (PNG, SVG) or as its numbers (CSV).
import { $, element, say } from "./words.js";

const PICTURE = { width: 900, height: 600 };

// A row of small buttons below each chart of the page, now and for charts that come later.
export function addExports() {
  const equip = () => document.querySelectorAll("figure:not(.guide-picture) > .chart:not([data-exports])").forEach((node) => {
    node.dataset.exports = "";
    const name = node.id || "chart";
    const button = (format) => element("button", {
      type: "button", class: "quiet", "aria-label": `Save this chart as ${format.toUpperCase()}`, onclick: () => save(node, name, format),
    }, format.toUpperCase());
    node.after(element("p", { class: "exports" }, ...["png", "svg", "csv"].map(button)));
  });
  equip();
  new MutationObserver(equip).observe($("main"), { childList: true, subtree: true });
}

function save(node, name, format) {
  const filename = `kinelo-${name}`;
  if (format !== "csv") window.Plotly.downloadImage(node, { format, filename, ...PICTURE });
  else download(`${filename}.csv`, table(node.data ?? []));
}

// One row for each point: the trace it belongs to, x and y, and z where the chart is a map.
export function table(traces) {
  const rows = [["trace", "x", "y", "z"]];
  traces.forEach((trace, k) => {
    const name = trace.name || `trace ${k + 1}`;
    if (trace.z) trace.z.forEach((line, row) => Array.from(line).forEach((z, column) => rows.push([name, trace.x[column], trace.y[row], z])));
    else Array.from(trace.x ?? []).forEach((x, point) => rows.push([name, x, trace.y[point], ""]));
  });
  return rows.map((row) => row.map(cell).join(",")).join("\n");
}

// Text that a spreadsheet would run as a formula is led by an apostrophe.
function cell(value) {
  if (typeof value !== "string") return String(value ?? "");
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The diagnosis of a position of the sliders as a page to share.
export async function shareDiagnosis(values) {
  const answer = await fetch("/api/diagnosis.html", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values) });
  if (answer.ok) download("kinelo-diagnosis.html", await answer.text(), "text/html");
  else say((await answer.json()).error);
}

function download(name, text, type = "text/csv") {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
