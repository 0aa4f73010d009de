// The graph: what the JSON says of it, and where the SVG draws it. Ids are the same in both.

class Graph {
  constructor(json, picture) {
    this.picture = picture;
    this.vertices = json.vertices;
    this.edges = json.edges;
    this.frames = json.frames;
    this.byId = new Map([...this.vertices, ...this.edges, ...this.frames].map((thing) => [thing.id, thing]));
    for (const frame of this.frames) this.#findFrame(frame);
    for (const vertex of this.vertices) this.#findVertex(vertex);
    for (const edge of this.edges) this.#findEdge(edge);
    this.deepest = Math.max(0, ...this.frames.map((frame) => frame.level));
  }

  #element(id) { return this.picture.querySelector(`#${id}`); }

  // Parents come before children.
  #findFrame(frame) {
    frame.around = this.byId.get(frame.parent) ?? null;
    frame.level = frame.around ? frame.around.level + 1 : 1;
    frame.inside = [];
    frame.element = this.#element(frame.id);
    frame.heading = this.#element(frame.id.replace("c", "t"));
    frame.area = boxOf(frame.element.querySelector(".frame"));
    frame.room = boxOf(frame.heading.getBBox());
    this.#addSign(frame);
  }

  // A triangle beside the title says that the frame can be folded.
  #addSign(frame) {
    const {left, right, top, bottom} = frame.room, y = (top + bottom) / 2;
    const atLeft = left - frame.area.left < frame.area.right - right;
    const x = atLeft ? left - 10 : right + 3;
    frame.heading.append(svg("path", {class: "sign", d: `M${x},${y - 2.5}h7l-3.5,5.5z`}));
    frame.heading.append(svg("title", {}, `${frame.path}: click to fold`));
  }

  #findVertex(vertex) {
    vertex.around = this.byId.get(vertex.frame) ?? null;
    vertex.fullName = [vertex.path, vertex.name].filter(Boolean).join(".");
    vertex.element = this.#element(vertex.id);
    vertex.area = boxOf(vertex.element.querySelector(".box").getBBox());
    vertex.into = [];
    vertex.outOf = [];
    for (let frame = vertex.around; frame; frame = frame.around) frame.inside.push(vertex);
  }

  #findEdge(edge) {
    edge.source = this.byId.get(edge.from);
    edge.target = this.byId.get(edge.to);
    edge.source.outOf.push(edge);
    edge.target.into.push(edge);
    edge.element = this.#element(edge.id);
    edge.line = edge.element.querySelector(".line");
    edge.head = edge.element.querySelector(".head");
    const pairs =
        (path) => [...path.matchAll(/(-?[\d.]+),(-?[\d.]+)/g)].map(([, x, y]) => ({x: Number(x), y: Number(y)}));
    edge.curve = [...pairs(edge.line.getAttribute("d")), pairs(edge.head.getAttribute("d"))[0]];  // and the tip
  }
}

// A vertex in a word: its name, or else its operation.
function called(vertex) {
  if (vertex.number !== undefined) return short(vertex.number);
  return vertex.name ? vertex.fullName : vertex.op || vertex.role;
}

// From a rectangle, an element with its attributes or a box of the browser, as four sides.
function boxOf(box) {
  const [x, y, width, height] =
      ["x", "y", "width", "height"].map((side) => box instanceof Element ? Number(box.getAttribute(side)) : box[side]);
  return {left: x, top: y, right: x + width, bottom: y + height};
}
