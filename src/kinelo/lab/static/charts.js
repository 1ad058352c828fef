// Charts by plotly.js in the colours of the page. Nothing is computed here: the server sends what is drawn.

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: false, scrollZoom: false };

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
    margin: { l: 52, r: 12, t: 10, b: 44 },
    hoverlabel: { bgcolor: c.panel, bordercolor: c.line, font: { color: c.ink } },
    xaxis: merged(xaxis), yaxis: merged(yaxis), ...rest,
  };
}

export function draw(node, data, layout, own = {}) {
  return window.Plotly.react(node, data, layout, { ...CONFIG, ...own });
}

export const restyle = (node, change, traces) => window.Plotly.restyle(node, change, traces);

// Calls a listener when the theme turns, so that charts can be drawn anew.
export function onTheme(listener) {
  document.addEventListener("themechange", listener);
}

// plotly.js loads after the first paint; whoever needs it waits here.
export const plotlyReady = new Promise((resolve, reject) => {
  const look = () => (window.Plotly ? resolve() : null);
  if (window.Plotly) resolve();
  else if (document.readyState === "complete") reject(new Error("plotly.js did not load."));
  else {
    document.addEventListener("DOMContentLoaded", look);
    window.addEventListener("load", () => (window.Plotly ? resolve() : reject(new Error("plotly.js did not load."))));
  }
});
