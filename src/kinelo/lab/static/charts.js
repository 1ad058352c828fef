// Charts by plotly.js in the colours of the page. Nothing is computed here: the server sends what is drawn.

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: false, scrollZoom: false };
const TICKS = [-2, -1, 0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((one) => Number((one * 10 ** power).toPrecision(1))));
// Colours and marks of traces that are alike, by their number.
export const SERIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8a8a", "#a6761d"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x"];
const ROLES = { truth: "truth", prediction: "prediction", team: "team", other: "muted", good: "good", bad: "bad" };

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["panel", "ink", "muted", "line", "grid", "team", "prediction", "band", "truth", "accent", "good", "bad",
    "density-low", "density-mid", "density-high"];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

export function baseLayout(extra = {}) {
  const c = colours();
  const axis = {
    gridcolor: c.grid, linecolor: c.line, zerolinecolor: c.grid, tickcolor: c.line, fixedrange: true,
    tickfont: { color: c.muted, size: 12 }, title: { font: { color: c.muted, size: 13 } },
  };
  const { xaxis = {}, yaxis = {}, ...rest } = extra;
  const merged = (own) => ({ ...axis, ...own, title: { ...axis.title, ...(own.title ?? {}) } });
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, dragmode: false,
    font: { family: getComputedStyle(document.body).fontFamily, color: c.ink, size: 13 },
    margin: { l: 68, r: 12, t: 10, b: 44 },
    hoverlabel: { bgcolor: c.panel, bordercolor: c.line, font: { color: c.ink } },
    xaxis: merged(xaxis), yaxis: merged(yaxis), ...rest,
  };
}

export function draw(node, data, layout, own = {}) {
  return window.Plotly.react(node, data, layout, { ...CONFIG, ...own });
}

// Draws a chart that the server described (kinelo/charts.py): traces with a role, which chooses the colour, and a way of drawing.
// `moment`: of a trace that moves. `whole`: also what is kept until the visitor has guessed.
export function plot(node, chart, moment = 0, whole = true) {
  const c = colours();
  const { frames } = chart;
  node.setAttribute("aria-label", chart.label);
  const data = chart.traces.map((trace, k) => {
    const moves = frames?.trace === k;
    const x = moves && frames.x ? frames.x[moment] : trace.x;
    const y = moves && frames.y ? frames.y[moment] : trace.y;
    const color = c[ROLES[trace.role]] ?? SERIES[trace.role % SERIES.length];
    return {
      x, y, name: trace.name, showlegend: trace.name !== "", visible: whole || !trace.later,
      ...(trace.notes.length ? { text: trace.notes, hovertemplate: "%{text}<extra></extra>" } : { hovertemplate: `${trace.name} %{x:.3~g}, %{y:.3~g}<extra></extra>` }),
      ...(trace.error ? { error_y: { type: "data", array: trace.error, color, thickness: 1.5 } } : {}),
      ...look(trace, color, c.band, chart.y_range),
    };
  });
  // Readable from the last row where the picture is large, and no wider than a phone where it is small.
  const size = Math.round(Math.min(Math.max((node.clientWidth || 0) / 62, 12), 20));
  const type = { tickfont: { color: c.muted, size }, titled: { color: c.muted, size: size + 1 } };
  const place = (range, log) => (log ? range.map(Math.log10) : range);
  const axis = (title, range, log = false) => ({
    title: { text: title, font: type.titled }, tickfont: type.tickfont, zeroline: false, exponentformat: "none", ...(log ? { type: "log", tickvals: TICKS, ticktext: TICKS.map(String) } : {}), ...(range ? { range: place(range, log) } : {}),
  });
  draw(node, data, baseLayout({
    xaxis: { ...axis(chart.x_title, chart.x_range, chart.logarithmic), ...(chart.x_names?.length ? { tickvals: chart.x_names.map((_, n) => n), ticktext: chart.x_names } : {}) }, yaxis: axis(chart.y_title, chart.y_range),
    showlegend: true, legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, font: { size } }, margin: { l: 8 + 5 * size, r: 12, t: 4 * size, b: 4 * size - 4 },
  }));
}

function look({ mode, x, y, low, role }, color, band, ends) {
  const filled = { mode: "lines", line: { width: 0 }, fill: "toself", fillcolor: band, hoverinfo: "skip", hovertemplate: null };
  if (mode === "span") return { ...filled, x: [x[0], x[1], x[1], x[0]], y: [ends[0], ends[0], ends[1], ends[1]] };
  if (mode === "band") return { ...filled, x: [...x, ...x.toReversed()], y: [...y, ...low.toReversed()] };
  if (mode === "upright") return { mode: "lines", x: [x[0], x[0]], y: ends, line: { color, width: 1.6, dash: "dash" }, hoverinfo: "skip", hovertemplate: null };
  if (mode === "area") return { mode: "lines", line: { color, width: 2 }, fill: "tozeroy", fillcolor: "rgba(128, 140, 150, .14)" };
  if (mode === "markers") return { mode: "markers", marker: { color, size: x.length > 20 ? 6 : 9, opacity: .85, ...(Number.isInteger(role) ? { symbol: SYMBOLS[role % SYMBOLS.length] } : {}) } };
  if (mode === "open") return { mode: "markers", marker: { color, size: 7, symbol: "circle-open", line: { width: 1.5 } } };
  if (mode === "large") return { mode: "markers", marker: { color, size: 14, line: { width: 2, color: "rgba(255,255,255,.8)" } } };
  return { mode: "lines", line: { color, width: mode === "thin" ? 1.8 : 3, dash: mode === "dashed" ? "dash" : "solid" } };
}

export const restyle = (node, change, traces) => window.Plotly.restyle(node, change, traces);

// Calls a listener when the theme turns, so that charts can be drawn anew.
export function onTheme(listener) {
  document.addEventListener("themechange", listener);
}

// plotly.js is by far the largest script: it is asked for once what was written before has been painted.
let plotly = null;
export function plotlyReady() {
  plotly ??= window.Plotly ? Promise.resolve() : new Promise((resolve, reject) => {
    const script = document.createElement("script");
    [script.src, script.onload] = ["/plotly.js", () => resolve()];
    script.onerror = () => reject(new Error("plotly.js did not load."));
    const ask = () => document.head.append(script);
    if (document.hidden) ask(); // nothing is painted
    else requestAnimationFrame(() => setTimeout(ask));
  });
  return plotly;
}
