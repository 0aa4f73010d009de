// Which part of the picture is seen: moved by dragging and arrows, zoomed by the wheel and + and -.

class Camera {
  constructor(stage, picture) {
    this.stage = stage;
    this.picture = picture;
    this.scale = 1;  // pixels of the screen for one of the picture
    this.center = {x: 0, y: 0};
    this.dragged = false;
    picture.removeAttribute("width");
    picture.removeAttribute("height");
    new ResizeObserver(() => this.#apply()).observe(stage);
    stage.addEventListener("wheel", (event) => this.#onWheel(event), {passive: false});
    stage.addEventListener("pointerdown", (event) => this.#onPress(event));
    // What ends a drag is not a click on what lies below.
    stage.addEventListener("click", (event) => this.dragged && event.stopPropagation(), true);
  }

  #apply() {
    const width = this.stage.clientWidth / this.scale, height = this.stage.clientHeight / this.scale;
    const view = [this.center.x - width / 2, this.center.y - height / 2, width, height];
    if (width > 0 && height > 0) this.picture.setAttribute("viewBox", view.map((x) => x.toFixed(2)).join(" "));
  }

  // The point of the picture at a place on the screen.
  #pointAt(x, y) {
    const stage = this.stage.getBoundingClientRect();
    return {
      x: this.center.x + (x - stage.left - stage.width / 2) / this.scale,
      y: this.center.y + (y - stage.top - stage.height / 2) / this.scale
    };
  }

  // By pixels of the screen.
  move(x, y) {
    this.center = {x: this.center.x + x / this.scale, y: this.center.y + y / this.scale};
    this.#apply();
  }

  // The point stays where it is on the screen.
  zoom(factor, point = this.center) {
    const scale = Math.min(8, Math.max(0.03, this.scale * factor));
    const kept = this.scale / scale;
    this.center = {x: point.x + (this.center.x - point.x) * kept, y: point.y + (this.center.y - point.y) * kept};
    this.scale = scale;
    this.#apply();
  }

  // All of a box. With `readable`, of one that would become too small only what fits, from its beginning.
  fit(box, {readable = false} = {}) {
    const {clientWidth: width, clientHeight: height} = this.stage, room = 24;
    const across = (width - 2 * room) / (box.right - box.left), down = (height - 2 * room) / (box.bottom - box.top);
    this.scale = Math.min(across, down, 1.4);
    this.center = {x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2};
    const least = 0.4;
    if (readable && this.scale < least) {
      this.scale = Math.max(least, Math.min(Math.max(across, down), 1));
      if (across > down)
        this.center.y = box.top + (height / 2 - room) / this.scale;
      else
        this.center.x = box.left + (width / 2 - room) / this.scale;
    }
    this.#apply();
  }

  // Whether all of a box has room, as large as it is now.
  fits(box) {
    const room = 40;
    return (box.right - box.left) * this.scale < this.stage.clientWidth - room &&
        (box.bottom - box.top) * this.scale < this.stage.clientHeight - room;
  }

  // Moves as little as brings a box into sight, and zooms in if it could not be read.
  show(box, leastScale = 0) {
    if (this.scale < leastScale) {
      this.scale = leastScale;
      this.center = {x: (box.left + box.right) / 2, y: (box.top + box.bottom) / 2};
    }
    const half = {x: this.stage.clientWidth / 2 / this.scale, y: this.stage.clientHeight / 2 / this.scale};
    const inset = 20 / this.scale;
    const nearest = (at, low, high, size) => Math.min(Math.max(at, high + inset - size), low - inset + size);
    this.center = {
      x: nearest(this.center.x, box.left, box.right, half.x),
      y: nearest(this.center.y, box.top, box.bottom, half.y)
    };
    this.#apply();
  }

  #onWheel(event) {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 * event.deltaY : event.deltaY;
    this.zoom(Math.exp(-pixels / (event.ctrlKey ? 120 : 500)), this.#pointAt(event.clientX, event.clientY));
  }

  #onPress(event) {
    if (event.button !== 0) return;
    this.dragged = false;
    let last = {x: event.clientX, y: event.clientY};
    const onMove = (moved) => {
      const x = last.x - moved.clientX, y = last.y - moved.clientY;
      if (!this.dragged && Math.hypot(x, y) < 4) return;
      this.dragged = true;
      this.stage.classList.add("dragged");
      this.move(x, y);
      last = {x: moved.clientX, y: moved.clientY};
    };
    const onRelease = () => {
      this.stage.classList.remove("dragged");
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onRelease);
      window.removeEventListener("pointercancel", onRelease);
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onRelease);
    window.addEventListener("pointercancel", onRelease);
  }
}
