// Draws a chart that was described: traces with a role, which chooses the colour, and a way of drawing.
import { baseLayout, colours, draw } from "./charts.js";

const MARGIN = { l: 54, r: 12, t: 46, b: 44 };
const TICKS = [-2, -1, 0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((one) => Number((one * 10 ** power).toPrecision(1))));
const COLOURS = { truth: "truth", prediction: "prediction", team: "team", other: "muted", good: "good", bad: "bad" };

// `whole`: also what is kept until the visitor has guessed.
export function plot(node, chart, moment, whole) {
  const c = colours();
  const { frames } = chart;
  const data = chart.traces.map((trace, k) => {
    const moves = frames?.trace === k;
    const x = moves && frames.x ? frames.x[moment] : trace.x;
    const y = moves && frames.y ? frames.y[moment] : trace.y;
    return {
      x, y, name: trace.name, showlegend: trace.name !== "", visible: whole || !trace.later, hovertemplate: `${trace.name} %{x:.3~g}, %{y:.3~g}<extra></extra>`,
      ...(trace.error ? { error_y: { type: "data", array: trace.error, color: c[COLOURS[trace.role]], thickness: 1.5 } } : {}),
      ...look(trace, c[COLOURS[trace.role]]),
    };
  });
  const place = (range, log) => (log ? range.map(Math.log10) : range);
  const axis = (title, range, log = false) => ({ title: { text: title }, ...(log ? { type: "log", tickvals: TICKS, ticktext: TICKS.map(String) } : {}), ...(range ? { range: place(range, log) } : {}) });
  draw(node, data, baseLayout({
    xaxis: { ...axis(chart.x_title, chart.x_range, chart.logarithmic), zeroline: false }, yaxis: { ...axis(chart.y_title, chart.y_range), zeroline: false },
    showlegend: true, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size: 11 } }, margin: MARGIN,
  }));
}

function look({ mode, x }, color) {
  if (mode === "area") return { mode: "lines", line: { color, width: 2 }, fill: "tozeroy", fillcolor: "rgba(128, 140, 150, .14)" };
  if (mode === "markers") return { mode: "markers", marker: { color, size: x.length > 20 ? 6 : 9, opacity: .85 } };
  if (mode === "open") return { mode: "markers", marker: { color, size: 7, symbol: "circle-open", line: { width: 1.5 } } };
  if (mode === "large") return { mode: "markers", marker: { color, size: 14, line: { width: 2, color: "rgba(255,255,255,.8)" } } };
  return { mode: "lines", line: { color, width: mode === "thin" ? 1.8 : 3, dash: mode === "dashed" ? "dash" : "solid" } };
}
