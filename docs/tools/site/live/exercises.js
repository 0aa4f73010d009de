// The page with exercises: four tasks, which the engine draws and checks.
{
  const byId = (id) => document.getElementById(id);
  const engine = byId("engine");
  let right = 0, tries = 0;

  // Each task has {show(exercise), answer(), solve(solution)}; the section around it gets its buttons and its reply here.
  function addTask(name, {show, answer, solve}) {
    const section = byId(`${name}-task`);
    let number = 0, exercise;
    const reply = live.make("p", {class: "reply", role: "status"});
    const say = (text, kind) => {
      reply.textContent = text;
      reply.dataset.kind = kind;
    };
    const draw = () => {
      exercise = live.ask("exercise", {task: name, number});
      section.querySelector(".task").textContent = exercise.text;
      say("", "");
      show(section, exercise);
    };
    const check = (given = answer(section)) => {
      if (typeof given === "string") return say(given, "wrong");  // what cannot be read
      const result = live.ask("exercise", {task: name, number, answer: given});
      if (result.error) return say(result.error, "wrong");
      ++tries;
      right += result.right;
      say(`${result.right ? "Right" : "Not yet"}: ${result.why}.`, result.right ? "right" : "wrong");
      byId("saying").textContent = `${right} right of ${tries} answers`;
    };
    const button = (text, onclick, kind) => live.make("button", {type: "button", class: kind, onclick}, text);
    section.append(live.make("p", {class: "row"}, button("Check", () => check(), "check"), button("Another one", () => {
      ++number;
      draw();
    }, "next"), button("Show the answer", () => {
      solve(section, exercise.solution);
      say("This is the answer of the engine.", "");
    }, "solve")), reply);
    section.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.tagName === "INPUT") check();
    });
    draw();
    return {check};
  }

  const listOf = (text) => text.split(",").map((part) => part.trim().replace("\u2212", "-")).filter((part) => part !== "").map(Number);

  // ---- The graph ----

  function addGraph() {
    let boxes = [], arrows = [], from;
    const section = byId("graph-task"), drawing = section.querySelector("svg");
    const place = (i) => {
      const angle = 2 * Math.PI * (i + 0.5) / boxes.length - Math.PI / 2;
      return [240 + 180 * Math.cos(angle), 150 + 115 * Math.sin(angle)];
    };
    const toggle = (a, b) => {
      const found = arrows.findIndex(([first, second]) => first === a && second === b);
      if (found < 0) arrows.push([a, b]);
      else arrows.splice(found, 1);
      from = undefined;
      drawArrows();
    };
    const choose = (box) => {
      if (from === undefined) from = box;
      else if (from === box) from = undefined;
      else return toggle(from, box);
      drawArrows();
    };
    function drawBoxes() {
      const parts = boxes.map((box, i) => {
        const [x, y] = place(i);
        const made = live.svg("g", {class: "box", tabindex: 0, role: "button", "data-box": box, "aria-label": box, transform: `translate(${x} ${y})`},
          live.svg("rect", {x: -44, y: -18, width: 88, height: 36, rx: 6}), live.svg("text", {"text-anchor": "middle", y: 6}, box));
        let down = false;
        made.addEventListener("pointerdown", (event) => {
          down = true;
          made.setPointerCapture(event.pointerId);
        });
        made.addEventListener("pointerup", (event) => {
          const end = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".box")?.dataset.box;
          if (down && end && end !== box) toggle(box, end);
          else if (down && end === box) choose(box);
          down = false;
        });
        made.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          choose(box);
        });
        return made;
      });
      const head = live.svg("marker", {id: "head", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto"},
                            live.svg("path", {d: "M0 0L10 5L0 10z"}));
      drawing.replaceChildren(live.svg("defs", {}, head), live.svg("g", {class: "lines"}), ...parts);
      drawArrows();
    }
    function drawArrows() {
      drawing.querySelector(".lines").replaceChildren(...arrows.map(([a, b]) => {
        const [x1, y1] = place(boxes.indexOf(a)), [x2, y2] = place(boxes.indexOf(b));
        // From edge to edge of the boxes, a little aside so that two opposite arrows can be seen.
        const length = Math.hypot(x2 - x1, y2 - y1), dx = (x2 - x1) / length, dy = (y2 - y1) / length;
        const cut = Math.min(48 / Math.max(Math.abs(dx), 1e-6), 22 / Math.max(Math.abs(dy), 1e-6));
        return live.svg("line", {x1: x1 + dx * cut - 5 * dy, y1: y1 + dy * cut + 5 * dx, x2: x2 - dx * cut - 5 * dy, y2: y2 - dy * cut + 5 * dx, "marker-end": "url(#head)"});
      }));
      for (const box of drawing.querySelectorAll(".box")) box.setAttribute("aria-pressed", box.dataset.box === from);
      section.querySelector(".arrows").replaceChildren(...arrows.map(([a, b]) =>
        live.make("button", {type: "button", "aria-label": `remove the arrow from ${a} to ${b}`, onclick: () => toggle(a, b)}, `${a} \u2192 ${b} \u00d7`)));
    }
    addTask("graph", {
      show(_, exercise) {
        boxes = exercise.boxes;
        arrows = [];
        from = undefined;
        drawBoxes();
      },
      answer: () => (arrows.length > 0 ? arrows : "Draw an arrow first."),
      solve(_, solution) {
        arrows = solution.map((arrow) => [...arrow]);
        from = undefined;
        drawArrows();
      },
    });
  }

  // ---- The shape ----

  function addShape() {
    const field = byId("shape-task").querySelector(".answer");
    const {check} = addTask("shape", {
      show(section, {text, given}) {
        section.querySelector(".task").textContent = `${text} with ${given.map(({name, shape}) => `${name} [${shape.join(", ")}]`).join(" and ")}`;
        field.value = "";
      },
      answer() {
        const sizes = listOf(field.value.replace(/[\[\](){}]/g, ""));
        return sizes.every((size) => Number.isInteger(size) && size >= 0) ? sizes : "Sizes are integers, with commas between them.";
      },
      solve(_, solution) { field.value = solution === null ? "they do not fit" : solution.join(", "); },
    });
    byId("shape-task").querySelector(".refused").addEventListener("click", () => check(null));
  }

  // ---- The mask ----

  function addMask() {
    const table = byId("mask-task").querySelector("table");
    const cells = () => [...table.querySelectorAll("button")];
    const mark = (cell, hidden) => {
      cell.setAttribute("aria-pressed", hidden);
      cell.textContent = hidden ? "\u00d7" : "";
    };
    addTask("mask", {
      show(_, {rows, columns}) {
        const row = (i) => live.make("tr", {}, live.make("th", {scope: "row"}, i), ...Array.from({length: columns}, (_, j) => {
          const cell = live.make("button", {type: "button", "aria-label": `query ${i}, key ${j}: hidden`});
          cell.addEventListener("click", () => mark(cell, cell.getAttribute("aria-pressed") !== "true"));
          cell.addEventListener("keydown", (event) => {
            const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns}[event.key];
            if (!step) return;
            event.preventDefault();
            cells()[i * columns + j + step]?.focus();
          });
          mark(cell, false);
          return live.make("td", {}, cell);
        }));
        table.replaceChildren(live.make("tr", {}, live.make("td", {}), ...Array.from({length: columns}, (_, j) => live.make("th", {scope: "col"}, j))),
                              ...Array.from({length: rows}, (_, i) => row(i)));
      },
      answer: () => cells().map((cell) => cell.getAttribute("aria-pressed") === "true"),
      solve(_, solution) { cells().forEach((cell, i) => mark(cell, solution[i])); },
    });
  }

  // ---- Gradients ----

  function addGradient() {
    const fields = () => [...byId("gradient-task").querySelectorAll("input")];
    addTask("gradient", {
      show(section, {text, letters}) {
        section.querySelector(".task").textContent = `${text} with ${letters.map(({name, value}) => `${name} = ${live.text(value)}`).join(", ")}`;
        section.querySelector(".answers").replaceChildren(...letters.map(({name, value}) => live.make("label", {}, `dy/d${name} `,
          live.make("input", {"data-letter": name, size: value.length > 1 ? 12 : 5, autocomplete: "off", "aria-label": `The gradient by ${name}`}))));
      },
      answer() {
        const lists = Object.fromEntries(fields().map((field) => [field.dataset.letter, listOf(field.value)]));
        const bad = Object.entries(lists).find(([, list]) => list.length === 0 || !list.every(Number.isFinite));
        return bad ? `The gradient by ${bad[0]} is missing, or no number.` : lists;
      },
      solve(_, solution) { for (const field of fields()) field.value = solution[field.dataset.letter].map((number) => live.text(number)).join(", "); },
    });
  }

  live.start().then(() => {
    byId("saying").textContent = "The engine is ready.";
    for (const add of [addGraph, addShape, addMask, addGradient]) add();
    engine.dataset.ready = "yes";
  });
}
