// The graph, from its JSON. Ids are those of its JSON.

class Graph {
  constructor(json) {
    this.vertices = json.vertices;
    this.edges = json.edges;
    this.frames = json.frames;
    this.byId = new Map([...this.vertices, ...this.edges, ...this.frames].map((thing) => [thing.id, thing]));
    for (const frame of this.frames) this.#connectFrame(frame);
    for (const vertex of this.vertices) this.#connectVertex(vertex);
    for (const edge of this.edges) this.#connectEdge(edge);
    this.byAddress = this.#findAddresses();
  }

  // Parents come before children.
  #connectFrame(frame) {
    frame.isFrame = true;
    frame.around = this.byId.get(frame.parent) ?? null;
  }

  #connectVertex(vertex) {
    vertex.around = this.byId.get(vertex.frame) ?? null;
    vertex.fullName = [vertex.path, vertex.name].filter(Boolean).join(".");
    vertex.into = [];
    vertex.outOf = [];
  }

  #connectEdge(edge) {
    edge.source = this.byId.get(edge.from);
    edge.target = this.byId.get(edge.to);
    edge.source.outOf.push(edge);
    edge.target.into.push(edge);
  }

  // The part of a link after "#" -> its target: "blocks.0.attn", "blocks.0.attn.softmax", with equal names
  // "blocks.0.add", "blocks.0.add:2", ...
  #findAddresses() {
    const addresses = new Map(), counts = new Map();
    for (const thing of [...this.frames, ...this.vertices]) {
      const name = thing.isFrame ? thing.path + "'".repeat(thing.order) :
                                   [thing.path, thing.name || thing.op || thing.role].filter(Boolean).join(".");
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      thing.address = count > 1 ? `${name}:${count}` : name;
      addresses.set(thing.address, thing);
    }
    for (const vertex of this.vertices) {  // of a vertex with a name also by its operation
      const name = [vertex.path, vertex.op].filter(Boolean).join(".");
      if (name && !addresses.has(name)) addresses.set(name, vertex);
    }
    return addresses;
  }
}

// A vertex in a word: its name, or else its operation.
function called(vertex) {
  if (vertex.number !== undefined) return short(vertex.number);
  return vertex.name ? vertex.fullName : vertex.op || vertex.role;
}
