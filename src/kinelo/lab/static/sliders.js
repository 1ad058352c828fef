// Sliders drawn from the server's own list; they know their words, their range, when they apply and what excludes what.
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
  #clashes;

  // The note below the first group says what follows from its sliders. `scale` says in which units values are written.
  // `rest` is where all but the first controls stand.
  constructor(form, { controls, clashes = [] }, values, changed, scale = () => ({ units: "paper" }), prefix = "", rest = null) {
    this.#controls = controls;
    this.#clashes = clashes;
    this.#scale = scale;
    this.#prefix = prefix;
    this.values = { ...values };
    this.#changed = changed;
    this.note = element("p", { class: "hint", "aria-live": "polite" });
    this.#fill(form, rest ? controls.filter(({ first }) => first).map((one) => ({ ...one, group: "" })) : controls);
    if (rest) this.#fill(rest, controls.filter(({ first }) => !first));
    form.firstElementChild.append(this.note);
    this.#settle();
  }

  #fill(form, controls) {
    const groups = new Map();
    for (const control of controls) {
      if (!groups.has(control.group)) {
        groups.set(control.group, element("fieldset", { class: "group" }, control.group ? element("legend", {}, control.group) : null));
      }
      groups.get(control.group).append(control.kind === "choice" ? this.#choice(control) : this.#slider(control));
    }
    form.replaceChildren(...groups.values());
    form.onsubmit = (event) => event.preventDefault();
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
    const select = element("select", { id: `${this.#prefix}control-${control.name}` },
      ...Object.entries(control.options).map(([value, text]) => element("option", { value }, text)));
    select.value = this.values[control.name];
    select.addEventListener("change", () => this.#set(control.name, select.value));
    return this.#row(control, select, null);
  }

  #slider(control) {
    const log = control.logarithmic;
    const range = element("input", {
      type: "range", id: `${this.#prefix}control-${control.name}`,
      min: String(log ? 0 : control.low), max: String(log ? LOG_POSITIONS : control.high), step: String(log ? 1 : control.step),
    });
    range.value = String(toPosition(control, this.values[control.name]));
    range.addEventListener("input", () => this.#set(control.name, fromPosition(control, Number(range.value))));
    return this.#row(control, range, element("output", { for: range.id }));
  }

  #row(control, input, output) {
    const name = element("label", { class: "name", for: input.id },
      element("span", {}, control.label, control.symbol ? element("i", {}, control.symbol) : null), output);
    const reason = element("p", { class: "reason", hidden: true, id: `${this.#prefix}reason-${control.name}` });
    input.setAttribute("aria-describedby", `${this.#prefix}hint-${control.name} ${reason.id}`);
    const row = element("div", { class: "control" }, name, input,
      element("p", { class: "hint", id: `${this.#prefix}hint-${control.name}` }, control.hint), reason);
    this.#nodes.set(control.name, { control, row, input, output, reason });
    return row;
  }

  #set(name, value) {
    this.values[name] = value;
    this.#settle();
    this.#changed(name);
  }

  #exclude() {
    for (const { input, reason } of this.#nodes.values()) {
      reason.hidden = true;
      input.disabled = false;
      for (const option of input.options ?? []) option.disabled = false;
    }
    for (const { one, other, reason } of this.#clashes) {
      const [first, second] = [one, other].map((part) => holds(part, this.values, this.#controls));
      if (first) this.#forbid(other, reason, second);
      if (second) this.#forbid(one, reason, first);
    }
  }

  // `broken`: it stands so already, as a link may say; then it stays in reach of the hand.
  #forbid([name, option], words, broken) {
    const { input, reason } = this.#nodes.get(name);
    if (option === null) input.disabled = !broken;
    else for (const one of input.options) if (one.value === option) one.disabled = !broken;
    reason.textContent = words;
    reason.hidden = false;
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

  // A slider with an upper neighbour follows it down; sliders that do not apply are hidden; what would exclude what is
  // set is disabled, and the reason stands below it.
  #settle() {
    for (const { control, input } of this.#nodes.values()) {
      const most = control.at_most ? this.values[control.at_most] : Infinity;
      if (this.values[control.name] > most) {
        this.values[control.name] = most;
        input.value = String(toPosition(control, most));
      }
    }
    this.#exclude();
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

// Whether a part of a clash is so: a choice has the option, or a slider is away from its low end.
export function holds([name, option], values, controls) {
  return option === null ? values[name] > controls.find((one) => one.name === name).low : values[name] === option;
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

export function shown(control, value, scale) {
  if (control.kind === "choice") return control.options[value];
  if (control.unit === "share") return percent(value, control.step < 0.01 ? 1 : 0);
  if (scale.units === "elo" && control.unit === "points") return `${(value * eloPoints(scale)).toFixed(0)} Elo points`;
  if (scale.units === "elo" && control.unit === "step") return `K = ${Number((2 * value * eloPoints(scale)).toPrecision(3))}`;
  return control.step >= 1 ? String(value) : String(Number(value.toPrecision(3)));
}
