// Draws a chart that the server described: traces with a role, which chooses the colour, and a way of drawing.
import { baseLayout, colours, draw } from "./charts.js";

const MARGIN = { l: 56, r: 12, t: 30, b: 46 };
const TICKS = [-2, -1, 0, 1, 2].flatMap((power) => [1, 2, 5].map((one) => Number((one * 10 ** power).toPrecision(1))));
const COLOURS = { truth: "truth", prediction: "prediction", team: "team", other: "muted", good: "good", bad: "bad" };

export function plot(node, chart, moment) {
  const c = colours();
  const { frames } = chart;
  const data = chart.traces.map((trace, k) => {
    const moves = frames?.trace === k;
    const x = moves && frames.x ? frames.x[moment] : trace.x;
    const y = moves && frames.y ? frames.y[moment] : trace.y;
    return { x, y, name: trace.name, hovertemplate: `${trace.name}: %{x:.3~g}, %{y:.3~g}<extra></extra>`, ...look(trace, c[COLOURS[trace.role]]) };
  });
  const place = (range, log) => (log ? range.map(Math.log10) : range);
  const axis = (title, range, log = false) => ({ title: { text: title }, ...(log ? { type: "log", tickvals: TICKS, ticktext: TICKS.map(String) } : {}), ...(range ? { range: place(range, log) } : {}) });
  draw(node, data, baseLayout({
    xaxis: axis(chart.x_title, chart.x_range, chart.logarithmic), yaxis: { ...axis(chart.y_title, chart.y_range), zeroline: false },
    showlegend: true, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size: 11 } }, margin: MARGIN,
  }));
}

// A hand on a chart moves a control: the place between the ends of the axis, which are those that were asked for.
export function letDrag(node, chart, move) {
  const [low, high] = chart.x_range.map(Math.log10);
  const at = ({ clientX }) => {
    const box = node.getBoundingClientRect();
    const share = (clientX - box.left - MARGIN.l) / (box.width - MARGIN.l - MARGIN.r);
    move(10 ** (low + (high - low) * Math.min(Math.max(share, 0), 1)) / chart.drag.scale);
  };
  node.classList.add("draggable");
  node.onpointerdown = (event) => { node.setPointerCapture(event.pointerId); at(event); };
  node.onpointermove = (event) => { if (node.hasPointerCapture(event.pointerId)) at(event); };
}

function look({ mode, x }, color) {
  if (mode === "bars") return { type: "bar", marker: { color } };
  if (mode === "area") return { mode: "lines", line: { color, width: 2 }, fill: "tozeroy", fillcolor: "rgba(128, 140, 150, .14)" };
  if (mode === "markers") return { mode: "markers", marker: { color, size: x.length > 20 ? 6 : 9, opacity: .85 } };
  if (mode === "large") return { mode: "markers", marker: { color, size: 14, line: { width: 2, color: "rgba(255,255,255,.8)" } } };
  return { mode: "lines", line: { color, width: mode === "thin" ? 1.5 : 3, dash: mode === "dashed" ? "dash" : "solid" } };
}
