// From disk a browser neither fetches the index of the search nor starts its worker. There both are scripts: the index in
// the page, as soon as the reader searches, the worker in a frame.
var __search;
if (location.protocol === "file:") {
  const load = (source, into) => new Promise((done) => {
    const script = into.createElement("script");
    script.onload = done;
    script.src = source;
    into.head.append(script);
  });
  const index = new URL("search/search_index.js", document.currentScript.src);
  const asked = new Promise((done) => {
    document.addEventListener("focusin", ({target}) => target.matches(".md-search__input") && done());
  });
  __search = {index: asked.then(() => load(index, document)).then(() => window.search_index)};
  window.Worker = class extends EventTarget {
    constructor(source) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
      this.ready = load(source, frame.contentDocument);
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", {data})));
    }
  };
}
