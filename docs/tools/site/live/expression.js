// The page where a reader types an expression.
{
  const byId = (id) => document.getElementById(id);
  const given = {w: "0.5", x: "2", b: "-0.3", t: "1", a: "0.7", s: "1, 2, 3", v: "3, 1, 2"};  // what letters are at first
  const asked = new URLSearchParams(location.hash.slice(1));
  let by = [], moments = [], at = 0;

  const numberOf = (text) => {
    const list = text.split(",").map((part) => Number(part.replace("\u2212", "-")));
    if (text.trim() === "" || list.some((number) => !Number.isFinite(number))) return NaN;
    return list.length > 1 ? list : list[0];
  };

  function compute() {
    const numbers = {};
    for (const [letter, text] of Object.entries(given)) {
      const number = numberOf(text);
      if (Array.isArray(number) || !Number.isNaN(number)) numbers[letter] = number;
    }
    const answer = live.ask("expression", {text: byId("text").value, numbers, by});
    byId("error").hidden = !answer.error;
    byId("error").textContent = answer.error ?? "";
    byId("engine").classList.toggle("refused", Boolean(answer.error));
    if (answer.error) {
      if (by.length > 0) drawDerivatives();
      return;
    }
    drawLetters(answer.letters);
    drawDerivatives();
    byId("result").textContent =
      `${answer.name} = ${live.text(answer.value)}${answer.constant ? ": a constant, whose gradients are all 0" : ""}`;
    moments = momentsOf(answer.graph, answer.name);
    at = moments.length - 1;
    byId("steps").replaceChildren(...moments.map(({pass, what}, i) =>
      live.make("li", {onclick: () => go(i)}, live.make("span", {}, pass), live.make("span", {}, what))));
    live.show(byId("graph"), answer.page);
    byId("graph").addEventListener("load", () => go(at), {once: true});
    go(at);
    byId("engine").dataset.value = JSON.stringify(answer.value);
  }
  const soon = live.later(compute);

  // ---- Letters ----

  // A row for each letter; rows that exist stay, so that a slider is not taken from under the reader's hand.
  function drawLetters(letters) {
    const rows = byId("letters");
    const names = letters.map(({name}) => name).join(" ");
    if (rows.dataset.names !== names) {
      rows.dataset.names = names;
      rows.replaceChildren(...letters.flatMap(({name, value}) => rowOf(name, value)));
    }
    for (const {name, gradient} of letters) {
      rows.querySelector(`output[data-letter="${name}"]`).textContent =
        gradient ? `gradient ${live.text(gradient)}` : "no gradient";
    }
  }

  function rowOf(name, value) {
    given[name] ??= live.text(value).replace(/[\[\]]/g, "");
    const field = live.make("input", {value: given[name], "aria-label": `the number of ${name}`, inputmode: "text", autocomplete: "off"});
    const slider = live.make("input", {type: "range", min: -4, max: 4, step: 0.05, value: numberOf(given[name]), "aria-label": `${name}, from -4 to 4`});
    if (given[name].includes(",")) slider.style.visibility = "hidden";
    const change = (text) => {
      given[name] = text;
      soon();
    };
    field.addEventListener("input", () => {
      slider.value = numberOf(field.value);
      slider.style.visibility = field.value.includes(",") ? "hidden" : "";
      change(field.value);
    });
    slider.addEventListener("input", () => {
      field.value = slider.value;
      change(slider.value);
    });
    const derive = live.make("button", {type: "button", class: "derive", onclick: () => differentiate([...by, name])}, `derivative by ${name}`);
    return [live.make("span", {class: "name"}, name), field, slider, live.make("output", {class: "numbers", "data-letter": name}), derive];
  }

  function differentiate(letters) {
    by = letters;
    compute();
  }

  function drawDerivatives() {
    const words = by.length === 0 ? ["The expression itself is shown."] : [
      `Derivative by ${by.join(", then by ")}.`,
      live.make("button", {type: "button", onclick: () => differentiate(by.slice(0, -1))}, "one less"),
      live.make("button", {type: "button", onclick: () => differentiate([])}, "the expression itself"),
    ];
    byId("derivatives").replaceChildren(...words);
  }

  // ---- Steps ----

  // The values and gradients of the run in order, with the rules that gave the gradients.
  function momentsOf({vertices, edges}, result) {
    const byName = new Map(vertices.map((vertex) => [vertex.id, vertex]));
    const called = (vertex) => vertex.name || (vertex.number !== undefined ? live.text(vertex.number) : vertex.op);
    const numbersOf = (summary) => (summary?.numbers ? live.text(summary.numbers) : "many numbers");
    const found = [];
    for (const vertex of vertices) {
      if (vertex.step === undefined) continue;
      const from = edges.filter(({to}) => to === vertex.id).map(({from}) => called(byName.get(from)));
      const formula = vertex.formula ? `${vertex.formula}: ` : "";
      found.push({step: vertex.step, pass: vertex.order > 0 ? "derivative" : "forward",
                  what: `${vertex.op} of ${from.join(" and ")}. ${formula}${vertex.value ? numbersOf(vertex.value) : ""}`});
    }
    for (const vertex of [...vertices].reverse()) {  // results before inputs, where both come at one step
      if (vertex.gradient_step === undefined) continue;
      const rules = edges.filter(({from, gradient}) => from === vertex.id && gradient).map(({to, gradient}) => {
        const next = byName.get(to);
        return `rule of ${next.op}${next.derivative ? `, ${next.derivative},` : ""} gives ${numbersOf(gradient)}`;
      });
      const sum = rules.length > 1 ? ` Together: ${numbersOf(vertex.gradient)}.` : "";
      found.push({step: vertex.gradient_step, pass: "backward",
                  what: rules.length > 0 ? `gradient of ${called(vertex)}: ${rules.join("; ")}.${sum}`
                                         : `the gradient of ${called(vertex) || result} by itself is ${numbersOf(vertex.gradient)}.`});
    }
    const moments = [];  // as the player of the graph counts them: what comes at one step is one
    for (const {step, pass, what} of found.sort((a, b) => a.step - b.step)) {
      if (moments.at(-1)?.step === step)
        moments.at(-1).what += `\n${what}`;
      else
        moments.push({step, pass, what});
    }
    return moments;
  }

  function go(to) {
    at = Math.min(Math.max(to, 0), moments.length - 1);
    [...byId("steps").children].forEach((row, i) => {
      row.classList.toggle("to-come", i > at);
      if (i === at)
        row.setAttribute("aria-current", "step");
      else
        row.removeAttribute("aria-current");
    });
    const now = byId("steps").children[at];
    if (now) byId("steps").scrollTop = now.offsetTop - byId("steps").offsetTop - 80;
    byId("where").textContent = moments.length > 0 ? `step ${at + 1} of ${moments.length}` : "";
    byId("first").disabled = byId("back").disabled = at <= 0;
    byId("next").disabled = byId("last").disabled = at >= moments.length - 1;
    const slider = byId("graph").contentDocument?.getElementById("slider");
    if (slider && Number(slider.max) > 0) {
      slider.value = Math.min(at, Number(slider.max));
      slider.dispatchEvent(new Event("input"));
    }
  }

  byId("first").addEventListener("click", () => go(0));
  byId("back").addEventListener("click", () => go(at - 1));
  byId("next").addEventListener("click", () => go(at + 1));
  byId("last").addEventListener("click", () => go(moments.length - 1));
  byId("steps").addEventListener("keydown", (event) => {
    const way = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (!way) return;
    event.preventDefault();
    go(at + way);
  });
  byId("text").addEventListener("input", () => {
    by = [];
    soon();
  });
  byId("form").addEventListener("submit", (event) => event.preventDefault());
  byId("examples").addEventListener("change", ({target}) => {
    byId("text").value = target.value;
    by = [];
    compute();
  });
  if (asked.get("y")) byId("text").value = asked.get("y");
  live.start().then(compute).then(() => { byId("engine").dataset.ready = "yes"; });
}
