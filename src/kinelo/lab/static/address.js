// The state of the sliders in the address, so that a link shows what its sender saw. Defaults are left out.

export function valuesFromAddress(controls) {
  const given = new URLSearchParams(location.search);
  const values = {};
  for (const control of controls) {
    values[control.name] = control.default;
    if (!given.has(control.name)) continue;
    const text = given.get(control.name);
    if (control.kind === "choice") {
      if (text in control.options) values[control.name] = text;
    } else if (text.trim() !== "" && Number.isFinite(Number(text))) {
      values[control.name] = Math.min(Math.max(Number(text), control.low), control.high);
    }
  }
  return values;
}

export function writeAddress(controls, values, tab) {
  const query = new URLSearchParams();
  for (const control of controls) {
    if (values[control.name] !== control.default) query.set(control.name, String(values[control.name]));
  }
  const text = query.toString();
  history.replaceState(null, "", `${location.pathname}${text ? `?${text}` : ""}${tab === "explore" ? "" : `#${tab}`}`);
}

export function tabFromAddress(tabs) {
  const name = location.hash.slice(1);
  return tabs.includes(name) ? name : tabs[0];
}
