// The pictures that the library has drawn: the whole graph at each level, and the inside of each module. One of them is
// in the document.

class Pictures {
  constructor(graph, list, stage) {
    this.graph = graph;
    this.stage = stage;
    this.levels = list.filter((picture) => !picture.module);
    this.levels.forEach((picture, level) => (picture.level = level));
    this.insides = new Map();  // by the path of the module: its forward and its backward pass are in one picture
    for (const picture of list.filter((picture) => picture.module)) {
      picture.module = graph.byId.get(picture.module);
      this.insides.set(picture.module.path, picture);
    }
  }

  show(picture) {
    this.picture = picture;
    this.level = picture.level ?? this.level;  // that was shown last
    this.svg = parsed(document.getElementById(`picture${picture.picture}`).textContent.trim());
    this.svg.querySelector(".page").remove();  // its background is the page's
    this.svg.setAttribute("role", "group");
    this.stage.replaceChildren(this.svg);
    this.bounds = boxOf(this.svg.viewBox.baseVal);
    this.elements = new Map();                           // vertices, and modules that are boxes -> elements
    this.neighbours = {from: new Map(), to: new Map()};  // vertices outside of the module -> elements
    this.things = new Map();                             // elements -> vertices and modules
    picture.shown.forEach((shown, i) => this.#addVertex(this.svg.getElementById(`n${i}`), shown));
    picture.frames.forEach((id, i) => this.#addTitle(this.svg.getElementById(`t${i}`), this.graph.byId.get(id)));
    this.arrows = Map.groupBy(
        this.svg.querySelectorAll(".edge[data-from]"), ({dataset}) => `${dataset.from}>${dataset.to}`);
  }

  #addVertex(element, shown) {
    if (shown.name !== undefined) return this.#addNeighbour(element, shown);
    const thing = this.graph.byId.get(shown);
    this.elements.set(thing, element);
    const words = thing.isFrame ? ["module", thing.path, thing.what, "open"] :
                                  [thing.op || thing.role, thing.fullName, thing.shape && shapeText(thing.shape)];
    this.#makeButton(element, thing, words);
  }

  // Equal modules share a picture, but not their neighbours.
  #addNeighbour(element, {name, from, to}) {
    const vertices = (from ?? to).map((id) => this.graph.byId.get(id));
    for (const vertex of vertices) this.neighbours[from ? "from" : "to"].set(vertex, element);
    element.querySelector("title").textContent = name;
    element.querySelector("text").replaceChildren(svg("tspan", {class: "headline"}, name));
    element.classList.add("neighbour");
    this.#makeButton(element, vertices[0], [from ? "from" : "to", name]);
  }

  #addTitle(element, frame) { this.#makeButton(element, frame, ["module", frame.path, frame.what, "open"]); }

  #makeButton(element, thing, words) {
    this.things.set(element, thing);
    filled(element, {tabindex: 0, role: "button", "aria-label": words.filter(Boolean).join(" ")});
  }

  // The element that shows a vertex, or else a module around it, if there is one.
  elementOf(vertex) {
    for (let thing = vertex; thing; thing = thing.around)
      if (this.elements.has(thing)) return this.elements.get(thing);
  }
  boxOf(vertex) { return boxOf(this.elementOf(vertex).querySelector(".box").getBBox()); }

  // The arrows that show an edge of the graph.
  arrowsOf({source, target}) {
    const from = this.elementOf(source) ?? this.neighbours.from.get(source);
    const to = this.elementOf(target) ?? this.neighbours.to.get(target);
    return (from && to && this.arrows.get(`${from.id}>${to.id}`)) ?? [];
  }

  // A picture that has the vertex itself, not a module around it: the one that is shown, or the inside of its module.
  pictureOf(vertex) {
    if (this.elements.has(vertex)) return this.picture;
    return vertex.around ? this.insides.get(vertex.around.path) : this.levels[this.level];
  }

  unmark(...names) {
    for (const element of this.svg.querySelectorAll(names.map((name) => `.${name}`).join()))
      element.classList.remove(...names);
  }
}

// The element that a text of C++ describes, in which all names are escaped.
function parsed(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content.firstElementChild;
}

// From a box of the browser: four sides.
function boxOf({x, y, width, height}) { return {left: x, top: y, right: x + width, bottom: y + height}; }

const middle = (box) => ({x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2});

function meets(a, b) { return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }
