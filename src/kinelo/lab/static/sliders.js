// Sliders drawn from the server's own list; they know their words, their range and when they apply.
import { element, percent } from "./words.js";

// Steps that an arrow key can feel: 5 % a press over two decades.
const LOG_POSITIONS = 95;
const LOG_DIGITS = 3;

export class Sliders {
  #controls;
  #nodes = new Map();
  #changed;
  #scale;
  #prefix;

  // The note below the first group says what follows from its sliders. `scale` says in which units values are written.
  constructor(form, controls, values, changed, scale = () => ({ units: "paper" }), prefix = "") {
    this.#controls = controls;
    this.#scale = scale;
    this.#prefix = prefix;
    this.values = { ...values };
    this.#changed = changed;
    const groups = new Map();
    for (const control of controls) {
      if (!groups.has(control.group)) {
        groups.set(control.group, element("fieldset", { class: "group" }, control.group ? element("legend", {}, control.group) : null));
      }
      groups.get(control.group).append(control.kind === "choice" ? this.#choice(control) : this.#slider(control));
    }
    this.note = element("p", { class: "hint", "aria-live": "polite" });
    form.replaceChildren(...groups.values());
    form.firstElementChild.append(this.note);
    form.onsubmit = (event) => event.preventDefault();
    this.#settle();
  }

  // Move one slider to the nearest place to a value.
  move(name, value) {
    const { control, input } = this.#nodes.get(name);
    input.value = String(toPosition(control, Math.min(Math.max(value, control.low), control.high)));
    this.#set(name, fromPosition(control, Number(input.value)));
  }

  // Write the values again, in the units of now.
  refresh() { this.#settle(); }

  #choice(control) {
    const select = element("select", { id: `${this.#prefix}control-${control.name}`, "aria-describedby": `${this.#prefix}hint-${control.name}` },
      ...Object.entries(control.options).map(([value, text]) => element("option", { value }, text)));
    select.value = this.values[control.name];
    select.addEventListener("change", () => this.#set(control.name, select.value));
    return this.#row(control, select, null);
  }

  #slider(control) {
    const log = control.logarithmic;
    const range = element("input", {
      type: "range", id: `${this.#prefix}control-${control.name}`, "aria-describedby": `${this.#prefix}hint-${control.name}`,
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
      element("p", { class: "hint", id: `${this.#prefix}hint-${control.name}` }, control.hint));
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
        const text = shown(control, this.values[control.name], this.#scale(this.values));
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
  return Math.min(Math.max(Number(value.toPrecision(LOG_DIGITS)), control.low), control.high);
}

// Elo points to one of the paper's: both have the same expected score between equals.
export const eloPoints = ({ nu, ties = 0 }) => (nu * (1 - ties) * 800) / Math.log(10);

function shown(control, value, scale) {
  if (control.unit === "share") return percent(value, control.step < 0.01 ? 1 : 0);
  if (scale.units === "elo" && control.unit === "points") return `${(value * eloPoints(scale)).toFixed(0)} Elo`;
  if (scale.units === "elo" && control.unit === "step") return `K = ${Number((2 * value * eloPoints(scale)).toPrecision(3))}`;
  return control.step >= 1 ? String(value) : String(Number(value.toPrecision(3)));
}
