// Modules folded into boxes and unfolded again.
//
// Each level of folding has a layout, made by the library. Frames that a reader folds or unfolds beyond a level are
// shown by the layout that has just enough detail: a frame that is open there becomes one box in the middle of its
// area, and rows and columns that are empty now close up. So whole levels look as good as a picture of their own, and a
// click on one frame leaves everything else in place.

const emptied = 16;  // pixels that remain of empty rows and columns
const titleHeight = 20;
const badgeHeight = 15;  // room for numbers above and below a vertex

class Folding {
  constructor(graph, levels, drawing) {
    this.graph = graph;
    this.drawing = drawing;
    this.folded = new Set();
    this.level = graph.deepest;  // modules nested deeper are folded, except those that were clicked on
    this.labels = Object.assign({}, ...levels.map((level) => level.labels));
    this.hasNumbers = graph.vertices.some((vertex) => vertex.value);
    this.layouts = levels.map((level) => new Layout(graph, level));
    this.sizes = new Map();  // of folded frames
    for (const [id, , , , , titleWidth] of levels.at(-1).frames) graph.byId.get(id).titleWidth = titleWidth;
  }

  // The outermost folded frame around it (or itself), or else the element itself.
  shownAs(thing) {
    let shown = thing;
    for (let frame = thing.isFrame ? thing : thing.around; frame; frame = frame.around) {
      if (this.folded.has(frame)) shown = frame;
    }
    return shown;
  }
  isShown(thing) { return this.shownAs(thing) === thing; }

  // The id under which a vertex or a frame is drawn.
  idOf(shown) {
    if (!shown.isFrame) return shown.id;
    return shown.id.replace("c", this.folded.has(shown) ? "b" : "t");
  }

  // Like every diagram, the picture never has a cycle: a frame that would close one stays open, and the result is false.
  fold(frame) {
    this.folded.add(frame);
    if (!this.#isAcyclic()) this.folded.delete(frame);
    this.arrange();
    return this.folded.has(frame);
  }

  unfold(frame) {
    this.folded.delete(frame);
    this.arrange();
  }

  // Unfolds all frames around a vertex, or a frame and those around it.
  reveal(thing) {
    for (let frame = thing.isFrame ? thing : thing.around; frame; frame = frame.around) this.folded.delete(frame);
    this.arrange();
  }

  // Folds everything nested deeper than `level`, and nothing else.
  foldBelow(level) {
    this.#setLevel(level);
    this.arrange();
  }

  // The deepest level at which the picture is still readable as a whole.
  foldToFit(mostEdges) {
    let level = this.graph.deepest;
    while (level > 0 && this.#arrowsAt(level) > mostEdges) --level;
    this.foldBelow(level);
  }

  #arrowsAt(level) {
    const layout = this.layouts.find((layout) => layout.level === level);
    if (layout) return layout.arrows;
    this.#setLevel(level);
    return this.#arrows().size;
  }

  #setLevel(level) {
    this.level = Math.min(Math.max(level, 0), this.graph.deepest);
    this.folded.clear();
    const deep = this.graph.frames.filter((frame) => frame.level > this.level).sort((a, b) => b.level - a.level);
    const layout = this.layouts.find((layout) => layout.level === this.level);
    for (const frame of deep) {
      if (layout?.frames.has(frame)) continue;
      this.folded.add(frame);
      if (!layout && !this.#isAcyclic()) this.folded.delete(frame);
    }
  }

  // An edge between each pair of visible items; "from>to" is the key.
  #arrows() {
    const arrows = new Map();
    for (const edge of this.graph.edges) {
      const from = this.shownAs(edge.source), to = this.shownAs(edge.target);
      const key = `${from.id}>${to.id}`;
      if (from !== to && !arrows.has(key)) arrows.set(key, {from, to, edge});
    }
    return arrows;
  }

  // Removes items without inputs until nothing is left (Kahn 1962).
  #isAcyclic() {
    const targets = new Map(), incoming = new Map();
    for (const {from, to} of this.#arrows().values()) {
      if (!targets.has(from)) targets.set(from, []);
      targets.get(from).push(to);
      incoming.set(to, (incoming.get(to) ?? 0) + 1);
    }
    const free = [...targets.keys()].filter((thing) => !incoming.has(thing));
    while (free.length > 0) {
      for (const target of targets.get(free.pop()) ?? []) {
        incoming.set(target, incoming.get(target) - 1);
        if (incoming.get(target) === 0) {
          incoming.delete(target);
          free.push(target);
        }
      }
    }
    return incoming.size === 0;
  }

  // ---- Where everything stands -------------------------------------------------------------------------------------

  arrange() {
    const {vertices, frames, edges} = this.graph;
    const shown = vertices.filter((vertex) => this.isShown(vertex)),
          visible = frames.filter((frame) => this.isShown(frame));
    const boxes = visible.filter((frame) => this.folded.has(frame)),
          open = visible.filter((frame) => !this.folded.has(frame));
    this.layout = this.layouts.find(
        ({areas, frames}) => shown.every((vertex) => areas.has(vertex)) && open.every((frame) => frames.has(frame)) &&
            boxes.every((frame) => areas.has(frame) || frames.has(frame)));
    this.#closeUp(shown, boxes, open);

    for (const vertex of shown) vertex.place = this.#moved(this.layout.areas.get(vertex));
    for (const frame of boxes) frame.place = this.#moved(this.#areaOfBox(frame));
    for (const frame of open) {
      const {left, right, top, bottom} = this.layout.frames.get(frame);
      frame.place = {left: this.toX(left), right: this.toX(right), top: this.toY(top), bottom: this.toY(bottom)};
    }
    this.shown = [...shown, ...boxes];
    this.bounds = boxAround([...this.shown, ...open].map((thing) => thing.place));
    this.drawing.setParts("frames", open.map((frame) => this.#frameAsPart(frame)));
    this.drawing.setParts("edges", this.#edgesAsParts(edges));
    this.drawing.setParts("titles", open.map((frame) => this.#titleAsPart(frame)));
    this.drawing.setParts("vertices", inOrder(shown, boxes).map((thing) => this.#vertexAsPart(thing)));
  }

  // The area of a folded frame in the layout: its own place, or the middle of where it is open.
  #areaOfBox(frame) {
    const {areas, frames} = this.layout;
    return areas.get(frame) ?? around(middle(frames.get(frame)), this.#sizeOfBox(frame));
  }

  // As in a layout in which it is folded, or by its letters.
  #sizeOfBox(frame) {
    if (!this.sizes.has(frame)) {
      const known = this.layouts.map((layout) => layout.areas.get(frame)).find(Boolean);
      const lines = this.#linesOf(frame), longest = Math.max(...lines.map(([, words]) => words.length));
      this.sizes.set(frame, known ?? {left: 0, right: 8 * longest + 24, top: 0, bottom: 15 * lines.length + 10});
    }
    return this.sizes.get(frame);
  }

  #linesOf(frame) {
    return this.labels[frame.id] ?? [["headline", frame.title], ["detail", frame.what]].filter(([, words]) => words);
  }

  #closeUp(shown, boxes, open) {
    const {areas, frames} = this.layout;
    const widths = [], heights = [];
    for (const frame of boxes.filter((frame) => !areas.has(frame))) {
      const {left, right, top, bottom} = frames.get(frame), size = this.#sizeOfBox(frame);
      widths.push({from: left, to: right, length: size.right - size.left + 8});
      heights.push({from: top, to: bottom, length: size.bottom - size.top + 8});
    }
    for (const vertex of this.hasNumbers ? shown : []) {
      const {top, bottom} = areas.get(vertex);
      heights.push({from: top - 9, to: top, length: badgeHeight}, {from: bottom, to: bottom + 9, length: badgeHeight});
    }
    this.isAsLaidOut = widths.length === 0 && heights.length === 0;
    this.toX = this.toY = (old) => old;
    if (this.isAsLaidOut) return;
    const everything = [...areas.values(), ...[...frames].flatMap(([frame, area]) => bordersOf(frame, area))];
    const kept = [
      ...shown.map((vertex) => areas.get(vertex)), ...boxes.map((frame) => this.#areaOfBox(frame)),
      ...open.flatMap((frame) => bordersOf(frame, frames.get(frame)))
    ];
    this.toX = closingUp(kept, everything, "left", "right", widths);
    this.toY = closingUp(kept, everything, "top", "bottom", heights);
  }

  #moved(area) {
    const {x, y} = middle(area);
    return around({x: this.toX(x), y: this.toY(y)}, area);
  }

  // ---- What is drawn -----------------------------------------------------------------------------------------------

  #frameAsPart(frame) {
    const {left, right, top, bottom} = frame.place;
    const size = {x: left, y: top, width: right - left, height: bottom - top};
    return {id: frame.id, box: frame.place, place: (element) => withAttributes(element.querySelector(".frame"), size)};
  }

  #titleAsPart(frame) {
    const {left, top} = frame.place;
    const box = {left, top, right: frame.place.right, bottom: top + titleHeight};
    const place = (element) => {
      const drawn = boxOfShape(this.drawing.original(frame.id).querySelector(".frame"));
      const x = left - drawn.left + this.#freeEnd(frame), y = top - drawn.top;
      element.setAttribute("transform", `translate(${x},${y})`);
    };
    return {id: this.idOf(frame), box, place, make: () => this.#makeTitle(frame)};
  }

  // How far to the right the title is: at the other end of the frame's upper side if fewer arrows pass there.
  #freeEnd(frame) {
    const {left, top, right} = frame.place, far = right - left - frame.titleWidth - 14;
    const room = {left, right: left + frame.titleWidth + 14, top, bottom: top + titleHeight};
    if (far < frame.titleWidth) return 0;
    const rooms = [room, {...room, left: room.left + far, right: room.right + far}];
    const [here, there] =
        rooms.map((room) => this.drawing.parts.edges.filter(({box, isIn}) => meets(box, room) && isIn(room)));
    return there.length < here.length ? far : 0;
  }

  // With a triangle before it, which says that the frame can be folded.
  #makeTitle(frame) {
    const title = this.drawing.original(this.idOf(frame)), words = title.querySelector("text");
    const x = Number(words.getAttribute("x")) - 10, y = Number(words.getAttribute("y")) - 6;
    title.append(
        svg("path", {class: "sign", d: `M${x},${y}h7l-3.5,5.5z`}), svg("title", {}, `${frame.path}: click to fold`));
    const label = `module ${frame.path} ${frame.what}, open`;
    return withAttributes(title, {tabindex: 0, role: "button", "aria-expanded": "true", "aria-label": label});
  }

  #vertexAsPart(thing) {
    const id = this.idOf(thing), box = thing.place;
    if (thing.isFrame) {
      const place = (element) => element.setAttribute("transform", `translate(${box.left},${box.top})`);
      return {id, box, place, make: () => this.#makeBox(thing)};
    }
    const place = (element) => {
      const drawn = boxOfShape(element.querySelector(".box"));
      element.setAttribute("transform", `translate(${box.left - drawn.left},${box.top - drawn.top})`);
    };
    return {id, box, place, make: () => this.#makeVertex(thing)};
  }

  #makeVertex(vertex) {
    const words = [vertex.op || vertex.role, vertex.fullName, vertex.shape && shapeText(vertex.shape)];
    const label = words.filter(Boolean).join(" ");
    return withAttributes(this.drawing.original(vertex.id), {tabindex: 0, role: "button", "aria-label": label});
  }

  // Of edges between the same two items, one of which is folded, the first is drawn.
  #edgesAsParts(edges) {
    const parts = [], drawn = new Set();
    for (const edge of edges) {
      const from = this.shownAs(edge.source), to = this.shownAs(edge.target);
      const curve = from === to ? undefined : this.layout.curveOf(edge);
      const key = from.isFrame || to.isFrame ? `${from.id}>${to.id}` : edge.id;
      if (!curve || drawn.has(key)) continue;
      drawn.add(key);
      const ways =
          curve.map(({x, y}) => ({left: this.toX(x), right: this.toX(x), top: this.toY(y), bottom: this.toY(y)}));
      const place = (element) => this.#placeEdge(element, curve, from, to);
      const isIn = (room) => samplesOf(curve).some(({x, y}) => isInside({x: this.toX(x), y: this.toY(y)}, room));
      const box = boxAround([from.place, to.place, ...ways]);
      parts.push({id: edge.id, box, place, isIn, make: () => this.#makeEdge(edge)});
    }
    return parts;
  }

  #makeEdge(edge) {
    const pass = edge.source.order !== edge.target.order ? "borrowed" : edge.target.order > 0 ? "gradient" : "value";
    return svg(
        "g", {class: `edge ${pass} ${edge.flow}`}, svg("title", {}, shapeText(edge.shape)),
        svg("path", {class: "line"}), svg("path", {class: "head"}));
  }

  #placeEdge(element, curve, from, to) {
    let points, tip;
    if (this.isAsLaidOut) {
      points = curve.slice(0, -1);
      tip = curve.at(-1);
    } else {
      points = this.#bentPoints(curve, from, to);
      tip = points.pop();
    }
    // The head is as long as from the end of the line to the tip.
    const before = points.at(-1) ?? middle(from.place), length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
    const step = {x: (6.5 * (tip.x - before.x)) / length, y: (6.5 * (tip.y - before.y)) / length};
    const base = {x: tip.x - step.x, y: tip.y - step.y}, side = {x: -step.y / 2.6, y: step.x / 2.6};
    const line =
        this.isAsLaidOut ? `M${text(points[0])}C${points.slice(1).map(text).join(" ")}` : smooth([...points, base]);
    element.querySelector(".line").setAttribute("d", line);
    element.querySelector(".head").setAttribute(
        "d", `M${text(tip)}L${text(sum(base, side))} ${text(difference(base, side))}Z`);
  }

  // The moved points of the curve. The part inside a frame that is folded now is cut off.
  #bentPoints(curve, from, to) {
    const {areas, frames} = this.layout, isCut = (thing) => Boolean(thing.isFrame) && frames.has(thing);
    let points = [...samplesOf(curve.slice(0, -1)), curve.at(-1)];
    if (isCut(from)) points = points.slice(points.findLastIndex((point) => isInside(point, frames.get(from))) + 1);
    if (isCut(to)) {
      const entry = points.findIndex((point) => isInside(point, frames.get(to)));
      if (entry >= 0) points = points.slice(0, entry);
    }
    const ends = [points[0], points.at(-1)];
    points = points.map(({x, y}) => ({x: this.toX(x), y: this.toY(y)}));
    const atBox = (thing, end) => sum(middle(thing.place), difference(end, middle(areas.get(thing))));
    if (isCut(from))
      points.unshift(middleOfSide(from.place, points[0] ?? middle(to.place)));
    else
      points[0] = atBox(from, ends[0]);
    if (isCut(to))
      points.push(middleOfSide(to.place, points.at(-1) ?? middle(from.place)));
    else
      points[points.length - 1] = atBox(to, ends[1]);
    return points;
  }

  // A module as one vertex.
  #makeBox(frame) {
    const paint = ["as-module", "as-gradient"][frame.order] ?? "as-higher";
    const attributes = {
      class: `vertex module ${paint}`,
      tabindex: 0,
      role: "button",
      "aria-expanded": "false",
      "aria-label": `module ${frame.path} ${frame.what}, folded`
    };
    const size = this.#sizeOfBox(frame), width = size.right - size.left, height = size.bottom - size.top;
    const element =
        svg("g", attributes, svg("title", {}, `${frame.path}: click to unfold`),
            svg("rect", {class: "box", width, height, rx: 7}),
            svg("path", {class: "sign", d: `M5,${height - 11}v6l4.5,-3z`}));
    const lines = this.#linesOf(frame), heights = lines.map(([style]) => (style === "headline" ? 16 : 14));
    let y = (height - heights.reduce((sum, height) => sum + height, 0)) / 2;
    for (const [i, [style, words]] of lines.entries()) {
      y += heights[i];
      element.append(svg("text", {x: width / 2, y: y - 4}, svg("tspan", {class: style}, words)));
    }
    return element;
  }
}

// Vertices in their order, folded frames where the first of their vertices would be: this is the Tab order.
function inOrder(vertices, boxes) {
  const index = (thing) => (thing.isFrame ? thing.first : thing).index;
  return [...vertices, ...boxes].sort((a, b) => index(a) - index(b));
}

// ---- Layouts: where vertices, folded frames and open frames stand, and how arrows run ------------------------------

class Layout {
  #graph;
  #json;
  #found = {};

  constructor(graph, json) {
    this.#graph = graph;
    this.#json = json;
    this.level = json.level;
    this.arrows = json.arrows.length;
  }

  // Boxes of vertices and folded frames; of open frames; curves of arrows, "n0>n2#1".
  get areas() { return (this.#found.areas ??= this.#boxesOf(this.#json.boxes)); }
  get frames() { return (this.#found.frames ??= this.#boxesOf(this.#json.frames)); }
  get curves() {
    const entry = ([from, to, input, places]) => [`${from}>${to}#${input}`, places];
    return (this.#found.curves ??= new Map(this.#json.arrows.map(entry)));
  }

  #boxesOf(list) {
    const entry = ([id, x, y, width, height]) => [this.#graph.byId.get(id), boxOf({x, y, width, height})];
    return new Map(list.map(entry));
  }

  // The curve of an edge and its tip, if both its ends are visible at this level.
  curveOf(edge) {
    const from = this.#thingOf(edge.source), to = this.#thingOf(edge.target);
    const input = from.isFrame || to.isFrame ? 0 : edge.input;
    const places = this.curves.get(`${from.id}>${to.id}#${input}`);
    return places && Array.from({length: places.length / 2}, (_, i) => ({x: places[2 * i], y: places[2 * i + 1]}));
  }

  #thingOf(vertex) {
    let thing = vertex;
    while (!this.areas.has(thing)) thing = thing.around;
    return thing;
  }
}

// The parts of an open frame that keep their size: its four sides and its title.
function bordersOf(frame, area) {
  const title =
      {left: area.left + 6, right: area.left + 6 + frame.titleWidth, top: area.top, bottom: area.top + titleHeight};
  return [{...area, right: area.left, bottom: area.top}, {...area, left: area.right, top: area.bottom}, title];
}

// ---- Geometry -------------------------------------------------------------------------------------------------------

const middle = (box) => ({x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2});
const sum = (a, b) => ({x: a.x + b.x, y: a.y + b.y});
const difference = (a, b) => ({x: a.x - b.x, y: a.y - b.y});
const text = ({x, y}) => `${x.toFixed(1)},${y.toFixed(1)}`;
const isInside = ({x, y}, box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;

// A box of that size around a point.
function around({x, y}, size) {
  const width = (size.right - size.left) / 2, height = (size.bottom - size.top) / 2;
  return {left: x - width, right: x + width, top: y - height, bottom: y + height};
}

// The parts of a line that the boxes cover, each with its start and end.
function covered(boxes, low, high) {
  const parts = [];
  for (const box of [...boxes].sort((a, b) => a[low] - b[low])) {
    const last = parts.at(-1);
    if (last && box[low] <= last[1])
      last[1] = Math.max(last[1], box[high]);
    else
      parts.push([box[low], box[high]]);
  }
  return parts;
}

// A function from old positions to new ones, along one axis. Kept parts stay as long as they were. A part in which
// nothing is kept becomes as short as the widest gap that was in it. Parts that need more than that are stretched.
function closingUp(kept, everything, low, high, needs) {
  const parts = covered(kept, low, high), before = covered(everything, low, high);
  if (parts.length === 0) return (old) => old;
  const pieces = [];  // each {from, to, length}, the next one begins where it ends
  let next = 0;
  for (const [i, [from, to]] of parts.entries()) {
    pieces.push({from, to, length: to - from});
    if (i + 1 === parts.length) break;
    const end = parts[i + 1][0];
    let gap = emptied;
    for (; next + 1 < before.length && before[next + 1][0] <= end; ++next) {
      if (before[next][1] >= to) gap = Math.max(gap, before[next + 1][0] - before[next][1]);
    }
    pieces.push({from: to, to: end, length: Math.min(end - to, gap)});
  }
  for (const need of needs) stretch(pieces, need);
  const starts = [pieces[0].from];
  for (const piece of pieces) starts.push(starts.at(-1) + piece.length);
  return (old) => {
    let first = 0, last = pieces.length - 1;
    if (old <= pieces[first].from) return old;
    if (old >= pieces[last].to) return starts.at(-1) + old - pieces[last].to;
    while (first < last) {
      const half = (first + last) >> 1;
      if (pieces[half].to < old)
        first = half + 1;
      else
        last = half;
    }
    const {from, to, length} = pieces[first];
    return starts[first] + (to > from ? (length * (old - from)) / (to - from) : 0);
  };
}

// Stretches everything between two positions to at least that length.
function stretch(pieces, {from, to, length}) {
  const first = splitAt(pieces, Math.max(from, pieces[0].from)), end = splitAt(pieces, Math.min(to, pieces.at(-1).to));
  const inside = pieces.slice(first, end);
  const present = inside.reduce((sum, piece) => sum + piece.length, 0);
  if (present > 0 && present < length)
    for (const piece of inside) piece.length *= length / present;
}

// The number of the piece that begins at that position, where one is cut in two if necessary.
function splitAt(pieces, place) {
  const i = pieces.findIndex((piece) => piece.to > place);
  if (i < 0) return pieces.length;
  const piece = pieces[i];
  if (piece.from >= place) return i;
  const length = (piece.length * (place - piece.from)) / (piece.to - piece.from);
  pieces.splice(
      i, 1, {from: piece.from, to: place, length}, {from: place, to: piece.to, length: piece.length - length});
  return i + 1;
}

// Points along a Bezier curve: its beginning, then three points for each piece.
function samplesOf(curve) {
  const points = [curve[0]], perPiece = 8;
  for (let i = 0; i + 3 < curve.length; i += 3) {
    for (let k = 1; k <= perPiece; ++k) {
      const t = k / perPiece, s = 1 - t;
      const weights = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];
      const along = (side) => weights.reduce((sum, weight, j) => sum + weight * curve[i + j][side], 0);
      points.push({x: along("x"), y: along("y")});
    }
  }
  return points;
}

// The point where an arrow from that point meets a box: the middle of the side that it reaches.
function middleOfSide(box, {x, y}) {
  const center = middle(box);
  if (y <= box.top || y >= box.bottom) return {x: center.x, y: y <= box.top ? box.top : box.bottom};
  return {x: x <= center.x ? box.left : box.right, y: center.y};
}

// A line through the midpoints, bent at the points.
function smooth(points) {
  let path = `M${text(points[0])}`;
  for (let i = 1; i + 1 < points.length; ++i) {
    const {x, y} = sum(points[i], points[i + 1]);
    path += `Q${text(points[i])} ${text({x: x / 2, y: y / 2})}`;
  }
  return `${path}L${text(points.at(-1))}`;
}
