// The graph, from its JSON. Ids are those of its JSON.

class Graph {
  constructor({vertices, edges, frames}) {
    Object.assign(this, {vertices, edges, frames});
    this.byId = new Map([...vertices, ...frames].map((thing) => [thing.id, thing]));
    for (const frame of frames) Object.assign(frame, {isFrame: true, around: this.byId.get(frame.parent)});
    for (const vertex of vertices) {
      const fullName = [vertex.path, vertex.name].filter(Boolean).join(".");
      Object.assign(vertex, {fullName, around: this.byId.get(vertex.frame), into: [], outOf: []});
    }
    for (const edge of edges) {
      Object.assign(edge, {source: this.byId.get(edge.from), target: this.byId.get(edge.to)});
      edge.source.outOf.push(edge);
      edge.target.into.push(edge);
    }
    this.byAddress = this.#findAddresses();
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
