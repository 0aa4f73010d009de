// The page: the graph, its pictures, and the actions of buttons and keys.

const byId = (id) => document.getElementById(id);
const jsonOf = (id) => JSON.parse(byId(id).textContent);
const stage = byId("stage");
const graph = new Graph(jsonOf("graph"));
const pictures = new Pictures(graph, jsonOf("shown"), stage);
const camera = new Camera(stage, pictures);
const steps = new Steps(graph, pictures);
const panel = new Panel(pictures, steps, goTo);
const search = new Search(graph, pictures, goTo);

// The buttons by their ids: the key that does the same, and the action.
const buttons = {
  fold: ["f", () => (pictures.picture.module ? leaveModule() : setLevel(pictures.level - 1))],
  unfold: ["u", () => setLevel(pictures.level + 1)],
  fit: ["0", () => camera.fit()],
  "save-svg": ["s", () => saveAsSvg(pictureInSight(pictures.svg, camera))],
  "save-png": ["p", () => saveAsPng(pictureInSight(pictures.svg, camera), camera.size)],
  theme: ["d", () => setDark(!document.body.classList.contains("dark"))],
  "help-button": ["?", () => byId("help").showModal()],
  first: ["Home", () => steps.goTo(0)],
  back: [",", () => steps.back()],
  forward: [".", () => steps.forward()],
  last: ["End", () => steps.goTo(steps.moments.length - 1)],
  play: [" ", () => (steps.isPlaying ? steps.pause() : steps.play())],
  close: ["", () => panel.close()]
};

show(pictures.levels[Number(document.body.dataset.level)]);
const dark = matchMedia("(prefers-color-scheme: dark)");
setDark(dark.matches);
dark.addEventListener("change", () => setDark(dark.matches));
// A page around this one says whether it is dark.
window.addEventListener("message", ({data}) => typeof data?.dark === "boolean" && setDark(data.dark));
for (const [id, [, action]] of Object.entries(buttons)) byId(id).addEventListener("click", action);
wireSteps();
stage.addEventListener("click", (event) => activate(event.target));
stage.addEventListener("focusin", onFocus);
window.addEventListener("keydown", onKey);
window.addEventListener("popstate", followAddress);
followAddress();
history.replaceState(stateOf(pictures.picture), "");
document.body.dataset.ready = "yes";

// ---- Pictures ------------------------------------------------------------------------------------------------------

function show(picture) {
  const hadFocus = stage.contains(document.activeElement);
  pictures.show(picture);
  const {level} = pictures, deepest = pictures.levels.length - 1;
  byId("level").textContent = deepest > 0 ? `level ${level} of ${deepest}` : "";
  byId("levels").hidden = deepest === 0;
  byId("fold").disabled = picture.level === 0;
  byId("unfold").disabled = Boolean(picture.module) || level === deepest;
  byId("path").replaceChildren(...pathTo(picture.module));
  setDark(document.body.classList.contains("dark"));
  steps.draw();
  search.draw();
  panel.draw();
  camera.resize();
  camera.open(boxOf(stage.querySelector(".vertex .box").getBBox()));
  if (hadFocus) stage.focus({preventScroll: true});
}

// "graph / blocks.0 … 11 / attn": the modules around a module, to go back to.
function pathTo(module) {
  const modules = [];
  for (let frame = module; frame; frame = frame.around) modules.unshift(frame);
  const link = (words, picture) => {
    const button = html("button", {}, words);
    button.addEventListener("click", () => go(picture));
    return button;
  };
  const links = modules.map((frame) => link(frame.title, pictures.insides.get(frame.path)));
  return module ? [link("graph", pictures.levels[pictures.level]), ...links.flatMap((link) => [" / ", link])] : [];
}

// Shows another picture. The browser's back button leads to the one before.
function go(picture) {
  if (picture === pictures.picture) return;
  show(picture);
  history.pushState(stateOf(picture), "", `#${encodeURIComponent(picture.module?.path ?? "")}`);
}

function stateOf({level, module}) { return {level, path: module?.path}; }

// A picture by the state of the history, or by the address: "#blocks.0.attn" leads to the inside of that module, or to
// that vertex.
function followAddress() {
  const {level, path} = history.state ?? {}, thing = graph.byAddress.get(decodedOf(location.hash.slice(1)));
  const linked = thing?.isFrame ? pictures.insides.get(thing.path) : thing && pictures.pictureOf(thing);
  const picture = pictures.levels[level] ?? pictures.insides.get(path) ?? linked ?? pictures.picture;
  if (picture !== pictures.picture) show(picture);
  if (!thing || thing.isFrame) return;
  camera.show(pictures.boxOf(thing), legible);
  select(thing);
}

function decodedOf(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Out of a module, to the one around it.
function leaveModule() {
  const {around} = pictures.picture.module;
  go(around ? pictures.insides.get(around.path) : pictures.levels[pictures.level]);
}

// The centre of attention stays in place.
function setLevel(next) {
  const picture = pictures.levels[next];
  if (!picture || pictures.picture.module) return;
  const vertex = vertexInSight(), place = camera.placeOf(middle(pictures.boxOf(vertex)));
  go(picture);
  camera.put(middle(pictures.boxOf(vertex)), place, Math.min(Math.max(camera.scale, legible), 1.4));
  camera.show(pictures.boxOf(vertex));
  if (camera.scaleOfAll >= legible) camera.fit();
}

// The vertex of the panel, or the one closest to the middle of the screen.
function vertexInSight() {
  if (panel.vertex && meets(pictures.boxOf(panel.vertex), camera.sight())) return panel.vertex;
  const distance = (vertex) => {
    const {x, y} = middle(pictures.boxOf(vertex));
    return Math.hypot(x - camera.center.x, y - camera.center.y);
  };
  const vertices = [...new Map(graph.vertices.map((vertex) => [pictures.elementOf(vertex), vertex])).values()];
  return vertices.reduce((best, vertex) => (distance(vertex) < distance(best) ? vertex : best));
}

// ---- Vertices ------------------------------------------------------------------------------------------------------

// A click or Enter: on a module or a frame's title opens its inside, on a vertex its details.
function activate(target) {
  const thing = pictures.things.get(target.closest("[role=button]"));
  if (!thing)
    panel.close();
  else if (thing.isFrame)
    go(pictures.insides.get(thing.path));
  else if (pictures.elements.has(thing))
    select(thing);
  else
    goTo(thing);
}

// The element with the keyboard's focus is scrolled into view.
function onFocus({target}) {
  if (pictures.things.has(target) && target.matches(":focus-visible")) camera.show(boxOf(target.getBBox()));
}

// The panel takes room beside the picture, or below it; its vertex must not be hidden by it.
function select(vertex) {
  panel.open(vertex);
  camera.resize();
  camera.show(pictures.boxOf(vertex));
  history.replaceState(history.state, "", `#${encodeURIComponent(vertex.address)}`);
}

// Scrolls a vertex into view, in a picture that has it, and opens its details.
function goTo(vertex) {
  go(pictures.pictureOf(vertex));
  camera.show(pictures.boxOf(vertex), legible);
  select(vertex);
}

// ---- Steps ---------------------------------------------------------------------------------------------------------

function wireSteps() {
  const slider = byId("slider"), saying = byId("saying");
  slider.max = Math.max(steps.moments.length - 1, 0);
  slider.addEventListener("input", () => steps.goTo(Number(slider.value)));
  steps.onChange = () => {
    slider.value = steps.at ?? 0;
    byId("play").setAttribute("aria-pressed", steps.isPlaying);
    const {where, pass, what} = steps.sentence();
    saying.replaceChildren(
        ...(pass ? [`${where}: `, html("b", {class: pass}, pass), `: ${what}`] : [`${where} ${what}`]));
    saying.title = saying.textContent;
    const [vertex] = steps.subjects;
    if (vertex && pictures.elementOf(vertex)) camera.show(pictures.boxOf(vertex));
    panel.refresh();
  };
  steps.onChange();
}

// ---- Buttons and keys ----------------------------------------------------------------------------------------------

function setDark(isDark) {
  document.body.classList.toggle("dark", isDark);
  byId("theme").setAttribute("aria-pressed", isDark);
  pictures.svg.classList.toggle("graph-dark", isDark);
  pictures.svg.classList.toggle("graph-light", !isDark);
}

function leave() {
  if (!panel.element.hidden)
    panel.close();
  else if (steps.at !== null)
    steps.goTo(null);
  else if (pictures.picture.module)
    leaveModule();
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
    ArrowLeft: () => camera.move(-far, 0),
    ArrowRight: () => camera.move(far, 0),
    ArrowUp: () => camera.move(0, -far),
    ArrowDown: () => camera.move(0, far),
    "/": () => search.field.focus(),
    Escape: leave
  };
  for (const [id, [key]] of Object.entries(buttons)) actions[key] = () => byId(id).click();
  const keepsKey = (onSlider && /^(Arrow|Home|End)/.test(event.key)) || (onButton && /^( |Enter)$/.test(event.key));
  if (keepsKey || !Object.hasOwn(actions, event.key)) return;
  event.preventDefault();
  actions[event.key]();
}
