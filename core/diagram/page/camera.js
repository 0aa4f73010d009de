// The visible part of the picture: moved by dragging and arrows, zoomed by the wheel, two fingers, and + and -.
//
// While it moves the browser shifts and scales the existing drawing. Letters are drawn anew only when it has come to
// rest.

const leastScale = 0.04;
const legible = 0.75;  // the scale at which the smallest letters have 8 pixels

class Camera {
  constructor(stage, pictures) {
    this.stage = stage;
    this.pictures = pictures;
    this.scale = 1;  // pixels of the screen for one of the picture
    this.center = {x: 0, y: 0};
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
    this.#apply();
  }

  // The visible part of the picture.
  sight() {
    const x = this.size.width / 2 / this.scale, y = this.size.height / 2 / this.scale;
    return {left: this.center.x - x, right: this.center.x + x, top: this.center.y - y, bottom: this.center.y + y};
  }

  // The point of the picture at a position on the screen.
  #pointAt({x, y}) {
    const stage = this.stage.getBoundingClientRect(), sight = this.sight();
    return {x: sight.left + (x - stage.left) / this.scale, y: sight.top + (y - stage.top) / this.scale};
  }

  #apply() {
    const {left, top} = this.sight(), {svg} = this.pictures;
    const x = Math.round(-left * this.scale), y = Math.round(-top * this.scale);
    svg.style.transform = `translate(${x}px, ${y}px) scale(${this.scale})`;
    svg.classList.add("moving");
    svg.classList.toggle("far", this.scale < 0.25);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => svg.classList.remove("moving"), 150);
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

  // The scale at which all of the picture is visible.
  get scaleOfAll() {
    const room = 10, {right, bottom} = this.pictures.bounds;
    return Math.min((this.size.width - 2 * room) / right, (this.size.height - 2 * room) / bottom, 1.4);
  }

  // All of the picture.
  fit() {
    this.scale = Math.max(this.scaleOfAll, leastScale);
    this.center = middle(this.pictures.bounds);
    this.#apply();
  }

  // All of the picture if it is readable then; else as much as is readable, with a box in it.
  open(box) {
    this.fit();
    if (this.scale >= legible) return;
    this.scale = legible;
    const {right, bottom} = this.pictures.bounds;
    const along = (at, size, end) => {
      const half = size / 2 / this.scale;
      return end < 2 * half ? end / 2 : Math.min(Math.max(at, half), end - half);
    };
    const {x, y} = middle(box);
    this.center = {x: along(x, this.size.width, right), y: along(y, this.size.height, bottom)};
    this.#apply();
  }

  // Moves as little as needed to show the box, or its beginning, and zooms in if it is not readable.
  show(box, scale = 0) {
    if (this.scale < scale) {
      this.scale = scale;
      this.center = middle(box);
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
    this.#apply();
  }

  // Moves a point of the picture to a position in the stage.
  put(point, {x, y}, scale = this.scale) {
    this.scale = scale;
    this.center = {x: point.x - (x - this.size.width / 2) / scale, y: point.y - (y - this.size.height / 2) / scale};
    this.#apply();
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
