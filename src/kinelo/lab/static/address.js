// The state of the sliders and the tab in the address, so that a link shows what its sender saw and Back goes back to it.
// Defaults are left out.

const GESTURE = 1500;
let last = { what: null, at: 0 };

export function valuesFromAddress(controls) {
  const given = new URLSearchParams(location.search);
  const values = {};
  for (const control of controls) {
    values[control.name] = control.default;
    if (!given.has(control.name)) continue;
    const text = given.get(control.name);
    if (control.kind === "choice") {
      if (Object.hasOwn(control.options, text)) values[control.name] = text;
    } else if (text.trim() !== "" && Number.isFinite(Number(text))) {
      const value = Math.min(Math.max(Number(text), control.low), control.high);
      values[control.name] = control.step >= 1 ? Math.round(value) : value;
    }
  }
  return values;
}

const EXTRAS = ["seed", "speed", "paused", "units", "pin"];

// What a link holds beside the sliders, as text; null where it says nothing.
export function extrasFromAddress() {
  const given = new URLSearchParams(location.search);
  return Object.fromEntries(EXTRAS.map((name) => [name, given.get(name)]));
}

// `what` names the thing that moved: one gesture on it is one step of the history. Nothing moved, no step.
export function writeAddress(controls, values, extras, tab, what = null) {
  const query = new URLSearchParams(Object.entries(extras).filter(([, value]) => value !== null));
  for (const control of controls) {
    if (values[control.name] !== control.default) query.set(control.name, String(values[control.name]));
  }
  const text = query.toString();
  const address = `${location.pathname}${text ? `?${text}` : ""}${tab === "" ? "" : `#${tab}`}`;
  const now = performance.now();
  const goesOn = what === null || (what === last.what && now - last.at < GESTURE);
  last = { what, at: now };
  if (address === location.pathname + location.search + location.hash) return;
  history[goesOn ? "replaceState" : "pushState"](null, "", address);
}

// A place within the page is no tab: the present one stays.
export function tabFromAddress(tabs, first, present) {
  const [name] = location.hash.slice(1).split("/");
  if (name === "") return first;
  return tabs.includes(name) ? name : present;
}
