// Search: matches of the words are marked, and Enter goes from one to the next.

class Search {
  constructor(graph, pictures, goTo) {
    this.graph = graph;
    this.pictures = pictures;
    this.goTo = goTo;
    this.field = document.getElementById("search");
    this.found = [];
    this.at = -1;
    this.field.addEventListener("input", () => this.find());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") {
        this.field.value = "";
        this.find();
        this.field.blur();
      }
    });
  }

  find() {
    const wanted = this.field.value.trim().toLowerCase();
    const text = (vertex) => [vertex.op, vertex.name, vertex.fullName, vertex.path].join("\n").toLowerCase();
    this.found = wanted === "" ? [] : this.graph.vertices.filter((vertex) => text(vertex).includes(wanted));
    this.at = -1;
    this.draw();
  }

  next(step) {
    if (this.found.length === 0) return;
    this.at =
        this.at < 0 && step < 0 ? this.found.length - 1 : (this.at + step + this.found.length) % this.found.length;
    this.goTo(this.found[this.at]);
    this.draw();
  }

  draw() {
    this.pictures.unmark("match", "at");
    for (const vertex of this.found) this.pictures.elementOf(vertex)?.classList.add("match");
    this.pictures.elementOf(this.found[this.at])?.classList.add("at");
    const where = this.at < 0 ? `${this.found.length} found` : `${this.at + 1} of ${this.found.length}`;
    document.getElementById("found").textContent = this.field.value.trim() === "" ? "" : where;
  }
}
