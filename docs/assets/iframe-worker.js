/* Search runs in a worker, and browsers start none for pages opened as files. There, a hidden frame does the work. */
if (location.protocol === "file:") {
  class FrameWorker extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      const inner = (this.inner = frame.contentWindow)
      inner.document.open()
      inner.document.write("<!doctype html><html><body></body></html>")
      inner.document.close()
      inner.postMessage = data => {
        this.dispatchEvent(new MessageEvent("message", { data }))
      }
      inner.importScripts = (...urls) =>
        urls.reduce((before, one) => before.then(() => this.load(one)), Promise.resolve())
      this.load(url).then(() => {
        this.ready = true
        for (const data of this.waiting) this.postMessage(data)
      })
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.inner.document.createElement("script")
        script.src = String(url)
        script.onload = resolve
        script.onerror = reject
        this.inner.document.body.appendChild(script)
      })
    }

    postMessage(data) {
      if (this.ready) this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }))
      else this.waiting.push(data)
    }

    terminate() {
      this.inner.frameElement.remove()
    }
  }
  window.IFrameWorker = window.Worker = FrameWorker
}
