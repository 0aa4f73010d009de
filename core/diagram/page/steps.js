// The run, played step by step: first the values of the forward pass, then the gradients of the backward pass.

class Steps {
  constructor(graph, pictures) {
    this.graph = graph;
    this.pictures = pictures;
    this.moments = momentsOf(graph);
    this.at = null;  // index of a moment; null: the whole run is over
    this.onChange = () => {};
  }

  get isPlaying() { return this.timer !== undefined; }

  goTo(at) {
    this.at = at === null || this.moments.length === 0 ? null : Math.min(Math.max(at, 0), this.moments.length - 1);
    if (this.at === null || this.at === this.moments.length - 1) this.pause();
    this.draw();
    this.onChange();
  }
  forward() { this.goTo(this.at === null ? 0 : this.at + 1); }
  back() { this.goTo(this.at === null ? this.moments.length - 1 : this.at - 1); }

  play() {
    if (this.at === null || this.at === this.moments.length - 1) this.goTo(0);
    this.timer ??= setInterval(() => this.forward(), 800);
    this.onChange();
  }
  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.onChange();
  }

  // Whether that step has happened; an element without a step was always there.
  knows(step) { return this.at === null || step === undefined || step <= this.moments[this.at].step; }

  // The vertices of the moment.
  get subjects() {
    return this.at === null ? [] : [...this.moments[this.at].computed, ...this.moments[this.at].gradients];
  }

  draw() {
    this.pictures.unmark("now", "later", "forward", "backward", "unknown");
    for (const [thing, element] of this.pictures.elements) this.#hideWhatIsUnknown(thing, element);
    if (this.at === null) return;
    this.#markVertices();
    this.#markEdges();
  }

  #markVertices() {
    const later = new Map();  // element -> whether everything in it happens later
    for (const vertex of this.graph.vertices) {
      const element = this.pictures.elementOf(vertex);
      if (vertex.moment === undefined || !element) continue;
      later.set(element, (later.get(element) ?? true) && !this.knows(vertex.moment));
    }
    for (const [element, isLater] of later) element.classList.toggle("later", isLater);
    const {gradients} = this.moments[this.at];
    for (const vertex of this.subjects) {
      const isBackward = gradients.includes(vertex) || vertex.order > 0;
      this.pictures.elementOf(vertex)?.classList.add("now", isBackward ? "backward" : "forward");
    }
  }

  #markEdges() {
    const computed = new Set(this.moments[this.at].computed), gradients = new Set(this.moments[this.at].gradients);
    for (const edge of this.graph.edges) {
      const {source, target} = edge, brings = computed.has(target), returns = gradients.has(source);
      const marks = [
        ...(!this.knows(target.moment) || !this.knows(source.moment) ? ["later"] : []),
        ...(brings || returns ? ["now"] : []), ...(returns || (brings && target.order > 0) ? ["backward"] : [])
      ];
      for (const arrow of marks.length > 0 ? this.pictures.arrowsOf(edge) : []) arrow.classList.add(...marks);
    }
  }

  // Boxes show the numbers of the whole run, first the value's, then the gradient's, each from its moment on.
  #hideWhatIsUnknown(thing, element) {
    if (thing.isFrame) return;
    let {step} = thing;
    for (const line of element.querySelectorAll(".detail, .cells, .bars, .axis")) {
      const said = line.matches(".detail") ? line.textContent : "=";
      if (said.startsWith("gradient")) step = thing.gradient_step;
      line.classList.toggle("unknown", /^(=|gradient)/.test(said) && !this.knows(step));
    }
  }

  // "step 7 of 31: backward: matmul' gives the gradient of W", in parts: where, which pass, what.
  sentence() {
    if (this.at === null) {
      const ways = this.moments.some((moment) => moment.gradients.length > 0) ? "forward, then backward" : "forward";
      return {
        where: `${counted(this.moments.length, "step")}`,
        pass: "",
        what: this.hasNumbers() ? `to play, ${ways}` : "to play, in the order of the graph"
      };
    }
    const {computed, gradients} = this.moments[this.at];
    const isBackward = gradients.length > 0 || computed.some((vertex) => vertex.order > 0);
    const what = [...computed.map(computedText), ...gradients.map(gradientText)].join("; ");
    return {where: `step ${this.at + 1} of ${this.moments.length}`, pass: isBackward ? "backward" : "forward", what};
  }

  hasNumbers() { return this.graph.vertices.some((vertex) => vertex.step !== undefined); }
}

// The events of the run in order: [{step, computed: [vertex...], gradients: [vertex...]}]. If no steps are known the
// vertices come in the order of their numbers, inputs before results.
function momentsOf(graph) {
  const byStep = new Map();
  const at = (step) => {
    if (!byStep.has(step)) byStep.set(step, {step, computed: [], gradients: []});
    return byStep.get(step);
  };
  const known = graph.vertices.some((vertex) => vertex.step !== undefined || vertex.gradient_step !== undefined);
  graph.vertices.forEach((vertex, number) => {
    vertex.moment = known ? vertex.step : number;
    if (vertex.moment !== undefined) at(vertex.moment).computed.push(vertex);
    if (vertex.gradient_step !== undefined) at(vertex.gradient_step).gradients.push(vertex);
  });
  return [...byStep.values()].sort((a, b) => a.step - b.step);
}

const listed = (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`);

function computedText(vertex) {
  const inputs = [...new Set(vertex.into.map((edge) => called(edge.source)))];
  const shape = vertex.shape && vertex.number === undefined ? ` ${shapeText(vertex.shape)}` : "";
  if (inputs.length === 0) return `${called(vertex)}${shape} is given`;
  const result = vertex.name ? ` ${vertex.fullName}` : "";
  return `${vertex.op || vertex.role} ${vertex.order > 0 ? "gives" : "makes"}${result}${shape} from ${listed(inputs)}`;
}

function gradientText(vertex) {
  const rules = [...new Set(vertex.outOf.filter((edge) => edge.gradient).map((edge) => `${edge.target.op}'`))];
  if (rules.length === 0) return `it begins with the gradient of ${called(vertex)}`;
  const parts = vertex.outOf.filter((edge) => edge.gradient).length;
  const sum = parts > 1 ? `, the sum of ${parts} parts` : "";
  return `${listed(rules)} ${rules.length > 1 ? "give" : "gives"} the gradient of ${called(vertex)}${sum}`;
}
