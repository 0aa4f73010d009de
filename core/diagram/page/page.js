// The page: the graph, what is seen of it, and what buttons and keys do.

const byId = (id) => document.getElementById(id);
const stage = byId("stage");
const picture = stage.querySelector("svg");
picture.querySelector(".page").remove();  // its background is the page's
moveKey();
const graph = new Graph(JSON.parse(byId("graph").textContent), picture);
const camera = new Camera(stage, picture);
const folding = new Folding(graph, JSON.parse(byId("levels-of-folding").textContent));
const steps = new Steps(graph, folding);
const panel = new Panel(graph, steps, goTo);
const search = new Search(graph, folding, goTo);

makeFocusable();
wireButtons();
wireSteps();
window.addEventListener("keydown", onKey);
setDark(startsDark());
if (document.body.dataset.depth === "automatic")
  folding.foldToFit(64);
else
  folding.foldBelow(Number(document.body.dataset.depth));
afterFolding();
camera.fit(folding.bounds, {readable: true});
document.body.dataset.ready = "yes";

// ---- Vertices and frames -------------------------------------------------------------------------------------------

// The legend stays in its corner while the picture moves.
function moveKey() {
  const entries = [...picture.querySelectorAll(".legend")];
  if (entries.length === 0) return;
  const boxes = entries.map((entry) => entry.getBBox());
  const left = Math.min(...boxes.map((box) => box.x)) - 2,
        right = Math.max(...boxes.map((box) => box.x + box.width)) + 2;
  const top = boxes[0].y - 2, height = boxes[0].height + 4;
  const attributes = {
    class: `${picture.getAttribute("class")} key`,
    viewBox: `${left} ${top} ${right - left} ${height}`,
    width: right - left,
    height,
    "font-family": picture.getAttribute("font-family"),
    "aria-hidden": "true"
  };
  stage.append(svg("svg", attributes, ...entries));
}

function makeFocusable() {
  picture.setAttribute("role", "group");
  for (const vertex of graph.vertices) {
    const words =
        [vertex.op || vertex.role, vertex.fullName, vertex.shape && shapeText(vertex.shape)].filter(Boolean).join(" ");
    withAttributes(vertex.element, {tabindex: 0, role: "button", "aria-label": words});
  }
  for (const frame of graph.frames) {
    const words = `module ${frame.path} ${frame.what}, open`;
    withAttributes(frame.heading, {tabindex: 0, role: "button", "aria-expanded": "true", "aria-label": words});
  }
  stage.addEventListener("click", (event) => activate(event.target));
}

// A click or Enter: on a title folds, on a folded module unfolds, on a vertex tells of it.
function activate(target) {
  const id = target.closest("[role=button][id]")?.id ?? "";
  const number = id.slice(1);
  if (id.startsWith("t") || id.startsWith("b"))
    toggle(graph.byId.get(`c${number}`));
  else if (id.startsWith("n"))
    panel.open(graph.byId.get(id));
  else if (!target.closest("svg .vertex"))
    panel.close();
}

// What was clicked on stays under the pointer, and keeps the keyboard's focus.
function toggle(frame) {
  const wasFolded = folding.folded.has(frame);
  const corner = (box) => ({x: (box.left + box.right) / 2, y: box.top});
  const before = corner(frame.place);
  if (wasFolded)
    folding.unfold(frame);
  else if (!folding.fold(frame))
    say(`${frame.path} stays open: data leaves it and comes back, and a picture has no cycle`);
  const after = corner(frame.place);
  camera.move((after.x - before.x) * camera.scale, (after.y - before.y) * camera.scale);
  if (camera.fits(folding.bounds)) camera.show(folding.bounds);
  afterFolding();
  (folding.folded.has(frame) ? folding.boxes.get(frame).element : frame.heading).focus({preventScroll: true});
}

function afterFolding() {
  steps.draw();
  search.draw();
  byId("level").textContent = graph.deepest > 0 ? `level ${folding.level} of ${graph.deepest}` : "";
  byId("levels").hidden = graph.deepest === 0;
  byId("fold").disabled = folding.level === 0;
  byId("unfold").disabled = folding.level === graph.deepest;
}

function setLevel(level) {
  folding.foldBelow(level);
  afterFolding();
  camera.fit(folding.bounds, {readable: true});
}

// Brings a vertex into sight, out of folded modules, and tells of it.
function goTo(vertex) {
  if (!folding.isShown(vertex)) {
    folding.reveal(vertex);
    afterFolding();
  }
  camera.show(vertex.place, 0.7);
  panel.open(vertex);
}

// ---- Steps ---------------------------------------------------------------------------------------------------------

function say(text) { byId("saying").textContent = text; }

function wireSteps() {
  const slider = byId("slider"), play = byId("play");
  slider.max = Math.max(steps.moments.length - 1, 0);
  slider.addEventListener("input", () => steps.goTo(Number(slider.value)));
  const actions = {
    first: () => steps.goTo(0),
    back: () => steps.back(),
    forward: () => steps.forward(),
    last: () => steps.goTo(steps.moments.length - 1),
    play: () => (steps.isPlaying ? steps.pause() : steps.play())
  };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener("click", action);
  steps.onChange = () => {
    slider.value = steps.at ?? 0;
    play.setAttribute("aria-pressed", steps.isPlaying);
    const {where, pass, what} = steps.sentence();
    say("");
    byId("saying").append(
        ...(pass ? [`${where}: `, html("b", {class: pass}, pass), `: ${what}`] : [`${where} ${what}`]));
    byId("saying").title = byId("saying").textContent;
    for (const vertex of steps.subjects.slice(0, 1)) camera.show(folding.shownAs(vertex).place);
    panel.refresh();
  };
  steps.onChange();
}

// ---- Buttons and keys ----------------------------------------------------------------------------------------------

function wireButtons() {
  byId("fold").addEventListener("click", () => setLevel(folding.level - 1));
  byId("unfold").addEventListener("click", () => setLevel(folding.level + 1));
  byId("fit").addEventListener("click", () => camera.fit(folding.bounds));
  byId("theme").addEventListener("click", () => setDark(!document.body.classList.contains("dark")));
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  byId("close").addEventListener("click", () => panel.close());
}

// As the options say, or as the reader's screen is.
function startsDark() {
  const {theme} = document.body.dataset;
  return theme === "dark" || (theme === "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

function setDark(isDark) {
  const bright = document.body.dataset.theme === "mono" ? "graph-mono" : "graph-light";
  document.body.classList.toggle("dark", isDark);
  byId("theme").setAttribute("aria-pressed", isDark);
  for (const drawing of stage.querySelectorAll(":scope > svg")) {
    drawing.classList.remove("graph-dark", bright);
    drawing.classList.add(isDark ? "graph-dark" : bright);
  }
}

function leave() {
  if (!panel.element.hidden)
    panel.close();
  else if (steps.at !== null)
    steps.goTo(null);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  if (event.target.matches("input[type=search]")) return;
  const onSlider = event.target.matches("input[type=range]"), onButton = event.target.matches("button");
  if ((event.key === "Enter" || event.key === " ") && event.target.matches("svg [role=button]")) {
    event.preventDefault();
    activate(event.target);
    return;
  }
  const far = 80;
  const actions = {
    "+": () => camera.zoom(1.25),
    "=": () => camera.zoom(1.25),
    "-": () => camera.zoom(0.8),
    0: () => camera.fit(folding.bounds),
    ArrowLeft: () => camera.move(-far, 0),
    ArrowRight: () => camera.move(far, 0),
    ArrowUp: () => camera.move(0, -far),
    ArrowDown: () => camera.move(0, far),
    "/": () => search.field.focus(),
    "?": () => byId("help").showModal(),
    d: () => byId("theme").click(),
    Escape: leave,
    f: () => setLevel(folding.level - 1),
    u: () => setLevel(folding.level + 1),
    ".": () => steps.forward(),
    ",": () => steps.back(),
    Home: () => steps.goTo(0),
    End: () => steps.goTo(steps.moments.length - 1),
    " ": () => byId("play").click(),
  };
  const keepsKey = (onSlider && /^(Arrow|Home|End)/.test(event.key)) || (onButton && /^( |Enter)$/.test(event.key));
  if (keepsKey || !Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}
