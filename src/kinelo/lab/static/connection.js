// The one WebSocket of this page. It comes back by itself when the server does, and tells everyone who asked.

const FIRST_DELAY = 400;
const LONGEST_DELAY = 5000;
const PLACES_TAKEN = 4429;

export class Connection extends EventTarget {
  #socket = null;
  #delay = FIRST_DELAY;
  page = null;

  open() {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`);
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = (event) => this.#lost(event);
    this.#socket = socket;
  }

  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #receive(data) {
    if (data instanceof ArrayBuffer) {
      this.#tell("frame", decodeFrame(data));
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "welcome") {
      this.page = message.page;
      this.#delay = FIRST_DELAY;
      this.#tell("state", "open");
    }
    this.#tell(message.type, message);
  }

  #lost(event) {
    this.page = null;
    this.#tell("state", event.code === PLACES_TAKEN ? "full" : "lost");
    setTimeout(() => this.open(), this.#delay);
    this.#delay = Math.min(this.#delay * 1.7, LONGEST_DELAY);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  async ask(path, { method = "POST", body = null, headers = {} } = {}) {
    if (this.page === null) throw new Error("The lab is not connected at the moment.");
    const json = body !== null && !(body instanceof Blob);
    const answer = await this.#fetch(path, {
      method,
      body: json ? JSON.stringify(body) : body,
      headers: { ...(json ? { "Content-Type": "application/json" } : {}), ...headers },
    });
    return answer.json();
  }

  // A file of this page; what goes wrong is said, and the page stays where it is.
  async download(path, name) {
    if (this.page === null) throw new Error("The lab is not connected at the moment.");
    const address = URL.createObjectURL(await (await this.#fetch(path, {})).blob());
    const link = document.createElement("a");
    [link.href, link.download] = [address, name];
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }

  async #fetch(path, options) {
    const answer = await fetch(`/api/pages/${this.page}/${path}`, options)
      .catch(() => { throw new Error("The lab does not answer."); });
    if (answer.ok) return answer;
    const content = await answer.json().catch(() => ({ error: `The lab answered ${answer.status}.` }));
    throw new Error(content.error);
  }
}

// A frame: length of the head, the head as JSON, 32-bit floats, then one byte per cell of the density. The floats are
// ratings and, where they move, strengths; then ratings and strengths of the pinned league.
export function decodeFrame(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return { ...head, rest: buffer, offset: 4 + length };
}

// The dots of a frame of a league that has started.
export function readDots(frame, { theta, moving }) {
  let at = frame.offset;
  const floats = (count) => { const found = new Float32Array(frame.rest, at, count); at += 4 * count; return found; };
  const dots = (count, still) => { const rating = floats(count); return { rating, strength: still ?? floats(count) }; };
  const own = dots(theta.length, moving ? null : theta);
  return { ...frame, dots: own, beside: frame.pinned ? dots(frame.pinned) : null, shades: at };
}
