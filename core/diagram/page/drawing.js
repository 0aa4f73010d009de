// The elements of the picture. Only those near the visible part are in the document: elements are made from their texts
// when they come near, and removed when they are far.

class Drawing {
  constructor(stage, text) {
    const rest = [];
    this.texts = new Map();  // by id
    for (const part of text.split(/\n(?=<g|<text|<\/svg)/)) {
      const id = /^<g id="(\w+)"/.exec(part)?.[1];
      if (id)
        this.texts.set(id, part);
      else
        rest.push(part);
    }
    this.picture = parsed(rest.join("\n"));
    for (const name of ["width", "height", "viewBox"]) this.picture.removeAttribute(name);
    this.picture.setAttribute("role", "group");
    this.picture.querySelector(".page").remove();  // its background is the page's
    this.world = svg("g");
    this.layers = {frames: svg("g"), edges: svg("g"), titles: svg("g"), vertices: svg("g"), badges: svg("g")};
    this.world.append(...Object.values(this.layers));
    this.parts = Object.fromEntries(Object.keys(this.layers).map((name) => [name, []]));
    this.drawn = new Map();  // elements in the document: id -> {element, part}
    this.marks = new Map();  // id -> classes of its element
    this.sight = {left: 0, right: 0, top: 0, bottom: 0};
    this.onMake = () => {};
    this.#moveKey(stage);
    this.picture.append(this.world);
  }

  // The legend, and everything else above the picture, stays in a corner while the picture moves.
  #moveKey(stage) {
    stage.append(this.picture);
    const entries = [...this.picture.children].filter((child) => !child.matches("title, desc"));
    if (entries.length === 0) return;
    const boxes = entries.map((entry) => boxOf(entry.getBBox()));
    const {left, right, top, bottom} = boxAround(boxes);
    const attributes = {
      class: `${this.picture.getAttribute("class")} key`,
      viewBox: `${left - 2} ${top - 2} ${right - left + 4} ${bottom - top + 4}`,
      width: right - left + 4,
      "font-family": this.picture.getAttribute("font-family"),
      "aria-hidden": "true"
    };
    stage.append(svg("svg", attributes, ...entries));
  }

  // A new element as the library draws it.
  original(id) { return parsed(`<svg>${this.texts.get(id)}</svg>`).firstElementChild; }

  // Its element in the document, if there is one.
  element(id) { return this.drawn.get(id)?.element; }

  // A class for an element, whether it is in the document now or not.
  mark(id, name) {
    if (!this.marks.has(id)) this.marks.set(id, new Set());
    this.marks.get(id).add(name);
    this.element(id)?.classList.add(name);
  }
  unmark(...names) {
    for (const [id, marks] of this.marks) {
      for (const name of names) marks.delete(name);
      this.element(id)?.classList.remove(...names);
    }
  }

  // The parts of a layer to draw, in this order: {id, box, make, place}. They are drawn by the next look.
  setParts(layer, parts) { this.parts[layer] = parts; }

  // Makes visible elements, and removes others. The element with the keyboard's focus stays.
  look(sight = this.sight) {
    this.sight = sight;
    const focused = document.activeElement?.id;
    for (const [name, layer] of Object.entries(this.layers)) {
      const near = this.parts[name].filter(({id, box}) => meets(box, sight) || (focused && id === focused));
      const stay = new Set(near.map((part) => part.id));
      for (const element of [...layer.children]) {
        if (stay.has(element.id)) continue;
        element.remove();
        this.drawn.delete(element.id);
      }
      let next = layer.firstElementChild;
      for (const part of near) {
        const element = this.#drawnAs(part);
        if (element === next)
          next = next.nextElementSibling;
        else
          layer.insertBefore(element, next);
      }
    }
  }

  #drawnAs(part) {
    const drawn = this.drawn.get(part.id) ?? {element: this.#made(part)};
    if (drawn.part !== part) part.place(drawn.element);
    drawn.part = part;
    this.drawn.set(part.id, drawn);
    return drawn.element;
  }

  #made({id, make}) {
    const element = make ? make() : this.original(id);
    element.id = id;
    element.classList.add(...(this.marks.get(id) ?? []));
    this.onMake(id, element);
    return element;
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

// Of a shape, by its attributes.
function boxOfShape(shape) {
  const [x, y, width, height, rx, ry, cx, cy] =
      ["x", "y", "width", "height", "rx", "ry", "cx", "cy"].map((name) => Number(shape.getAttribute(name)));
  return shape.tagName === "ellipse" ? {left: cx - rx, right: cx + rx, top: cy - ry, bottom: cy + ry} :
                                       boxOf({x, y, width, height});
}

// The smallest box around all of them.
function boxAround(boxes) {
  const box = {left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity};
  for (const {left, right, top, bottom} of boxes) {
    box.left = Math.min(box.left, left);
    box.right = Math.max(box.right, right);
    box.top = Math.min(box.top, top);
    box.bottom = Math.max(box.bottom, bottom);
  }
  return box;
}

function meets(a, b) { return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; }
