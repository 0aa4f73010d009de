// The page with a transformer that trains. A model is made by settings; a second one can train beside it.
{
  const byId = (id) => document.getElementById(id);
  const engine = byId("engine");
  const choices = {
    heads: {title: "heads", values: [1, 2, 4, 8], first: 4},
    width: {title: "width", values: [16, 32, 64], first: 32},
    layers: {title: "layers", values: [1, 2, 3, 4], first: 2},
    norm: {title: "norm", values: ["before", "after"], first: "before"},
    rate: {title: "learning rate", values: [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1], first: 0.003},
    optimizer: {title: "optimizer", values: ["adam", "adamw", "momentum", "sgd"], first: "adam"},
  };
  const models = [];  // {number, settings, losses, step, kept, panel}
  let isRunning = false, lastLook = 0, pace = {since: 0, steps: 0, text: ""};

  // The answer of the engine; what it refuses is shown as it says it.
  function ask(request) {
    const answer = live.ask("training", request);
    byId("error").hidden = !answer.error;
    byId("error").textContent = answer.error ?? "";
    if (answer.error) pause();
    return answer.error ? undefined : answer;
  }

  // ---- Models and their settings ----

  function addModel(change = {}) {
    const number = models.length;
    const settings = Object.fromEntries(Object.entries(choices).map(([name, {first}]) => [name, first]));
    const model = {number, settings: {...settings, ...models[0]?.settings, ...change}, losses: [], step: 0};
    models.push(model);
    byId("settings").append(settingsOf(model));
    byId("models").append(panelOf(model));
    make(model);
  }

  function removeModel() {
    models.pop();
    byId("settings").lastElementChild.remove();
    byId("models").lastElementChild.remove();
    draw();
  }

  function make(model) {
    const made = ask({do: "make", model: model.number, task: byId("task").value, seed: 1, ...model.settings});
    if (!made) return;
    Object.assign(model, {losses: [], step: 0, kept: false, parameters: made.parameters});
    byId("back").disabled = true;
    lookAt(model);
    draw();
  }

  function settingsOf(model) {
    const field = live.make("fieldset", {class: "settings"});
    field.append(live.make("legend", {class: model.number ? "second" : "first"}, model.number ? "Second settings" : "Settings"));
    for (const [name, {title, values}] of Object.entries(choices)) {
      const select = live.make("select", {"data-name": name}, ...values.map((value) => live.make("option", {value}, String(value))));
      select.value = model.settings[name];
      select.addEventListener("change", () => {
        model.settings[name] = typeof values[0] === "number" ? Number(select.value) : select.value;
        make(model);
      });
      field.append(live.make("label", {}, title, select));
    }
    return field;
  }

  function panelOf(model) {
    const field = live.make("input", {class: "text", autocomplete: "off", "aria-label": "an example of your own", placeholder: "an example of your own"});
    field.addEventListener("input", live.later(() => lookAt(model)));
    model.panel = live.make("section", {"aria-label": model.number ? "The second model" : "The model"},
      live.make("h2", {}, model.number ? "What the second one writes" : "What it writes, and where it looks"),
      live.make("p", {class: "row"}, field, live.make("span", {class: "own error", role: "alert"})),
      live.make("table", {class: "written"}), live.make("p", {class: "right numbers"}), live.make("div", {class: "maps"}));
    return model.panel;
  }

  // ---- Training ----

  function train(model, steps) {
    const answer = ask({do: "train", model: model.number, steps});
    if (!answer) return;
    model.losses.push(...answer.losses);
    model.step = answer.step;
    pace.steps += steps;
  }

  // Steps until a frame of the screen has passed; what it sees is looked at four times a second.
  function run() {
    if (!isRunning) return;
    const until = performance.now() + 28;
    do {
      for (const model of models) train(model, 1);
    } while (isRunning && performance.now() < until);
    const now = performance.now();
    if (now - lastLook > 400) {
      lastLook = now;
      pace.text = `, ${Math.round(1000 * pace.steps / (now - pace.since))} steps a second`;
      engine.dataset.pace = 1000 * pace.steps / (now - pace.since);
      if (now - pace.since > 4000) pace = {...pace, since: now, steps: 0};
      for (const model of models) lookAt(model);
      draw();
    }
    setTimeout(run);
  }
  function pause() {
    isRunning = false;
    byId("run").setAttribute("aria-pressed", false);
    byId("run").textContent = "Train";
    pace.text = "";
  }
  function play() {
    isRunning = true;
    pace = {since: performance.now(), steps: 0, text: ""};
    byId("run").setAttribute("aria-pressed", true);
    byId("run").textContent = "Pause";
    run();
  }

  // ---- What is seen ----

  function draw() {
    drawCurve();
    const [first] = models, recent = mean(first.losses.slice(-20));
    const loss = first.losses.length > 0 ? `, loss ${live.text(recent)}` : "";
    byId("saying").textContent = `step ${first.step}${loss}, ${first.parameters} parameters${pace.text}`;
    engine.dataset.step = first.step;
    engine.dataset.loss = recent;
    engine.dataset.first = mean(first.losses.slice(0, 5));
  }
  const mean = (list) => list.reduce((sum, each) => sum + each, 0) / list.length;

  // Curves through the means of equal stretches of steps.
  function drawCurve() {
    const left = 62, right = 630, top = 10, bottom = 214, svg = byId("curve");
    const steps = Math.max(100, ...models.map(({losses}) => losses.length));
    const greatest = Math.max(1, ...models.flatMap(({losses}) => losses.slice(0, 1)).map((loss) => Math.min(loss, 10)));
    const x = (step) => left + (right - left) * step / steps, y = (loss) => bottom - (bottom - top) * Math.min(loss / greatest, 1);
    const parts = [];
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      const loss = share * greatest;
      parts.push(live.svg("line", {class: "axis", x1: left, x2: right, y1: y(loss), y2: y(loss)}),
                 live.svg("text", {x: left - 6, y: y(loss) + 4, "text-anchor": "end"}, loss.toFixed(2)));
      parts.push(live.svg("text", {x: x(share * steps), y: bottom + 18, "text-anchor": share === 1 ? "end" : "middle"}, String(Math.round(share * steps))));
    }
    models.forEach(({losses}, i) => {
      const length = Math.max(1, Math.ceil(losses.length / 200)), points = [];
      for (let at = 0; at < losses.length; at += length) {
        const stretch = losses.slice(at, at + length);
        points.push(`${x(at + stretch.length / 2).toFixed(1)},${y(mean(stretch)).toFixed(1)}`);
      }
      parts.push(live.svg("polyline", {class: i ? "second" : "first", points: points.join(" "), style: "fill: none; stroke-width: 2"}));
    });
    svg.replaceChildren(...parts);
  }

  // The word under the model's eyes: the reader's, if it is one, else the one it was shown first.
  function lookAt(model) {
    const field = model.panel.querySelector("input.text"), own = field.value.trim().toLowerCase();
    const asked = own || model.example;
    let seen = live.ask("training", {do: "look", model: model.number, ...(asked ? {text: asked} : {})});
    model.panel.querySelector(".own").textContent = own && seen.error ? seen.error : "";
    if (seen.error) {
      model.example = undefined;
      seen = live.ask("training", {do: "look", model: model.number});
      if (seen.error) return;
    }
    if (!own) model.example = seen.text.replace(/=.*/, "");
    field.placeholder = model.example ?? "";
    drawWritten(model, seen);
    model.panel.querySelector(".right").textContent = `${Math.round(100 * seen.accuracy)} % of the letters of new examples are right.`;
    drawMaps(model, seen);
    if (model.number === 0) engine.dataset.accuracy = seen.accuracy;
  }

  function drawWritten(model, {text, wanted, written, chances}) {
    const row = (title, letters, cell) =>
      live.make("tr", {}, live.make("th", {scope: "row"}, title), ...[...letters].map((letter, i) => cell(letter, i)));
    model.panel.querySelector(".written").replaceChildren(
      row("given", text, (letter) => live.make("td", {}, letter)),
      row("written", written, (letter, i) => live.make("td", {
        class: letter !== wanted[i] ? "wrong" : "", title: `probability ${live.text(chances[i])}`, style: `opacity: ${0.35 + 0.65 * chances[i]}`}, letter)),
      row("wanted", wanted, (letter) => live.make("td", {}, letter)));
  }

  function drawMaps(model, {text, attention}) {
    const {heads} = model.settings;
    const titles = attention.flatMap((_, layer) => Array.from({length: heads}, (_, head) => `layer ${layer + 1}, head ${head + 1}`));
    live.drawMaps(model.panel.querySelector(".maps"), titles, text.length, attention.flat());
  }

  // ---- Buttons ----

  const each = (task) => models.map((model) => ask({do: task, model: model.number})).every(Boolean);
  byId("run").addEventListener("click", () => {
    if (!isRunning) return play();
    pause();
    models.forEach(lookAt);
    draw();
  });
  byId("step").addEventListener("click", () => {
    pause();
    for (const model of models) {
      train(model, 1);
      lookAt(model);
    }
    draw();
  });
  byId("keep").addEventListener("click", () => {
    if (!each("keep")) return;
    for (const model of models) model.kept = model.losses.length;
    byId("back").disabled = false;
  });
  byId("back").addEventListener("click", () => {
    if (!each("back")) return;
    for (const model of models) {
      model.losses.length = model.kept;
      model.step = model.kept;
      lookAt(model);
    }
    draw();
  });
  byId("fresh").addEventListener("click", () => models.forEach(make));
  byId("task").addEventListener("change", () => {
    for (const model of models) {
      model.example = undefined;
      model.panel.querySelector("input.text").value = "";
      make(model);
    }
  });
  byId("compare").addEventListener("click", () => {
    const two = models.length === 1;
    byId("compare").setAttribute("aria-pressed", two);
    if (two) {
      addModel({norm: models[0].settings.norm === "before" ? "after" : "before"});
      models.forEach(make);  // both from nothing
    } else {
      removeModel();
    }
  });
  byId("draw").addEventListener("click", () => {
    const answer = ask({do: "graph", model: 0, depth: Number(byId("depth").value)});
    if (answer) live.show(byId("graph"), answer.page);
  });
  byId("depth").addEventListener("change", () => byId("graph").hidden || byId("draw").click());

  const path = "/model.safetensors";
  byId("save").addEventListener("click", () => {
    if (!ask({do: "save", model: 0, path})) return;
    const file = new Blob([live.engine.FS.readFile(path)], {type: "application/octet-stream"});
    engine.dataset.saved = file.size;
    const address = URL.createObjectURL(file);
    live.make("a", {href: address, download: `transformer_${models[0].step}.safetensors`}).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
  byId("load").addEventListener("change", async ({target}) => {
    if (!target.files[0]) return;
    live.engine.FS.writeFile(path, new Uint8Array(await target.files[0].arrayBuffer()));
    const answer = ask({do: "load", model: 0, path});
    if (!answer) return;
    Object.assign(models[0], {losses: [], step: answer.step, kept: false});
    lookAt(models[0]);
    draw();
  });

  live.start().then(() => {
    addModel();
    for (const button of document.querySelectorAll("#engine button, #engine input")) button.disabled = button.id === "back";
    engine.dataset.ready = "yes";
  });
}
