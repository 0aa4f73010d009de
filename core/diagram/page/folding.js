// Modules folded into boxes and unfolded again.
//
// The picture has a layout for everything unfolded and one for each level of folding, all made by dot, which a page
// does not have. What a reader folds or unfolds beyond a level is shown by the layout that has just enough detail: a
// frame that is open there becomes one box in the middle of its area, and rows and columns that are empty now close up.
// So whole levels look as good as a picture of their own, and a click on one frame leaves all else where it was.

const emptied = 16;  // pixels that remain of rows and columns in which nothing is left
const badgeHeight = 15;  // room for numbers above and below a vertex

class Folding {
  constructor(graph, levels) {
    this.graph = graph;
    this.folded = new Set();
    this.level = graph.deepest;  // modules nested deeper are folded, but for those that were clicked on
    this.labels = Object.assign({}, ...levels.map((level) => level.labels));
    this.boxes = new Map();
    this.boxLayer = svg("g");
    graph.picture.append(this.boxLayer);
    this.hasNumbers = graph.vertices.some((vertex) => vertex.value);
    this.layouts = [...levels.map((level) => layoutOfLevel(graph, level)), layoutOfPicture(graph)];
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
  isShown(thing) { return this.shownAs(thing) === thing; }
  elementOf(shown) { return shown.inside ? this.boxes.get(shown).element : shown.element; }

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
    const isBox = (frame) => this.folded.has(frame) && this.isShown(frame);
    const shown = vertices.filter((vertex) => this.isShown(vertex)), boxes = frames.filter(isBox);
    const open = frames.filter((frame) => this.isShown(frame) && !this.folded.has(frame));
    for (const frame of boxes)
      if (!this.boxes.has(frame)) this.boxes.set(frame, this.#makeBox(frame));
    this.layout = this.layouts.find(
        ({areas, frames}) => shown.every((vertex) => areas.has(vertex)) && open.every((frame) => frames.has(frame)) &&
            boxes.every((frame) => areas.has(frame) || frames.has(frame)));
    this.#closeUp(shown, boxes, open);

    for (const vertex of vertices) {
      vertex.element.classList.toggle("hidden", !this.isShown(vertex));
      if (this.isShown(vertex)) this.#place(vertex, vertex.element, vertex.area, this.layout.areas.get(vertex));
    }
    for (const frame of frames) {
      for (const element of [frame.element, frame.heading]) element.classList.toggle("hidden", !open.includes(frame));
      this.boxes.get(frame)?.element.classList.toggle("hidden", !isBox(frame));
    }
    for (const frame of boxes)
      this.#place(frame, this.boxes.get(frame).element, this.boxes.get(frame).area, this.#areaOfBox(frame));
    for (const frame of open) this.#arrangeFrame(frame);
    const drawn = new Set();
    for (const edge of edges) this.#arrangeEdge(edge, drawn);
    const sides = [...shown, ...boxes, ...open].map((thing) => thing.place);
    this.bounds = {
      left: Math.min(...sides.map((box) => box.left)),
      right: Math.max(...sides.map((box) => box.right)),
      top: Math.min(...sides.map((box) => box.top)),
      bottom: Math.max(...sides.map((box) => box.bottom))
    };
  }

  // Where a folded frame stands in the layout: in its own place, or in the middle of where it is open.
  #areaOfBox(frame) {
    const {areas, frames} = this.layout, {area} = this.boxes.get(frame);
    return around(middle(areas.get(frame) ?? frames.get(frame)), area);
  }

  #closeUp(shown, boxes, open) {
    const {areas, frames, everything} = this.layout;
    const linesOf = (frame) => bordersOf(frames.get(frame), roomOf(frame, frames.get(frame)));
    const kept = [
      ...shown.map((vertex) => areas.get(vertex)), ...boxes.map((frame) => this.#areaOfBox(frame)),
      ...open.flatMap(linesOf)
    ];
    const widths = [], heights = [];
    for (const frame of boxes.filter((frame) => !areas.has(frame))) {
      const {left, right, top, bottom} = frames.get(frame), {area} = this.boxes.get(frame);
      widths.push({from: left, to: right, length: area.right - area.left + 8});
      heights.push({from: top, to: bottom, length: area.bottom - area.top + 8});
    }
    for (const vertex of this.hasNumbers ? shown : []) {
      const {top, bottom} = areas.get(vertex);
      heights.push({from: top - 9, to: top, length: badgeHeight}, {from: bottom, to: bottom + 9, length: badgeHeight});
    }
    this.isAsLaidOut = widths.length === 0 && heights.length === 0;
    const stays = (old) => old;
    this.toX = this.isAsLaidOut ? stays : closingUp(kept, everything, "left", "right", widths);
    this.toY = this.isAsLaidOut ? stays : closingUp(kept, everything, "top", "bottom", heights);
  }

  // What is drawn at `drawn` goes to where `area` has come.
  #place(thing, element, drawn, area) {
    const {x, y} = middle(area);
    thing.place = around({x: this.toX(x), y: this.toY(y)}, area);
    moveTo(element, drawn, thing.place);
  }

  // The area of an open frame grows and shrinks, its title does not.
  #arrangeFrame(frame) {
    const area = this.layout.frames.get(frame), room = roomOf(frame, area), {x, y} = middle(room);
    frame.place = {
      left: this.toX(area.left),
      right: this.toX(area.right),
      top: this.toY(area.top),
      bottom: this.toY(area.bottom)
    };
    const {left, right, top, bottom} = frame.place;
    withAttributes(frame.element.querySelector(".frame"), {x: left, y: top, width: right - left, height: bottom - top});
    moveTo(frame.heading, frame.room, around({x: this.toX(x), y: this.toY(y)}, room));
  }

  // Of edges between the same two things, one of which is folded, the first is drawn.
  #arrangeEdge(edge, drawn) {
    const from = this.shownAs(edge.source), to = this.shownAs(edge.target);
    const curve = from === to ? undefined : this.layout.curveOf(edge);
    const key = from.inside || to.inside ? `${from.id}>${to.id}` : edge.id;
    const isHidden = !curve || drawn.has(key);
    drawn.add(key);
    edge.element.classList.toggle("hidden", isHidden);
    if (isHidden) return;
    let points, tip;
    if (this.isAsLaidOut) {
      points = curve.slice(0, -1);
      tip = curve.at(-1);
      edge.line.setAttribute("d", `M${text(points[0])}C${points.slice(1).map(text).join(" ")}`);
    } else {
      points = this.#bentPoints(curve, from, to);
      tip = points.pop();
    }
    // The head is as long as from the end of the line to the tip.
    const before = points.at(-1) ?? middle(from.place), length = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
    const step = {x: (6.5 * (tip.x - before.x)) / length, y: (6.5 * (tip.y - before.y)) / length};
    const base = {x: tip.x - step.x, y: tip.y - step.y}, side = {x: -step.y / 2.6, y: step.x / 2.6};
    if (!this.isAsLaidOut) edge.line.setAttribute("d", smooth([...points, base]));
    edge.head.setAttribute("d", `M${text(tip)}L${text(sum(base, side))} ${text(difference(base, side))}Z`);
  }

  // Points of the curve where they have come. What lies inside of a frame that is folded now is cut off.
  #bentPoints(curve, from, to) {
    const {areas, frames} = this.layout, isCut = (thing) => Boolean(thing.inside) && frames.has(thing);
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
      points.unshift(borderOf(from.place, points[0] ?? middle(to.place)));
    else
      points[0] = atBox(from, ends[0]);
    if (isCut(to))
      points.push(borderOf(to.place, points.at(-1) ?? middle(from.place)));
    else
      points[points.length - 1] = atBox(to, ends[1]);
    return points;
  }

  // What a module looks like as one vertex.
  #makeBox(frame) {
    const lines =
        this.labels[frame.id] ?? [["headline", frame.title], ["detail", frame.what]].filter(([, words]) => words);
    const paint = ["as-module", "as-gradient"][frame.order] ?? "as-higher";
    const attributes = {
      id: `b${frame.id.slice(1)}`,
      class: `vertex module ${paint}`,
      tabindex: 0,
      role: "button",
      "aria-expanded": "false",
      "aria-label": `module ${frame.path} ${frame.what}, folded`
    };
    const element = svg("g", attributes, svg("title", {}, `${frame.path}: click to unfold`));
    this.boxLayer.append(element);
    const heights = lines.map(([style]) => (style === "headline" ? 16 : 14));
    let y = 4, width = 0;
    for (const [i, [style, words]] of lines.entries()) {
      y += heights[i];
      const line = svg("text", {x: 0, y: y - 4}, svg("tspan", {class: style}, words));
      element.append(line);
      width = Math.max(width, line.getBBox().width + (style === "headline" ? 34 : 18));
    }
    const known = this.layouts.map((layout) => layout.areas.get(frame)).find(Boolean);
    if (known) width = known.right - known.left;
    const area = {left: -width / 2, right: width / 2, top: 0, bottom: known ? known.bottom - known.top : y + 5};
    element.prepend(svg("rect", {class: "box", x: area.left, y: area.top, width, height: area.bottom, rx: 7}));
    element.append(svg("path", {class: "sign", d: `M${area.left + 5},${area.bottom - 11}v6l4.5,-3z`}));
    return {element, area};
  }
}

// ---- Layouts: where vertices, folded frames and open frames stand, and how arrows run ------------------------------

// With everything unfolded, as the picture is drawn.
function layoutOfPicture(graph) {
  const areas = new Map(graph.vertices.map((vertex) => [vertex, vertex.area]));
  return makeLayout(areas, new Map(graph.frames.map((frame) => [frame, frame.area])), (edge) => edge.curve);
}

function layoutOfLevel(graph, {boxes, frames, arrows}) {
  const areasOf = (places) => {
    const found = new Map();
    for (const [id, [left, top, width, height]] of Object.entries(places)) {
      found.set(graph.byId.get(id), {left, top, right: left + width, bottom: top + height});
    }
    return found;
  };
  const areas = areasOf(boxes);
  const thingOf = (vertex) => {
    let thing = vertex;
    while (thing && !areas.has(thing)) thing = thing.around;
    return thing;
  };
  const curves = new Map();
  const curveOf = (edge) => {
    const from = thingOf(edge.source), to = thingOf(edge.target);
    const places = arrows[`${from.id}>${to.id}${from.inside || to.inside ? "" : `#${edge.input}`}`];
    if (!places) return undefined;
    return Array.from({length: places.length / 2}, (_, i) => ({x: places[2 * i], y: places[2 * i + 1]}));
  };
  for (const edge of graph.edges) curves.set(edge, curveOf(edge));
  return makeLayout(areas, areasOf(frames), (edge) => curves.get(edge));
}

function makeLayout(areas, frames, curveOf) {
  const borders = [...frames].flatMap(([frame, area]) => bordersOf(area, roomOf(frame, area)));
  return {areas, frames, curveOf, everything: [...areas.values(), ...borders]};
}

// What has to stay of an open frame: its four sides and its title.
function bordersOf(area, room) {
  return [{...area, right: area.left, bottom: area.top}, {...area, left: area.right, top: area.bottom}, room];
}

// Where the title is in a frame with that area: at the same end of its upper side as in the picture.
function roomOf({area: drawn, room}, area) {
  const x = room.left - drawn.left < drawn.right - room.right ? area.left - drawn.left : area.right - drawn.right;
  const y = area.top - drawn.top;
  return {left: room.left + x, right: room.right + x, top: room.top + y, bottom: room.bottom + y};
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

function moveTo(element, from, to) {
  element.setAttribute("transform", `translate(${to.left - from.left},${to.top - from.top})`);
}

// The parts of a line that the boxes cover, each from where to where.
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
      if (pieces[half].to < old)
        first = half + 1;
      else
        last = half;
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
  if (present > 0 && present < length)
    for (const piece of inside) piece.length *= length / present;
}

// The number of the piece that begins at that place, where one is cut in two if need be.
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

// Where an arrow from that point meets a box.
function borderOf(box, {x, y}) {
  const inset = 7, between = (at, low, high) => Math.min(Math.max(at, low + inset), high - inset);
  if (y <= box.top || y >= box.bottom)
    return {x: between(x, box.left, box.right), y: y <= box.top ? box.top : box.bottom};
  return {x: x <= (box.left + box.right) / 2 ? box.left : box.right, y: between(y, box.top, box.bottom)};
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
