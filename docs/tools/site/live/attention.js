// The page where a reader moves attention.
{
  const byId = (id) => document.getElementById(id);
  const width = 16;
  let chosen = 1, words = [];

  const request = () => ({
    words, word: chosen, width, heads: Number(byId("heads").value), mask: byId("mask").value, scale: byId("scale").value === "yes",
    positions: byId("positions").value === "yes", temperature: 10 ** Number(byId("temperature").value)
  });

  function compute() {
    words = byId("text").value.trim().split(/\s+/).filter(Boolean).slice(0, 12);
    chosen = Math.max(0, Math.min(chosen, words.length - 1));
    const answer = live.ask("attention", request());
    byId("error").hidden = !answer.error;
    byId("error").textContent = answer.error ?? "";
    if (answer.error) return;
    const heads = Number(byId("heads").value), size = words.length, before = Number(byId("head").value) || 1;
    byId("head").replaceChildren(...Array.from({length: heads}, (_, i) => live.make("option", {}, i + 1)));
    byId("head").value = Math.min(before, heads);
    const head = Number(byId("head").value) - 1, from = (head * size + chosen) * size;
    const weights = answer.weights.slice(from, from + size), scores = answer.scores.slice(from, from + size);
    drawWords();
    drawLines(weights);
    drawTable(weights, scores, answer.influence);
    drawCells(answer, head, heads);
    live.drawMaps(byId("maps"), Array.from({length: heads}, (_, i) => `head ${i + 1}`), size, answer.weights);
    byId("saying").textContent = `"${words[chosen]}" attends most to "${words[weights.indexOf(Math.max(...weights))]}"; temperature ${live.text(request().temperature)}`;
    byId("engine").dataset.weights = JSON.stringify(weights);
  }

  function choose(i) {
    if (i === chosen) return;
    chosen = i;
    compute();
  }

  // Buttons that exist stay: they may have the keyboard's focus, or the pointer above them.
  function drawWords() {
    const name = JSON.stringify(words);
    if (byId("words").dataset.of !== name) {
      byId("words").dataset.of = name;
      byId("words").replaceChildren(...words.map((word, i) =>
        live.make("button", {type: "button", onclick: () => choose(i), onpointerenter: () => choose(i), onfocus: () => choose(i)}, word)));
    }
    [...byId("words").children].forEach((button, i) => button.setAttribute("aria-pressed", i === chosen));
  }

  function drawLines(weights) {
    const x = (i) => 640 * (i + 0.5) / words.length, parts = [];
    weights.forEach((weight, i) => {
      parts.push(live.svg("line", {class: "first", x1: x(chosen), y1: 28, x2: x(i), y2: 122, "stroke-width": 1 + 9 * weight, "stroke-opacity": weight}));
      parts.push(live.svg("text", {x: x(i), y: 142, "text-anchor": "middle"}, words[i]));
    });
    parts.push(live.svg("text", {x: x(chosen), y: 18, "text-anchor": "middle"}, words[chosen]));
    byId("lines").replaceChildren(...parts);
  }

  function drawTable(weights, scores, influence) {
    const bar = (share, text) => live.make("td", {}, live.make("span", {class: "bar", style: `width: ${(45 * share).toFixed(1)}%`}), text);
    const most = Math.max(...influence) || 1;
    byId("table").replaceChildren(
      live.make("tr", {}, ...["word", "score", "weight", "gradient"].map((title) => live.make("th", {scope: "col"}, title))),
      ...words.map((word, i) => live.make("tr", {}, live.make("th", {scope: "row"}, word), live.make("td", {}, live.text(scores[i])),
                                          bar(weights[i], live.text(weights[i])), bar(influence[i] / most, live.text(influence[i])))));
  }

  // A square for each number, the stronger the larger: blue above 0, orange below.
  function drawCells({q, k, v}, head, heads) {
    const size = width / heads, from = (head * words.length + chosen) * size;
    byId("cells").replaceChildren(...Object.entries({q, k, v}).map(([name, all]) => {
      const cells = all.slice(from, from + size).map((number) => live.make("span", {
        class: number < 0 ? "cell minus" : "cell", title: live.text(number), style: `--strength: ${(100 * Math.min(Math.abs(number) / 2, 1)).toFixed(0)}%`}, live.text(Number(number.toFixed(1)))));
      return live.make("p", {class: "cells numbers"}, live.make("b", {}, name), ...cells);
    }));
  }

  const soon = live.later(compute, 40);
  byId("text").addEventListener("input", soon);
  byId("form").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["heads", "mask", "scale", "positions", "temperature", "head"]) byId(id).addEventListener("input", soon);
  byId("draw").addEventListener("click", () => {
    const answer = live.ask("attention", {...request(), graph: true});
    if (!answer.error) live.show(byId("graph"), answer.page);
  });
  live.start().then(compute).then(() => {
    byId("draw").disabled = false;
    byId("engine").dataset.ready = "yes";
  });
}
