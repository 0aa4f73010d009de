// Modules folded into boxes and unfolded again, each where it stands.
//
// The picture is laid out once, by dot, with everything in it. A folded frame becomes one box in the middle of its
// area, and rows and columns that are empty now close up. So whatever was above, below or beside something else remains
// there, and a reader who folds and unfolds never has to look for a thing again; a new layout for each state would move
// all of it, and would have to come from dot, which a page does not have.

const emptied = 16;  // pixels that remain of rows and columns in which nothing is left
const badgeHeight = 15;  // room for numbers above and below a vertex

class Folding {
  constructor(graph) {
    this.graph = graph;
    this.folded = new Set();
    this.level = graph.deepest;  // modules nested deeper are folded, but for those that were clicked on
    this.boxes = new Map();
    this.boxLayer = svg("g");
    graph.picture.append(this.boxLayer);
    this.hasNumbers = graph.vertices.some((vertex) => vertex.value);
    this.everything = [...graph.vertices.map((vertex) => vertex.area), ...graph.frames.flatMap(linesOf)];
    this.arrange();
  }

  // The outermost folded frame around it (or itself), or else the thing itself.
  shownAs(thing) {
    let shown = thing;
    for (let frame = thing.inside ? thing : thing.around; frame; frame = frame.around) {
      if (this.folded.has(frame)) shown = frame;
    }
    return shown;
  }
  isShown(thing) {
    return this.shownAs(thing) === thing;
  }
  elementOf(shown) {
    return shown.inside ? this.boxes.get(shown).element : shown.element;
  }

  // Like every diagram, the picture never has a cycle: what would close one stays open, and the answer is false.
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

  // All frames around a vertex.
  reveal(vertex) {
    for (let frame = vertex.around; frame; frame = frame.around) this.folded.delete(frame);
    this.arrange();
  }

  // Folds what is nested deeper than `level`, and nothing else.
  foldBelow(level) {
    this.#setLevel(level);
    this.arrange();
  }

  // The deepest level at which the picture can still be read as a whole.
  foldToFit(mostEdges) {
    this.#setLevel(this.graph.deepest);
    while (this.level > 0 && this.#arrows().size > mostEdges) this.#setLevel(this.level - 1);
    this.arrange();
  }

  #setLevel(level) {
    this.level = Math.min(Math.max(level, 0), this.graph.deepest);
    this.folded.clear();
    const deep = this.graph.frames.filter((frame) => frame.level > this.level).sort((a, b) => b.level - a.level);
    for (const frame of deep) {
      this.folded.add(frame);
      if (!this.#isAcyclic()) this.folded.delete(frame);
    }
  }

  // For each pair of shown things an edge between them; "from>to" is the key.
  #arrows() {
    const arrows = new Map();
    for (const edge of this.graph.edges) {
      const from = this.shownAs(edge.source), to = this.shownAs(edge.target);
      const key = `${from.id}>${to.id}`;
      if (from !== to && !arrows.has(key)) arrows.set(key, {from, to, edge});
    }
    return arrows;
  }

  // Takes away what nothing leads to until nothing is left (Kahn 1962).
  #isAcyclic() {
    const targets = new Map(), incoming = new Map();
    for (const {from, to} of this.#arrows().values()) {
      targets.set(from, [...(targets.get(from) ?? []), to]);
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
    for (const frame of frames) {
      if (this.folded.has(frame) && !this.boxes.has(frame)) this.boxes.set(frame, this.#makeBox(frame));
    }
    const open = frames.filter((frame) => this.isShown(frame) && !this.folded.has(frame));
    const boxes = frames.filter((frame) => this.isShown(frame) && this.folded.has(frame));
    const shown = vertices.filter((vertex) => this.isShown(vertex));
    const kept = [...shown.map((vertex) => vertex.area), ...boxes.map((frame) => this.boxes.get(frame).area), ...open.flatMap(linesOf)];
    const widths = boxes.map((frame) => {
      const box = this.boxes.get(frame).area;
      return {from: frame.area.left, to: frame.area.right, length: box.right - box.left + 8};
    });
    const heights = boxes.map((frame) => {
      const box = this.boxes.get(frame).area;
      return {from: frame.area.top, to: frame.area.bottom, length: box.bottom - box.top + 8};
    });
    for (const {area: {top, bottom}} of this.hasNumbers ? shown : []) {
      heights.push({from: top - 9, to: top, length: badgeHeight}, {from: bottom, to: bottom + 9, length: badgeHeight});
    }
    this.toX = closingUp(kept, this.everything, "left", "right", widths);
    this.toY = closingUp(kept, this.everything, "top", "bottom", heights);

    for (const vertex of vertices) {
      vertex.element.classList.toggle("hidden", !this.isShown(vertex));
      vertex.place = this.#moved(vertex.area);
      place(vertex.element, vertex.area, vertex.place);
    }
    for (const frame of frames) this.#arrangeFrame(frame, open.includes(frame), boxes.includes(frame));
    const drawn = new Set();
    for (const edge of edges) this.#arrangeEdge(edge, drawn);
    const sides = [...shown, ...boxes, ...open].map((thing) => thing.place);
    this.bounds = {left: Math.min(...sides.map((box) => box.left)), right: Math.max(...sides.map((box) => box.right)),
                   top: Math.min(...sides.map((box) => box.top)), bottom: Math.max(...sides.map((box) => box.bottom))};
  }

  // A box of the layout keeps its size, the area of a frame does not.
  #moved(box) {
    const x = this.toX((box.left + box.right) / 2), y = this.toY((box.top + box.bottom) / 2);
    const width = (box.right - box.left) / 2, height = (box.bottom - box.top) / 2;
    return {left: x - width, right: x + width, top: y - height, bottom: y + height};
  }

  #arrangeFrame(frame, isOpen, isBox) {
    frame.element.classList.toggle("hidden", !isOpen);
    frame.heading.classList.toggle("hidden", !isOpen);
    const box = this.boxes.get(frame);
    box?.element.classList.toggle("hidden", !isBox);
    if (isBox) {
      frame.place = this.#moved(box.area);
      place(box.element, box.area, frame.place);
    } else {
      const {left, right, top, bottom} = frame.area;
      frame.place = {left: this.toX(left), right: this.toX(right), top: this.toY(top), bottom: this.toY(bottom)};
      const sides = {x: frame.place.left, y: frame.place.top, width: frame.place.right - frame.place.left,
                     height: frame.place.bottom - frame.place.top};
      const area = frame.element.querySelector(".frame");
      for (const [name, value] of Object.entries(sides)) area.setAttribute(name, value);
      place(frame.heading, frame.room, this.#moved(frame.room));
    }
  }

  // Of edges between the same two things, one of which is folded, the first is drawn.
  #arrangeEdge(edge, drawn) {
    const from = this.shownAs(edge.source), to = this.shownAs(edge.target);
    const key = `${from.id}>${to.id}`, toBox = Boolean(from.inside || to.inside);
    const isHidden = from === to || (toBox && drawn.has(key));
    drawn.add(key);
    edge.element.classList.toggle("hidden", isHidden);
    if (isHidden) return;
    if (this.folded.size === 0 && !this.hasNumbers) {
      edge.line.setAttribute("d", edge.drawn.line);
      edge.head.setAttribute("d", edge.drawn.head);
      return;
    }
    edge.samples ??= [...samplesOf(edge.curve), edge.tip];
    let points = edge.samples;
    if (from.inside) points = points.slice(points.findLastIndex((point) => isInside(point, from.area)) + 1);
    if (to.inside) {
      const entry = points.findIndex((point) => isInside(point, to.area));
      if (entry >= 0) points = points.slice(0, entry);
    }
    points = points.map(({x, y}) => ({x: this.toX(x), y: this.toY(y)}));
    if (from.inside) points.unshift(borderOf(from.place, points[0] ?? middle(to.place)));
    if (to.inside) points.push(borderOf(to.place, points.at(-1) ?? middle(from.place)));
    const tip = points.pop(), before = points.at(-1) ?? middle(from.place);
    const length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
    const step = {x: (6.5 * (tip.x - before.x)) / length, y: (6.5 * (tip.y - before.y)) / length};
    const base = {x: tip.x - step.x, y: tip.y - step.y};
    edge.line.setAttribute("d", smooth([...points, base]));
    const {x, y} = {x: step.x / 2.6, y: step.y / 2.6};
    edge.head.setAttribute("d", `M${tip.x},${tip.y}L${base.x - y},${base.y + x} ${base.x + y},${base.y - x}Z`);
  }

  // What a module looks like as one vertex: its name, what it is, and how much is in it.
  #makeBox(frame) {
    let operations = 0, numbers = 0;
    for (const vertex of frame.inside) {
      const times = timesWithin(vertex, frame);
      if (vertex.role === "parameter") numbers += times * sizeOf(vertex.shape);
      if (vertex.role === "operation" || vertex.role === "gradient") operations += times;
    }
    const title = frame.times > 1 ? `${frame.title} \u00D7${frame.times}` : frame.title;
    const lines = [["headline", title], ["detail", frame.what],
                   ["detail", (operations !== 1 || numbers === 0) && counted(operations, "operation")],
                   ["detail", numbers > 0 && counted(numbers, "parameter")]].filter(([, text]) => text);
    const paint = ["as-module", "as-gradient"][frame.order] ?? "as-higher";
    const element = svg("g", {id: `b${frame.id.slice(1)}`, class: `vertex module ${paint}`, tabindex: 0, role: "button", "aria-expanded": "false",
                              "aria-label": `module ${frame.path} ${frame.what}, folded`}, svg("title", {}, `${frame.path}: click to unfold`));
    this.boxLayer.append(element);
    const center = middle(frame.area), height = 7 + lines.reduce((sum, [style]) => sum + (style === "headline" ? 16 : 14), 0);
    let y = center.y - height / 2 + 4, width = 0;
    for (const [style, text] of lines) {
      y += style === "headline" ? 16 : 14;
      const line = svg("text", {x: center.x, y: y - 4}, svg("tspan", {class: style}, text));
      element.append(line);
      width = Math.max(width, line.getBBox().width + 30);
    }
    const area = {left: center.x - width / 2, right: center.x + width / 2, top: center.y - height / 2, bottom: center.y + height / 2};
    element.prepend(svg("rect", {class: "box", x: area.left, y: area.top, width, height, rx: 7}));
    element.append(svg("path", {class: "sign", d: `M${area.left + 6},${area.top + 6}v7l5.5,-3.5z`}));
    return {element, area};
  }
}

// How often a vertex stands in a module of which equal parts are drawn once.
function timesWithin(vertex, frame) {
  let times = 1;
  for (let around = vertex.around; around !== frame; around = around.around) times *= around.times;
  return times;
}

// ---- Geometry -------------------------------------------------------------------------------------------------------

const middle = (box) => ({x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2});
const isInside = ({x, y}, box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;

// What has to stay of an open frame: its four sides and its title.
function linesOf({area, room}) {
  return [{...area, right: area.left, bottom: area.top}, {...area, left: area.right, top: area.bottom}, room];
}

function place(element, from, to) {
  element.setAttribute("transform", `translate(${to.left - from.left},${to.top - from.top})`);
}

// The parts of a line that the boxes cover, each from where to where.
function covered(boxes, low, high) {
  const parts = [];
  for (const box of [...boxes].sort((a, b) => a[low] - b[low])) {
    const last = parts.at(-1);
    if (last && box[low] <= last[1]) last[1] = Math.max(last[1], box[high]);
    else parts.push([box[low], box[high]]);
  }
  return parts;
}

// A function from old places to new ones, along one axis. What is kept stays as long as it was. A part in which nothing
// is kept becomes as short as the widest gap that was in it. What needs more than that is stretched.
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
      if (pieces[half].to < old) first = half + 1;
      else last = half;
    }
    const {from, to, length} = pieces[first];
    return starts[first] + (to > from ? (length * (old - from)) / (to - from) : 0);
  };
}

// Makes what lies between two places at least that long.
function stretch(pieces, {from, to, length}) {
  const first = splitAt(pieces, Math.max(from, pieces[0].from)), end = splitAt(pieces, Math.min(to, pieces.at(-1).to));
  const inside = pieces.slice(first, end);
  const present = inside.reduce((sum, piece) => sum + piece.length, 0);
  if (present > 0 && present < length) for (const piece of inside) piece.length *= length / present;
}

// The number of the piece that begins at that place, where one is cut in two if need be.
function splitAt(pieces, place) {
  const i = pieces.findIndex((piece) => piece.to > place);
  if (i < 0) return pieces.length;
  const piece = pieces[i];
  if (piece.from >= place) return i;
  const length = (piece.length * (place - piece.from)) / (piece.to - piece.from);
  pieces.splice(i, 1, {from: piece.from, to: place, length}, {from: place, to: piece.to, length: piece.length - length});
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

// Where an arrow from that point meets a box.
function borderOf(box, {x, y}) {
  const inset = 7, between = (at, low, high) => Math.min(Math.max(at, low + inset), high - inset);
  if (y <= box.top || y >= box.bottom) return {x: between(x, box.left, box.right), y: y <= box.top ? box.top : box.bottom};
  return {x: x <= (box.left + box.right) / 2 ? box.left : box.right, y: between(y, box.top, box.bottom)};
}

// A line through the midpoints, bent at the points.
function smooth(points) {
  const text = ({x, y}) => `${x.toFixed(1)},${y.toFixed(1)}`;
  const halfway = (a, b) => ({x: (a.x + b.x) / 2, y: (a.y + b.y) / 2});
  let path = `M${text(points[0])}`;
  for (let i = 1; i + 1 < points.length; ++i) path += `Q${text(points[i])} ${text(halfway(points[i], points[i + 1]))}`;
  return `${path}L${text(points.at(-1))}`;
}
