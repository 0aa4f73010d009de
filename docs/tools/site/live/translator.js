// The page where a trained transformer translates.
{
  const byId = (id) => document.getElementById(id);
  const engine = byId("engine");
  let about, answer, shown = 0, chosen = 0;  // which hypothesis is shown, and which of its words

  function compute() {
    const text = byId("text").value.replace(/[\u2018\u2019]/g, "'");  // telephones write them
    answer = live.ask("translation", {text, beams: Number(byId("beams").value), length_penalty: Number(byId("penalty").value), top: 5});
    byId("error").hidden = !answer.error;
    byId("error").textContent = answer.error ?? "";
    engine.classList.toggle("refused", Boolean(answer.error));
    byId("unknown").hidden = Boolean(answer.error) || answer.unknown.length === 0;
    if (answer.error) return;
    const unknown = [...new Set(answer.unknown)].map((word) => `"${word}"`).join(", ");
    byId("unknown").textContent = `The model does not know ${unknown}: it reads <unk> there, and what follows is a guess.`;
    shown = 0;
    chosen = 0;
    draw();
  }

  const hypothesis = () => answer.hypotheses[shown];
  const sentence = (words) => words.join(" ") || "(nothing)";
  const p = (number) => (number < 0.0001 ? "< 0.0001" : number.toFixed(number > 0.99 || number < 0.01 ? 4 : 3));
  const minus = (number) => number.toFixed(3).replace("-", "\u2212");
  const bar = (share) => live.make("span", {class: "bar", style: `width: ${(45 * share).toFixed(1)}%`});
  const head = (...titles) => live.make("tr", {}, ...titles.map((title) => live.make("th", {scope: "col"}, title)));

  function draw() {
    const {words, log_p, ended} = hypothesis();
    chosen = Math.min(chosen, hypothesis().steps.length - 1);
    byId("french").textContent = sentence(words);
    const known = about.held_out.find(({text}) => text === answer.words.join(" "));
    const accepted = known ? `; never seen in training, accepted: ${known.answers.join(" / ")}` : "";
    byId("saying").textContent = `ln p = ${minus(log_p)}, p = ${p(Math.exp(log_p))}${ended ? "" : "; cut off: no end within the longest sentence"}${accepted}`;
    engine.dataset.french = sentence(words);
    drawWords();
    drawAlignment();
    drawSteps();
    drawBeam();
    drawHypotheses();
  }

  function choose(i) {
    if (i === chosen) return;
    chosen = i;
    drawWords();
    drawAlignment();
  }

  // ---- Alignment ----

  function weightsOf(step) {
    const of = byId("head").value;
    if (of === "mean") return step.attention;
    const [layer, number] = of.split(" ").map(Number);
    return step.heads[layer][number];
  }

  // Buttons that exist stay: they may have the keyboard's focus, or the pointer above them.
  function drawWords() {
    const words = hypothesis().steps.map(({word}) => word), name = JSON.stringify(words);
    if (byId("words").dataset.of !== name) {
      byId("words").dataset.of = name;
      byId("words").replaceChildren(...words.map((word, i) =>
        live.make("button", {type: "button", onclick: () => choose(i), onpointerenter: () => choose(i), onfocus: () => choose(i)}, word)));
    }
    [...byId("words").children].forEach((button, i) => button.setAttribute("aria-pressed", i === chosen));
  }

  function drawAlignment() {
    const {steps} = hypothesis(), {read} = answer, weights = weightsOf(steps[chosen]), lines = [], words = [];
    const height = 26 * Math.max(steps.length, read.length), y = (i, count) => height * (i + 0.5) / count;
    steps.forEach((step, t) => weightsOf(step).forEach((weight, s) => lines.push([t === chosen, live.svg("line", {
      class: t === chosen ? "first" : "axis", x1: 135, y1: y(s, read.length), x2: 265, y2: y(t, steps.length),
      "stroke-width": 1 + 7 * weight, "stroke-opacity": t === chosen ? 0.2 + 0.8 * weight : 0.6 * weight})])));
    read.forEach((word, s) => words.push(live.svg("text", {x: 128, y: y(s, read.length) + 5, "text-anchor": "end"}, word)));
    steps.forEach(({word}, t) => {
      const text = live.svg("text", {x: 272, y: y(t, steps.length) + 5, "font-weight": t === chosen ? 700 : 400}, word);
      text.addEventListener("pointerenter", () => choose(t));
      words.push(text);
    });
    byId("alignment").setAttribute("viewBox", `0 0 400 ${height}`);
    byId("alignment").replaceChildren(...lines.filter(([of]) => !of).map(([, line]) => line), ...lines.filter(([of]) => of).map(([, line]) => line), ...words);
    byId("weights").replaceChildren(head(`weight of "${steps[chosen].word}"`, ""), ...read.map((word, s) =>
      live.make("tr", {}, live.make("th", {scope: "row"}, word), live.make("td", {}, bar(weights[s]), p(weights[s])))));
    engine.dataset.weights = JSON.stringify(weights);
  }

  // ---- Probabilities, beam, hypotheses ----

  const chips = (next) => live.make("span", {class: "chips"}, ...next.map(({word, p: share, chosen: is}) =>
    live.make("span", {class: is ? "chip chosen" : "chip", style: `--strength: ${(100 * share).toFixed(0)}%`}, `${word} ${p(share)}`)));

  function drawSteps() {
    byId("steps").replaceChildren(head("", "word", "p of the next word"), ...hypothesis().steps.map(({word, next}, t) =>
      live.make("tr", {}, live.make("td", {}, t + 1), live.make("th", {scope: "row"}, word), live.make("td", {}, chips(next)))));
  }

  function drawBeam() {
    const {steps, hypotheses} = answer, {rows} = hypothesis(), items = [];
    for (let length = 1; length <= Math.max(...hypotheses.map(({rows: of}) => of.length)); ++length) {
      const open = (steps[length] ?? []).map(({words, log_p, next}, row) => ({words, log_p, next, leads: rows[length] === row}));
      const complete = hypotheses.flatMap(({words, log_p, ended, rows: of}, i) =>
        (of.length === length ? [{words: ended ? [...words, "<eos>"] : words, log_p, leads: i === shown}] : []));
      const all = [...open, ...complete].sort((a, b) => b.log_p - a.log_p);
      items.push(live.make("li", {}, ...all.map(({words, log_p, next, leads}) => {
        const name = [live.make("span", {class: leads ? "leads" : ""}, words.join(" ")), ` ${minus(log_p)}`];
        return next ? live.make("details", {}, live.make("summary", {}, ...name), chips(next)) : live.make("p", {class: "complete"}, ...name);
      })));
    }
    byId("beam").replaceChildren(...items);
  }

  function drawHypotheses() {
    const show = (i) => () => {
      shown = i;
      draw();
      byId("hypotheses-table").querySelectorAll("button")[i].focus();
    };
    byId("hypotheses-table").replaceChildren(head("French", "ln p", "score"), ...answer.hypotheses.map(({words, log_p, score, ended}, i) =>
      live.make("tr", {}, live.make("td", {lang: "fr"}, live.make("button", {type: "button", "aria-pressed": i === shown, onclick: show(i)}, sentence(words)), ended ? "" : " (cut off)"),
                live.make("td", {}, minus(log_p)), live.make("td", {}, minus(score)))));
  }

  // ---- The start ----

  function load(bytes) {
    const path = "/translator.safetensors";
    live.engine.FS.writeFile(path, bytes);
    about = live.ask("translation", {do: "load", path});
    if (about.error) throw new Error(about.error);
    byId("held-out").append(...about.held_out.map(({text}) => live.make("option", {}, text)));
    byId("about").textContent =
      `The model of examples/quickstart: an encoder and a decoder of 2 layers each, 4 heads, width 32, ${about.parameters} parameters, trained on ${about.pairs} sentence pairs for 200 epochs by the native program when this site was made. ` +
      `Its BLEU on the ${about.held_out.length} held-out sentences is ${about.bleu[4].toFixed(3)} with 4 beams and ${about.bleu[1].toFixed(3)} with one (n-grams up to 2, best of the accepted translations). ` +
      `It knows ${about.source.length - 4} English and ${about.target.length - 4} French words and marks, and sentences of at most ${about.max_words} of them.`;
    byId("known").textContent = about.source.slice(4).sort().join(" ");
    for (const [layer, heads] of live.ask("translation", {text: "go .", beams: 1}).hypotheses[0].steps[0].heads.entries()) {
      byId("head").append(...heads.map((_, i) => live.make("option", {value: `${layer} ${i}`}, `layer ${layer + 1}, head ${i + 1}`)));
    }
  }

  byId("text").addEventListener("input", live.later(compute));
  byId("form").addEventListener("submit", (event) => event.preventDefault());
  byId("examples").addEventListener("change", () => {
    byId("text").value = byId("examples").value;
    compute();
  });
  for (const id of ["beams", "penalty"]) byId(id).addEventListener("change", compute);
  byId("head").addEventListener("change", drawAlignment);
  live.start().then(() => live.unpack(translatorWeights)).then(load).then(compute).then(() => { engine.dataset.ready = "yes"; });
}
