// Sliders drawn from the server's own list; they know their words, their range and when they apply.
import { element, percent } from "./words.js";

const LOG_POSITIONS = 200;

export class Sliders {
  #controls;
  #nodes = new Map();
  #changed;

  // The note below the first group says what follows from its sliders.
  constructor(form, controls, values, changed) {
    this.#controls = controls;
    this.values = { ...values };
    this.#changed = changed;
    const groups = new Map();
    for (const control of controls) {
      if (!groups.has(control.group)) {
        groups.set(control.group, element("fieldset", { class: "group" }, element("legend", {}, control.group)));
      }
      groups.get(control.group).append(control.kind === "choice" ? this.#choice(control) : this.#slider(control));
    }
    this.note = element("p", { class: "hint", "aria-live": "polite" });
    form.replaceChildren(...groups.values());
    form.firstElementChild.append(this.note);
    form.addEventListener("submit", (event) => event.preventDefault());
    this.#settle();
  }

  #choice(control) {
    const select = element("select", { id: `control-${control.name}`, "aria-describedby": `hint-${control.name}` },
      ...Object.entries(control.options).map(([value, text]) => element("option", { value }, text)));
    select.value = this.values[control.name];
    select.addEventListener("change", () => this.#set(control.name, select.value));
    return this.#row(control, select, null);
  }

  #slider(control) {
    const log = control.logarithmic;
    const range = element("input", {
      type: "range", id: `control-${control.name}`, "aria-describedby": `hint-${control.name}`,
      min: String(log ? 0 : control.low), max: String(log ? LOG_POSITIONS : control.high), step: String(log ? 1 : control.step),
    });
    range.value = String(toPosition(control, this.values[control.name]));
    range.addEventListener("input", () => this.#set(control.name, fromPosition(control, Number(range.value))));
    return this.#row(control, range, element("output", { for: range.id }));
  }

  #row(control, input, output) {
    const name = element("label", { class: "name", for: input.id },
      element("span", {}, control.label, control.symbol ? element("i", {}, control.symbol) : null), output);
    const row = element("div", { class: "control" }, name, input,
      element("p", { class: "hint", id: `hint-${control.name}` }, control.hint));
    this.#nodes.set(control.name, { control, row, input, output });
    return row;
  }

  #set(name, value) {
    this.values[name] = value;
    this.#settle();
    this.#changed(name);
  }

  // Put every slider where it stood; true if one of them moved.
  place(values) {
    const moved = this.#controls.some(({ name }) => this.values[name] !== values[name]);
    this.values = { ...values };
    for (const { control, input } of this.#nodes.values()) {
      const value = this.values[control.name];
      input.value = String(control.kind === "choice" ? value : toPosition(control, value));
    }
    this.#settle();
    return moved;
  }

  // A line-up is never larger than its squad; sliders that do not apply are hidden.
  #settle() {
    if (this.values.lineup > this.values.players) {
      this.values.lineup = this.values.players;
      const node = this.#nodes.get("lineup");
      node.input.value = String(this.values.lineup);
    }
    for (const { control, row, input, output } of this.#nodes.values()) {
      row.hidden = Boolean(control.when) && this.values[control.when[0]] !== control.when[1];
      if (output) {
        const text = shown(control, this.values[control.name]);
        output.textContent = text;
        input.setAttribute("aria-valuetext", text);
      }
    }
  }
}

function toPosition(control, value) {
  if (!control.logarithmic) return value;
  return Math.round((LOG_POSITIONS * Math.log(value / control.low)) / Math.log(control.high / control.low));
}

function fromPosition(control, position) {
  if (!control.logarithmic) return Number(position.toFixed(4));
  const value = control.low * (control.high / control.low) ** (position / LOG_POSITIONS);
  return Math.min(Math.max(Number(value.toPrecision(2)), control.low), control.high);
}

function shown(control, value) {
  if (control.unit === "share") return percent(value);
  return control.step >= 1 ? String(value) : String(Number(value.toPrecision(3)));
}
