// The page: the graph, its visible part, and the actions of buttons and keys.

const byId = (id) => document.getElementById(id);
const jsonOf = (id) => JSON.parse(byId(id).textContent);
const stage = byId("stage");
const graph = new Graph(jsonOf("graph"));
const drawing = new Drawing(stage, byId("picture").textContent.trim());
const camera = new Camera(stage, drawing);
const folding = new Folding(graph, jsonOf("levels-of-folding"), drawing);
const steps = new Steps(graph, folding, drawing);
const panel = new Panel(graph, drawing, steps, goTo);
const search = new Search(graph, folding, drawing, goTo);

setDark(startsDark());
if (document.body.dataset.depth === "automatic")
  folding.foldToFit(64);
else
  folding.foldBelow(Number(document.body.dataset.depth));
wireButtons();
wireSteps();
stage.addEventListener("click", (event) => activate(event.target));
stage.addEventListener("focusin", onFocus);
window.addEventListener("keydown", onKey);
window.addEventListener("hashchange", followLink);
afterFolding();
camera.open(folding.bounds, folding.shownAs(graph.vertices[0]).place);
followLink();
document.body.dataset.ready = "yes";

// ---- Vertices and frames -------------------------------------------------------------------------------------------

// A click or Enter: on a title folds, on a folded module unfolds, on a vertex opens its details.
function activate(target) {
  const id = target.closest("[role=button][id]")?.id ?? "";
  if (id.startsWith("t") || id.startsWith("b"))
    toggle(graph.byId.get(`c${id.slice(1)}`));
  else if (id.startsWith("n"))
    select(graph.byId.get(id));
  else if (!target.closest("svg .vertex"))
    panel.close();
}

// The element with the keyboard's focus is scrolled into view.
function onFocus({target}) {
  const thing = graph.byId.get(target.id.replace(/^[tb]/, "c"));
  if (!thing?.place || !target.matches(":focus-visible")) return;
  const {left, right, top, bottom} = thing.place;
  camera.show(
      target.id.startsWith("t") ? {left, right: Math.min(right, left + 200), top, bottom: top + 20} :
                                  {left, right, top, bottom});
}

// The panel takes room beside the picture, or below it; its vertex must not be hidden by it.
function select(vertex) {
  panel.open(vertex);
  camera.resize();
  camera.show(vertex.place);
  history.replaceState(null, "", `#${encodeURIComponent(graph.addressOf(vertex))}`);
}

// "#blocks.0.attn" leads to that module or vertex.
function followLink() {
  const thing = location.hash && graph.byAddress.get(decodedOf(location.hash.slice(1)));
  if (!thing) return;
  if (!thing.isFrame) {
    goTo(thing);
    return;
  }
  folding.reveal(thing);
  afterFolding();
  camera.open(thing.place, {...thing.place, right: thing.place.left, bottom: thing.place.top});
}

function decodedOf(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// The clicked element stays under the pointer, and keeps the keyboard's focus.
function toggle(frame) {
  const wasFolded = folding.folded.has(frame);
  const corner = (box) => ({x: (box.left + box.right) / 2, y: box.top});
  const before = camera.placeOf(corner(frame.place));
  if (wasFolded)
    folding.unfold(frame);
  else if (!folding.fold(frame))
    say(`${frame.path} stays open: data leaves it and comes back, and a picture has no cycle`);
  afterFolding();
  camera.put(corner(frame.place), before);
  if (camera.fits(folding.bounds)) camera.show(folding.bounds);
  drawing.element(folding.idOf(frame))?.focus({preventScroll: true, focusVisible: false});
}

function afterFolding() {
  steps.draw();
  search.draw();
  byId("level").textContent = graph.deepest > 0 ? `level ${folding.level} of ${graph.deepest}` : "";
  byId("levels").hidden = graph.deepest === 0;
  byId("fold").disabled = folding.level === 0;
  byId("unfold").disabled = folding.level === graph.deepest;
}

// The centre of attention stays in place: the vertex of the panel, or the element closest to the middle of the screen.
function setLevel(level) {
  const selected = panel.vertex && folding.shownAs(panel.vertex), seen = (thing) => meets(thing.place, camera.sight());
  const distance = ({place}) => Math.hypot(middle(place).x - camera.center.x, middle(place).y - camera.center.y);
  const closest = () => folding.shown.reduce((best, thing) => (distance(thing) < distance(best) ? thing : best));
  const anchor = selected && seen(selected) ? selected : closest();
  const place = camera.placeOf(middle(anchor.place));
  folding.foldBelow(level);
  afterFolding();
  const {place: now} = folding.shownAs(anchor.isFrame ? anchor.first : anchor);
  camera.put(middle(now), place, Math.min(Math.max(camera.scale, legible), 1.4));
  camera.show(now);
  if (camera.scaleOf(folding.bounds) >= legible) camera.fit(folding.bounds);
}

// Scrolls a vertex into view, out of folded modules, and opens its details.
function goTo(vertex) {
  if (!folding.isShown(vertex)) {
    folding.reveal(vertex);
    afterFolding();
  }
  camera.show(vertex.place, legible);
  select(vertex);
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
  byId("save-svg").addEventListener("click", () => saveAsSvg(pictureInSight(drawing, camera)));
  byId("save-png").addEventListener("click", () => saveAsPng(pictureInSight(drawing, camera), camera.size));
  byId("theme").addEventListener("click", () => setDark(!document.body.classList.contains("dark")));
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  byId("close").addEventListener("click", () => panel.close());
}

// By the options, or by the reader's screen.
function startsDark() {
  const {theme} = document.body.dataset;
  return theme === "dark" || (theme === "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

function setDark(isDark) {
  document.body.classList.toggle("dark", isDark);
  byId("theme").setAttribute("aria-pressed", isDark);
  for (const drawing of stage.querySelectorAll(":scope > svg")) {
    drawing.classList.remove("graph-dark", "graph-light");
    drawing.classList.add(isDark ? "graph-dark" : "graph-light");
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
    s: () => byId("save-svg").click(),
    p: () => byId("save-png").click(),
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
