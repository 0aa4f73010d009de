// Details of one vertex, beside the picture.

class Panel {
  constructor(pictures, steps, goTo) {
    this.pictures = pictures;
    this.steps = steps;
    this.goTo = goTo;  // the action of a click on the name of another vertex
    this.element = document.getElementById("panel");
    this.facts = document.getElementById("facts");
    this.vertex = null;
  }

  open(vertex) {
    this.vertex = vertex;
    this.element.hidden = false;
    this.element.scrollTop = 0;
    this.draw();
    this.refresh();
  }

  close() {
    this.vertex = null;
    this.element.hidden = true;
    this.draw();
  }

  // Marks the vertex and its arrows in the picture.
  draw() {
    this.pictures.unmark("selected", "touching");
    if (!this.vertex) return;
    this.pictures.elementOf(this.vertex)?.classList.add("selected");
    for (const edge of [...this.vertex.into, ...this.vertex.outOf])
      for (const arrow of this.pictures.arrowsOf(edge)) arrow.classList.add("touching");
  }

  // After a step: values and gradients come and go.
  refresh() {
    const vertex = this.vertex;
    if (!vertex) return;
    this.facts.replaceChildren(
        html("h2", {}, vertex.op || called(vertex)), html("p", {class: "role"}, roleText(vertex)), this.#list(vertex));
    if (vertex.formula) {
      this.#heading("Formula");
      this.facts.append(definitions([["y", vertex.formula], ["derivative", vertex.derivative]], {class: "formula"}));
    }
    this.#value(vertex);
    this.#gradient(vertex);
    this.#neighbours("Inputs", vertex.into, (edge) => edge.source);
    this.#neighbours("Used by", vertex.outOf, (edge) => edge.target);
  }

  #heading(text, kind = "") { this.facts.append(html("h3", {class: kind}, text)); }

  #list(vertex) {
    const rows = [
      ["name", vertex.name], ["module", vertex.path], ["which is", vertex.what || vertex.around?.what],
      ["shape", vertex.shape && shapeText(vertex.shape)],
      ["number", vertex.number !== undefined && String(vertex.number)],
      ["keeps", vertex.saved_bytes && `${bytesText(vertex.saved_bytes)} until the backward pass`],
      ["operations", vertex.operations], ["parameters", vertex.parameters?.toLocaleString("en")],
      ["stands for", vertex.times && `${vertex.times} that are alike`], ["note", vertex.note]
    ];
    for (const [name, value] of Object.entries(vertex.attributes ?? {})) rows.push([name, value || "yes"]);
    return definitions(rows);
  }

  #value(vertex) {
    if (!vertex.value) return;
    this.#heading("Value", "forward");
    if (this.steps.knows(vertex.step))
      this.facts.append(...summary(vertex.value));
    else
      this.facts.append(html("p", {}, "not computed yet"));
  }

  // With the parts that it sums, one for each use of the value.
  #gradient(vertex) {
    const parts = vertex.outOf.filter((edge) => edge.gradient);
    if (!vertex.gradient && !vertex.gradient_state && parts.length === 0) return;
    this.#heading("Gradient", "backward");
    if (vertex.gradient_state) this.facts.append(html("p", {class: "state"}, vertex.gradient_state));
    if (!this.steps.knows(vertex.gradient_step)) {
      this.facts.append(html("p", {}, "not complete yet"));
      return;
    }
    if (vertex.gradient) this.facts.append(...summary(vertex.gradient));
    if (parts.length === 0) return;
    this.facts.append(html(
        "p", {},
        parts.length > 1 ? `It is the sum of ${parts.length} parts, which came back from` : "It came back from"));
    for (const edge of parts) this.facts.append(html("h4", {}, this.#link(edge.target)), ...summary(edge.gradient));
  }

  #neighbours(title, edges, other) {
    if (edges.length === 0) return;
    this.#heading(title);
    for (const edge of edges) {
      const flow = edge.flow === "numbers" ? "" : `, ${edge.flow}`;
      this.facts.append(html("div", {}, this.#link(other(edge)), ` ${shapeText(edge.shape)}${flow}`));
    }
  }

  #link(vertex) {
    const words = vertex.op && vertex.fullName ? `${vertex.op} ${vertex.fullName}` : called(vertex);
    const link = html("a", {role: "link", tabindex: 0}, words);
    link.addEventListener("click", () => this.goTo(vertex));
    link.addEventListener("keydown", (event) => event.key === "Enter" && this.goTo(vertex));
    return link;
  }
}

function roleText(vertex) {
  const role = {
    gradient: "operation of a backward pass",
    seed: "where a backward pass begins",
    input: "input",
    constant: "constant"
  }[vertex.role] ??
      vertex.role;
  return vertex.is_result ? `${role}, a result` : role;
}

// Counts, then a picture of the numbers.
function summary(of) {
  const count = sizeOf(of.shape), finite = count - of.nans - of.infinities;
  const counts = [["zeros", of.zeros], ["NaN", of.nans, "bad"], ["infinities", of.infinities, "bad"]];
  const parts = [definitions([
    ["count", count.toLocaleString("en")],
    ...["least", "mean", "greatest", "deviation"].map((name) => [name, finite > 0 && short(of[name])]),
    ...counts.map(([word, number, kind]) => [word, number > 0 && number.toLocaleString("en"), kind])
  ])];
  if (of.histogram?.length > 0 && finite > 1) parts.push(...histogram(of));
  if (of.numbers?.length > 0) parts.push(heatMap(of));
  return parts;
}
