// The run, played step by step: first what the forward pass computed, then the gradients that came back.

class Steps {
  constructor(graph, folding) {
    this.graph = graph;
    this.folding = folding;
    this.moments = momentsOf(graph);
    this.at = null;  // index of a moment; null: the whole run is over
    this.badges = svg("g", {class: "badges"});
    graph.picture.append(this.badges);
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

  // Whether what happens at that step has happened; what has no step was always there.
  knows(step) { return this.at === null || step === undefined || step <= this.moments[this.at].step; }

  // What the moment is about.
  get subjects() {
    return this.at === null ? [] : [...this.moments[this.at].computed, ...this.moments[this.at].gradients];
  }

  draw() {
    const {vertices, edges} = this.graph, folding = this.folding;
    const later = new Map(),
          now = new Map();  // what is shown -> whether all that happens in it comes later; what happens
    for (const vertex of vertices) {
      if (vertex.moment === undefined) continue;
      const shown = folding.shownAs(vertex);
      later.set(shown, (later.get(shown) ?? true) && !this.knows(vertex.moment));
    }
    if (this.at !== null) {
      for (const vertex of this.moments[this.at].gradients) now.set(folding.shownAs(vertex), "backward");
      for (const vertex of this.moments[this.at].computed)
        now.set(folding.shownAs(vertex), vertex.order > 0 ? "backward" : "forward");
    }
    for (const element of this.graph.picture.querySelectorAll(".now, .later"))
      element.classList.remove("now", "later", "forward", "backward");
    for (const [shown, isLater] of later) folding.elementOf(shown).classList.toggle("later", isLater);
    for (const [shown, pass] of now) folding.elementOf(shown).classList.add("now", pass);
    const moment = this.moments[this.at];
    for (const edge of edges) {
      const brings = Boolean(moment?.computed.includes(edge.target)),
            returns = Boolean(moment?.gradients.includes(edge.source));
      edge.element.classList.toggle("later", !this.knows(edge.target.moment) || !this.knows(edge.source.moment));
      edge.element.classList.toggle("now", brings || returns);
      edge.element.classList.toggle("backward", returns || (brings && edge.target.order > 0));
    }
    this.#hideWhatIsUnknown();
    this.#drawBadges();
  }

  // Boxes say the numbers of the whole run, "= ..." and "gradient ...", each from its moment on.
  #hideWhatIsUnknown() {
    for (const vertex of this.graph.vertices) {
      for (const line of vertex.element.querySelectorAll(".detail")) {
        const said = line.textContent;
        const step = said.startsWith("= ") ? vertex.step : said.startsWith("gradient") ? vertex.gradient_step : undefined;
        line.classList.toggle("unknown", !this.knows(step));
      }
    }
  }

  // Below a vertex its value, above it its gradient.
  #drawBadges() {
    this.badges.replaceChildren();
    if (this.at === null) return;
    for (const vertex of this.graph.vertices) {
      if (!this.folding.isShown(vertex)) continue;
      const {left, right, top, bottom} = vertex.place, x = (left + right) / 2;
      if (vertex.value && this.knows(vertex.step)) this.#addBadge(x, bottom + 6, vertex.value, "badge");
      if (vertex.gradient && this.knows(vertex.gradient_step))
        this.#addBadge(x, top - 6, vertex.gradient, "badge backward");
    }
  }

  #addBadge(x, y, summary, kind) {
    const text = badgeText(summary), width = 5.2 * text.length + 9;
    this.badges.append(
        svg("g", {class: kind}, svg("rect", {x: x - width / 2, y: y - 6, width, height: 12, rx: 6}),
            svg("text", {x, y: y + 3.2}, text)));
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

// What happened when, in order: [{step, computed: [vertex...], gradients: [vertex...]}]. Where no steps are known the
// vertices come in the order of their numbers, in which inputs stand before results.
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
