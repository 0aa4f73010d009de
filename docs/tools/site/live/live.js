// What the live pages share: the engine, the page of a graph in a frame, and elements made by words.
const live = {
  // The engine, as soon as it is unpacked.
  async start() { this.engine = await LiveEngine({wasmBinary: await this.unpack(LiveEngine.packed)}); },

  // The bytes of what a script has as gzip in Base64, since a page from disk may fetch nothing.
  async unpack(text) {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(unpacked).arrayBuffer());
  },

  // The answer of docs/tools/live/live.h, {error} if the engine refuses.
  ask(of, request) {
    return JSON.parse(this.engine.ccall("live_answer", "string", ["string"], [JSON.stringify({of, ...request})]));
  },

  // <tag attributes...>children...</tag>; on... are functions.
  make(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on"))
        made.addEventListener(name.slice(2), value);
      else
        made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  },
  svg(tag, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  },

  // Four digits that count, and a true minus.
  text(number) {
    if (number === null) return "not a number";
    if (Array.isArray(number)) return number.length === 1 ? this.text(number[0]) : `[${number.map((each) => this.text(each)).join(", ")}]`;
    return String(Number(number.toPrecision(4))).replace("-", "\u2212");
  },

  // Shows the page of a graph in a frame, as dark as this page. There it has no address of its own that it could change.
  show(frame, page) {
    frame.hidden = false;
    frame.addEventListener("load", () => this.tell(frame), {once: true});
    frame.srcdoc = page.replace("<head>", "<head><script>history.pushState = history.replaceState = () => {};<\/script>");
  },
  tell(frame) { frame.contentWindow?.postMessage({dark: document.body.dataset.mdColorScheme === "slate"}, "*"); },

  // Maps of attention weights, one after the other in `weights`: a row for each place that looks, a column for each it looks at.
  drawMaps(maps, titles, size, weights) {
    const name = `${titles} ${size}`;
    if (maps.dataset.of !== name) {
      maps.dataset.of = name;
      maps.replaceChildren(...titles.map((title) => {
        const squares = Array.from({length: size * size}, (_, i) =>
          this.svg("rect", {x: i % size, y: Math.floor(i / size), width: 0.94, height: 0.94}));
        return this.make("figure", {}, this.svg("svg", {viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": `Attention, ${title}`}, ...squares),
                         this.make("figcaption", {}, title));
      }));
    }
    const squares = maps.querySelectorAll("rect");
    weights.forEach((weight, i) => squares[i].setAttribute("fill-opacity", (0.06 + 0.94 * weight).toFixed(2)));
  },

  // Calls once for many calls within a short time.
  later(f, milliseconds = 120) {
    let timer;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(f, milliseconds);
    };
  },
};
new MutationObserver(() => document.querySelectorAll("iframe.graph").forEach((frame) => live.tell(frame)))
  .observe(document.body, {attributeFilter: ["data-md-color-scheme"]});
