// The visible part of the picture: moved by dragging and arrows, zoomed by the wheel, two fingers, and + and -.
//
// While it moves the browser shifts and scales existing drawings. Letters are redrawn only when it has come to rest at
// another scale, and elements are made only when it leaves the drawn area.

const leastScale = 0.04;
const legible = 0.75;  // the scale at which the smallest letters have 8 pixels

class Camera {
  constructor(stage, drawing) {
    this.stage = stage;
    this.drawing = drawing;
    this.scale = 1;       // pixels of the screen for one of the picture
    this.drawnScale = 1;  // at which letters are drawn
    this.center = {x: 0, y: 0};
    this.size = {width: stage.clientWidth, height: stage.clientHeight};
    this.pointers = new Map();
    this.dragged = false;
    new ResizeObserver(() => this.resize()).observe(stage);
    stage.addEventListener("wheel", (event) => this.#onWheel(event), {passive: false});
    stage.addEventListener("pointerdown", (event) => this.#onPress(event));
    window.addEventListener("pointermove", (event) => this.#onMove(event));
    for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, (event) => this.#onRelease(event));
    // The click that ends a drag does not reach the elements below.
    stage.addEventListener("click", (event) => this.dragged && event.stopPropagation(), true);
  }

  resize() {
    this.size = {width: this.stage.clientWidth, height: this.stage.clientHeight};
    this.rest();
  }

  // The visible part of the picture; with `room`, so many screens more on each side.
  sight(room = 0) {
    const x = (this.size.width * (0.5 + room)) / this.scale, y = (this.size.height * (0.5 + room)) / this.scale;
    return {left: this.center.x - x, right: this.center.x + x, top: this.center.y - y, bottom: this.center.y + y};
  }

  // The point of the picture at a position on the screen.
  #pointAt({x, y}) {
    const stage = this.stage.getBoundingClientRect(), sight = this.sight();
    return {x: sight.left + (x - stage.left) / this.scale, y: sight.top + (y - stage.top) / this.scale};
  }

  #apply() {
    const {left, right, top, bottom} = this.sight(), near = this.drawing.sight;
    const x = Math.round(-left * this.scale), y = Math.round(-top * this.scale);
    this.drawing.picture.style.transform = `translate(${x}px, ${y}px) scale(${this.scale / this.drawnScale})`;
    const isDrawn = near.left <= left && near.right >= right && near.top <= top && near.bottom >= bottom;
    if (!isDrawn) this.drawing.look(this.sight(0.6));
    clearTimeout(this.timer);
    if (this.scale !== this.drawnScale) this.timer = setTimeout(() => this.rest(), 150);
  }

  // Draws the visible part at full quality.
  rest() {
    this.drawnScale = this.scale;
    this.drawing.world.setAttribute("transform", `scale(${this.scale})`);
    this.drawing.picture.classList.toggle("far", this.scale < 0.25);
    this.drawing.look(this.sight(0.6));
    this.#apply();
  }

  // In pixels of the screen.
  move(x, y) {
    this.center = {x: this.center.x + x / this.scale, y: this.center.y + y / this.scale};
    this.#apply();
  }

  // The point stays where it is on the screen.
  zoom(factor, point = this.center) {
    const scale = Math.min(8, Math.max(leastScale, this.scale * factor));
    const kept = this.scale / scale;
    this.center = {x: point.x + (this.center.x - point.x) * kept, y: point.y + (this.center.y - point.y) * kept};
    this.scale = scale;
    this.#apply();
  }

  // All of a box.
  fit({left, right, top, bottom}) {
    this.scale = Math.max(this.scaleOf({left, right, top, bottom}), leastScale);
    this.center = {x: (left + right) / 2, y: (top + bottom) / 2};
    this.rest();
  }

  // The scale at which all of a box is visible.
  scaleOf({left, right, top, bottom}) {
    const room = 24;
    return Math.min((this.size.width - 2 * room) / (right - left), (this.size.height - 2 * room) / (bottom - top), 1.4);
  }

  // All of a box if it is readable then; else as much as is readable, with `first` in it.
  open(box, first) {
    if (this.scaleOf(box) >= legible) return this.fit(box);
    this.scale = legible;
    const room = 16 / this.scale;
    const along = (size, low, high) => {
      const half = size / 2 / this.scale, middle = (first[low] + first[high]) / 2;
      if (box[high] - box[low] + 2 * room < 2 * half) return (box[low] + box[high]) / 2;
      return Math.min(Math.max(middle, box[low] - room + half), box[high] + room - half);
    };
    this.center = {x: along(this.size.width, "left", "right"), y: along(this.size.height, "top", "bottom")};
    this.rest();
  }

  // Whether all of a box fits, as large as it is now.
  fits(box) {
    const room = 40;
    return (box.right - box.left) * this.scale < this.size.width - room &&
        (box.bottom - box.top) * this.scale < this.size.height - room;
  }

  // Moves as little as needed to show the box, or its beginning, and zooms in if it is not readable.
  show(box, scale = 0) {
    if (this.scale < scale) {
      this.scale = scale;
      this.center = {x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2};
    }
    const inset = 30 / this.scale;
    const nearest = (at, low, high, size) => {
      const half = size / 2 / this.scale;
      return Math.min(Math.max(at, high + inset - half), low - inset + half);
    };
    this.center = {
      x: nearest(this.center.x, box.left, box.right, this.size.width),
      y: nearest(this.center.y, box.top, box.bottom, this.size.height)
    };
    this.rest();
  }

  // Moves a point of the picture to a position in the stage.
  put(point, {x, y}, scale = this.scale) {
    this.scale = scale;
    this.center = {x: point.x - (x - this.size.width / 2) / scale, y: point.y - (y - this.size.height / 2) / scale};
    this.rest();
  }

  // The position of a point of the picture in the stage.
  placeOf({x, y}) {
    const {left, top} = this.sight();
    return {x: (x - left) * this.scale, y: (y - top) * this.scale};
  }

  #onWheel(event) {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 * event.deltaY : event.deltaY;
    this.zoom(Math.exp(-pixels / (event.ctrlKey ? 120 : 500)), this.#pointAt({x: event.clientX, y: event.clientY}));
  }

  #onPress(event) {
    if (event.button !== 0) return;
    this.dragged = this.pointers.size > 0;
    this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
  }

  #onMove(event) {
    const before = this.pointers.get(event.pointerId), now = {x: event.clientX, y: event.clientY};
    if (!before) return;
    if (!this.dragged && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    this.dragged = true;
    this.stage.classList.add("dragged");
    this.pointers.set(event.pointerId, now);
    const other = [...this.pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other)
      this.#pinch(before, now, other);
    else
      this.move(before.x - now.x, before.y - now.y);
  }

  // One of two fingers moves: the point between them stays between them.
  #pinch(before, now, other) {
    const between = (a, b) => ({x: (a.x + b.x) / 2, y: (a.y + b.y) / 2});
    const apart = (finger) => Math.max(Math.hypot(finger.x - other.x, finger.y - other.y), 1);
    const from = between(before, other), to = between(now, other);
    this.zoom(apart(now) / apart(before), this.#pointAt(from));
    this.move(from.x - to.x, from.y - to.y);
  }

  #onRelease(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size === 0) this.stage.classList.remove("dragged");
  }
}
