#!/usr/bin/env python3
"""Uses the pages of xgrad_pages and docs/tools/pages as a reader does, and looks at the document after each action.

    html_long.py PAGES
"""
import pathlib
import sys
import time
import xml.etree.ElementTree

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from browser import complaints, on_a_phone, open_browser, wait_for

pages = pathlib.Path(sys.argv[1])
browser = open_browser()


def open_page(name, link=""):
    browser.get((pages / name).as_uri() + link)
    expect(js("document.body.dataset.ready"), "yes", f"{name} did not start")


def js(expression):
    return browser.execute_script(f"return {expression}")


def expect(found, expected, what=""):
    if found != expected:
        raise SystemExit(f"{what}: expected {expected!r}, found {found!r}")


def expect_that(holds, what):
    expect(bool(holds), True, what)


def one(selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def click(selector):
    ActionChains(browser).move_to_element(one(selector)).click().perform()


def press(*keys):
    ActionChains(browser).send_keys(*keys).perform()


def text(selector):
    return js(f"document.querySelector({selector!r}).textContent")


def shown(selector):
    return one(selector).is_displayed()


def has(selector, name):
    return js(f"document.querySelector({selector!r}).classList.contains({name!r})")


def those(selector):
    return js(f"[...document.querySelectorAll({selector!r})].map((element) => element.id)")


def written(vertex, beginning):
    """Whether the lines of a box that begin so can be seen."""
    lines = f"[...document.querySelectorAll('#{vertex} .detail')].filter((line) => line.textContent.startsWith({beginning!r}))"
    return js(f"{lines}.map((line) => getComputedStyle(line).visibility)")


def view():
    """The visible part of the picture: left, top, width."""
    return js("(({left, top, right}) => [left, top, right - left])(camera.sight())")


def middle_of(selector):
    box = one(selector).rect
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def the_page_opens():
    open_page("run.html")
    expect(browser.title, "A small run")
    expect(len(those("#stage g.vertex")), 14, "vertices")
    expect(text("#level"), "level 3 of 3")
    expect(text("#saying"), "20 steps to play, forward, then backward")
    expect(one("#n4").get_attribute("tabindex"), "0")
    expect(one("#n4").get_attribute("aria-label"), "tanh net.block [2, 2, 4]")
    expect(one("#t1").get_attribute("aria-label"), "module net.in Linear 3 -> 4 open")


def it_moves_and_zooms():
    press("0")
    before = view()
    press("+")
    expect_that(view()[2] < before[2], "+ did not zoom in")
    press("-")
    expect_that(abs(view()[2] - before[2]) < 0.5, "- did not zoom out again")
    press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    expect_that(view()[0] > before[0] + 10 and view()[1] > before[1] + 10, "the arrow keys did not move the picture")
    press("0")
    expect_that(abs(view()[2] - before[2]) < 0.5, "0 did not show everything")
    x, y = middle_of("#n4")
    stage = one("#stage")
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_element(one("#n4")), 0, -240).perform()
    expect_that(view()[2] < before[2] - 10, "the wheel did not zoom in")
    after = middle_of("#n4")
    expect_that(abs(after[0] - x) < 8 and abs(after[1] - y) < 8, "the wheel moved what was under the pointer")
    press("0")
    before = view()
    ActionChains(browser).move_to_element_with_offset(stage, -500, 0).click_and_hold().move_by_offset(60, 40).move_by_offset(60, 40).release().perform()
    expect_that(view()[0] < before[0] - 50 and view()[1] < before[1] - 30, "dragging did not move the picture")
    ActionChains(browser).move_to_element(one("#n4")).click_and_hold().move_by_offset(40, 0).move_by_offset(40, 0).release().perform()
    expect(shown("#panel"), False, "the end of a drag was taken for a click")
    press("0")


def it_searches():
    press("/")
    expect(js("document.activeElement.id"), "search")
    press("LINEAR")
    expect(text("#found"), "3 found")
    expect(those("#stage .match"), ["n3", "n6", "n9"])
    press(Keys.ENTER)
    expect(text("#found"), "1 of 3")
    expect(text("#facts h2"), "linear")
    expect(those("#stage .selected"), ["n3"])
    press(Keys.ENTER)
    expect(those("#stage .at"), ["n6"])
    press(Keys.ENTER, Keys.ENTER)
    expect(text("#found"), "1 of 3", "after the last comes the first")
    js("search.field.select()")
    press("net.block.mid.weight")
    expect(those("#stage .match"), ["n5"], "search by path")
    press(Keys.ESCAPE)
    expect(those("#stage .match"), [])
    press(Keys.ESCAPE)
    expect(shown("#panel"), False)


def path():
    return js("[...document.querySelectorAll('#path button')].map((button) => button.textContent)")


def boxes():
    """The modules that are boxes in the picture."""
    return js("[...pictures.elements.keys()].filter((thing) => thing.isFrame).map((frame) => frame.path)")


def it_opens_modules():
    # Levels: all that is nested deeper is a box.
    press("f")
    expect([text("#level"), boxes()], ["level 2 of 3", ["net.block.mid"]])
    expect_that("mid" in text("#stage .module") and "Linear 4 -> 4" in text("#stage .module") and "16 parameters" in text("#stage .module"),
                text("#stage .module"))
    click("#fold")
    expect([text("#level"), boxes()], ["level 1 of 3", ["net.in", "net.block", "net.out"]])
    press("f")
    expect([text("#level"), boxes()], ["level 0 of 3", ["net"]])
    expect(one("#fold").is_enabled(), False)
    # A click on a box opens its inside, with its neighbours and a path to go back.
    expect(path(), [])
    click("#stage .module .box")
    expect([path(), boxes()], [["graph", "net"], ["net.in", "net.block", "net.out"]])
    expect([js("location.hash"), one("#unfold").is_enabled()], ["#net", False])
    click("#" + js("pictures.elements.get(graph.frames[2]).id") + " .box")
    expect([path(), boxes()], [["graph", "net", "block"], ["net.block.mid"]])
    expect(js("[...document.querySelectorAll('#stage .neighbour')].map((element) => element.getAttribute('aria-label'))"), ["from in", "to out"])
    expect(js("graph.edges.filter((edge) => pictures.arrowsOf(edge).length > 0).map((edge) => `${edge.from}>${edge.to}`)"),
           ["n3>n4", "n4>n6", "n4>n7", "n6>n7", "n7>n9"], "arrows of the module, those that enter and leave included")
    # By keys: Enter on a box, then out again.
    js("pictures.elements.get(graph.frames[3]).focus()")
    press(Keys.ENTER)
    expect([path(), js("location.hash"), js("document.activeElement.id")], [["graph", "net", "block", "mid"], "#net.block.mid", "stage"])
    press("f")
    expect(path(), ["graph", "net", "block"])
    press(Keys.ESCAPE)
    expect(path(), ["graph", "net"])
    # A neighbour leads to the picture that has it.
    js("go(pictures.insides.get('net.block'))")
    click("#stage .neighbour .box")
    expect([path(), those("#stage .selected"), text("#facts h2")], [["graph", "net", "in"], [js("pictures.elements.get(graph.vertices[3]).id")], "linear"])
    press(Keys.ESCAPE)
    # The browser's buttons lead through the pictures.
    browser.back()
    expect(path(), ["graph", "net", "block"])
    browser.back()
    expect(path(), ["graph", "net"])
    browser.forward()
    expect(path(), ["graph", "net", "block"])
    click("#path button")
    expect([path(), text("#level"), boxes()], [[], "level 0 of 3", ["net"]])
    browser.back()
    expect(path(), ["graph", "net", "block"])
    browser.forward()
    # A search finds what is inside, and goes there.
    press("/", "tanh")
    expect(js("[...pictures.things].filter(([element]) => element.matches('.match')).map(([, thing]) => thing.path)"), ["net"])
    press(Keys.ENTER)
    expect([path(), js("panel.vertex.id"), len(those("#stage .selected"))], [["graph", "net", "block"], "n4", 1])
    press(Keys.ESCAPE, Keys.ESCAPE, Keys.ESCAPE, Keys.ESCAPE)
    expect(path(), [])
    press("u", "u", "u")
    expect(text("#level"), "level 3 of 3")
    # A click on a frame's title opens the inside, too.
    click("#t3 tspan")
    expect(path(), ["graph", "net", "block", "mid"])
    browser.back()
    expect(text("#level"), "level 3 of 3")


def a_click_tells():
    click("#n4 .box")
    facts = text("#facts")
    for part in ("tanh", "net.block", "Residual", "[2, 2, 4]", "128 B until the backward pass", "tanh x", "1 - y^2", "count16", "deviation",
                 "the sum of 2 parts", "[1, :, :]"):
        expect_that(part in facts, f"the panel does not say {part!r}: {facts}")
    expect(len(js("[...document.querySelectorAll('#facts .histogram')]")), 4, "histograms of value, gradient and two parts")
    expect(len(js("[...document.querySelectorAll('#facts .histogram')[0].querySelectorAll('rect')]")), 20)
    rows = js("[...document.querySelectorAll('#facts .numbers')[0].querySelectorAll('tr')].map((row) => row.cells.length)")
    expect(rows, [4, 4, 4, 4])
    expect(js("graph.byId.get('n4').value.numbers.map(short)"),
           js("[...document.querySelectorAll('#facts .numbers')[0].querySelectorAll('td')].map((cell) => cell.textContent)"))
    expect_that(js("document.querySelector('#facts td').style.background") != "", "no heat in the table")
    expect(sorted(those("#stage .edge.touching")), sorted(js("graph.edges.filter((e) => e.from === 'n4' || e.to === 'n4').map((e) => e.id)")))
    # Along an arrow, by the list of those who use the value.
    js("[...document.querySelectorAll('#facts a')].at(-1).click()")
    expect(those("#stage .selected"), ["n7"])
    for vertex, selector, part in (("n12", "#facts", "infinities1"), ("n12", "#facts", "-\u221e"), ("n8", "#facts", "NaN1"),
                                   ("n8", "#facts .numbers td.bad", "NaN"), ("n2", "#facts .state", "zero")):
        js(f"document.querySelector('#{vertex}').focus()")
        press(Keys.ENTER)
        expect_that(part in text(selector), f"{selector} of {vertex} does not say {part!r}: {text(selector)}")
    click("#close")
    expect(shown("#panel"), False)


def it_steps():
    press("0")
    click("#n3 .box")
    press(".")
    expect(text("#saying"), "step 1 of 20: forward: linear makes [2, 2, 4] from x, net.in.weight and net.in.bias")
    expect(those("#stage .now.vertex"), ["n3"])
    expect(sorted(those("#stage .vertex.later")), sorted(f"n{v}" for v in (4, 6, 7, 9, 11, 12, 13)))
    expect_that("deviation" in text("#facts") and "not complete yet" in text("#facts"), "the value is known, the gradient is not")
    seen = "[...document.querySelectorAll('#stage .vertex')].filter((one) => [...one.querySelectorAll('.bars, .cells')].some((part) => getComputedStyle(part).visibility !== 'hidden')).map((one) => one.id)"
    expect(sorted(js(seen)), ["n0", "n1", "n10", "n2", "n3", "n5", "n8"], "numbers of six leaves and one operation")
    expect(written("n3", "= "), ["visible"])
    expect([written("n13", "= "), written("n3", "gradient ")], [["hidden"], ["hidden"]], "what comes later is not said yet")
    press(".")
    expect(those("#stage .now.vertex"), ["n4"])
    press(",", ",")
    expect(text("#saying").split(":")[0], "step 1 of 20", "nothing before the first")
    for step in range(2, 21):
        click("#forward")
        expect(text("#saying").split(":")[0], f"step {step} of 20")
        expect(js("document.getElementById('slider').value"), str(step - 1))
        if step == 9:
            expect(text("#saying"), "step 9 of 20: backward: it begins with the gradient of loss")
            expect(has("#n13", "backward"), True)
        if step == 17:
            expect(text("#saying"), "step 17 of 20: backward: linear' and add' give the gradient of tanh, the sum of 2 parts")
            expect(those("#stage .edge.now.backward"), js("graph.edges.filter((e) => e.from === 'n4').map((e) => e.id)"))
    expect(text("#saying"), "step 20 of 20: backward: linear' gives the gradient of net.in.weight")
    expect(those("#stage .vertex.later"), [])
    expect_that("not complete yet" not in text("#facts"), "all gradients are known at the end")
    expect([written("n13", "= "), written("n3", "gradient ")], [["visible"], ["visible"]])
    press(".")
    expect(text("#saying").split(":")[0], "step 20 of 20", "nothing after the last")
    for button, step in (*(("#back", step) for step in range(19, 0, -1)), ("#last", 20), ("#first", 1)):
        click(button)
        expect(text("#saying").split(":")[0], f"step {step} of 20")
    one("#slider").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    expect(text("#saying").split(":")[0], "step 3 of 20", "the slider by its arrow keys")
    js("stage.focus()")
    press(Keys.END)
    expect(text("#saying").split(":")[0], "step 20 of 20")
    press(Keys.HOME)
    click("#play")
    expect(one("#play").get_attribute("aria-pressed"), "true")
    wait_for(browser, "document.querySelector('#saying').textContent.split(' ')[1] >= 3")
    js("stage.focus()")
    press(" ")
    expect(one("#play").get_attribute("aria-pressed"), "false", "space did not pause")
    at = text("#saying")
    time.sleep(1.2)
    expect(text("#saying"), at, "it plays on")
    # A box shows what happens inside of the module.
    press(Keys.HOME, "f", "f")
    marked = lambda kind: js(f"[...document.querySelectorAll('#stage .vertex.{kind}')].map((element) => pictures.things.get(element).id)")
    expect(marked("now"), ["c1"])
    expect(sorted(marked("later")), ["c2", "c4", "n11", "n12", "n13"])
    press("u", "u")
    press(Keys.ESCAPE, Keys.ESCAPE)
    expect(text("#saying"), "20 steps to play, forward, then backward")
    expect([those("#stage .now"), those("#stage .later"), those("#stage .unknown")], [[], [], []])


def it_darkens():
    colour = "getComputedStyle(document.querySelector('#n0 .box')).fill"
    expect([js(colour), has("body", "dark")], ["rgb(219, 234, 254)", False])
    press("d")
    expect([js(colour), has("body", "dark")], ["rgb(30, 58, 138)", True])
    expect(js("getComputedStyle(document.body).backgroundColor"), "rgb(15, 23, 42)")
    expect(one("#theme").get_attribute("aria-pressed"), "true")
    click("#theme")
    expect(js(colour), "rgb(219, 234, 254)")


def it_helps():
    press("?")
    expect(js("document.getElementById('help').open"), True)
    press(Keys.ESCAPE)
    expect(js("document.getElementById('help').open"), False)
    js("stage.focus()")
    for _ in range(100):
        press(Keys.TAB)
        if js("document.activeElement.id") == "n4":
            break
    expect(js("document.activeElement.id"), "n4", "Tab does not reach the vertex")
    press(Keys.ENTER)
    expect(text("#facts h2"), "tanh")
    press(Keys.ESCAPE)


def without_steps():
    open_page("plain.html")
    expect([text("#level"), boxes()], ["level 1 of 3", ["net.in", "net.block", "net.out"]])
    expect(text("#saying"), "14 steps to play, in the order of the graph")
    press(".")
    expect(text("#saying"), "step 1 of 14: forward: x [2, 2, 3] is given")
    press(Keys.END)
    expect(text("#saying"), "step 14 of 14: forward: mean makes loss scalar from mul")
    click("#n0 .box")
    expect_that("Value" not in text("#facts") and "[2, 2, 3]" in text("#facts"), text("#facts"))


def hostile_texts_stay_texts():
    open_page("hostile.html")
    press(".", ".", ".", "f", "u", Keys.END, "/", "hacked", Keys.ENTER, Keys.ENTER, Keys.ESCAPE, Keys.ESCAPE)
    for vertex in range(14):
        js(f"panel.open(graph.vertices[{vertex}])")
        expect(js("[document.querySelectorAll('#facts img, #facts script').length, typeof window.hacked]"), [0, "undefined"])
    for module in range(5):
        js(f"go(pictures.insides.get(graph.frames[{module}].path))")
        expect(js("pictures.picture.module.id"), f"c{module}")
        js("activate(document.querySelector('#stage .neighbour'))")
    expect(js("typeof window.hacked"), "undefined", "a name ran as a script")
    expect(js("document.querySelectorAll('img, iframe, script:not([nonce]):not([type])').length"), 0)
    expect_that("<img src=x" in text("#facts") and "window.hacked=1" in text("#facts"), "the text itself is shown")


def real_models():
    for name in ("translation_step", "vit", "gpt_step", "played"):
        start = time.time()
        open_page(f"{name}.html")
        print(f"{name}: {js('graph.vertices.length')} vertices, {js('pictures.levels.length')} levels, {js('pictures.insides.size')} insides, opened in {time.time() - start:.1f} s")
        deepest = js("pictures.levels.length - 1")
        for level in range(deepest + 1):
            js(f"go(pictures.levels[{level}])")
            expect(text("#level"), f"level {level} of {deepest}")
        # Every vertex is in the inside of its module, and every arrow of the module is drawn.
        wrong = js("""[...pictures.levels, ...pictures.insides.values()].flatMap((picture) => {
          show(picture);
          const missing = graph.vertices.filter((vertex) => vertex.around && vertex.around.path === picture.module?.path)
              .filter((vertex) => !pictures.elements.has(vertex));
          const shown = (vertex, kind) => pictures.elementOf(vertex) ?? pictures.neighbours[kind].get(vertex);
          const apart = graph.edges.filter(({source, target}) => (pictures.elementOf(source) || pictures.elementOf(target)) &&
              shown(source, 'from') !== shown(target, 'to'));
          const without = apart.filter((edge) => pictures.arrowsOf(edge).length === 0);
          return missing.length > 0 || without.length > 0 ?
              [[picture.module?.path, missing.length, without.map((edge) => `${edge.from}>${edge.to}`)]] : [];
        })""".replace("\n", " "))
        expect(wrong, [], f"{name}: something is missing, or has no arrow")
        js("show(pictures.levels[0])")
        press(".", ".", ".", Keys.END)
        expect_that("step" in text("#saying"), text("#saying"))


def a_large_page_opens():
    """2,500 equal blocks, in a picture that is larger than any other level may be."""
    start = time.time()
    open_page("large.html")
    print(f"large: {js('graph.vertices.length')} vertices, opened in {time.time() - start:.1f} s")
    expect(browser.title, "The graph of y")
    # The formulas of the first block and of its fc1 name their input x, those of other blocks have "input".
    expect(js("[pictures.levels.length, graph.frames.length, document.querySelectorAll('script[id^=picture]').length]"), [1, 7500, 6],
           "pictures of the graph, of the first block, of its fc1, of another block, of the last one, whose result is y, and of all other modules")
    same = lambda one, other: js(f"pictures.insides.get('{one}').picture === pictures.insides.get('{other}').picture")
    expect([same("1", "2498"), same("0", "1"), same("1", "2499"), same("1.fc1", "2499.fc2"), same("0.fc2", "1.fc1"), same("0.fc1", "1.fc1")],
           [True, False, False, True, True, False], "equal pictures")
    js("goTo(graph.vertices.find((vertex) => vertex.path === '150.fc2'))")
    expect(path(), ["graph", "150", "fc2"])
    expect(js("meets(pictures.boxOf(panel.vertex), camera.sight())"), True)
    js("leaveModule()")
    expect(js("[...document.querySelectorAll('#stage .neighbour')].map((element) => element.querySelector('text').textContent)"), ["149", "151"])


def moving_draws_nothing_anew():
    open_page("large.html")
    js("""window.changes = new MutationObserver((all) => { window.changed = (window.changed ?? 0) + all.length; }),
      changes.observe(stage, {subtree: true, childList: true, characterData: true})""")
    before = js("[pictures.svg.style.transform, camera.center.y]")
    for _ in range(5):
        press(Keys.ARROW_DOWN)
    after = js("[pictures.svg.style.transform, camera.center.y]")
    expect_that(after[0] != before[0] and after[1] > before[1], "it did not move")
    expect(js("window.changed ?? 0"), 0, "elements were touched")


def levels_keep_the_reader():
    open_page("translation_step.html")
    js("go(pictures.levels[2]), camera.zoom(1.2), goTo(graph.vertices.find((vertex) => vertex.name === 'weight'))")
    where = "camera.placeOf(middle(pictures.boxOf(panel.vertex)))"
    before = js(where)
    press("u")
    after = js(where)
    expect_that(abs(before["x"] - after["x"]) < 60 and abs(before["y"] - after["y"]) < 60, f"from {before} to {after}")
    press(Keys.ESCAPE)
    for key in "ffffuuuu":
        press(key)
        expect_that(js("camera.scale >= legible"), f"letters are too small after {key}")
        expect_that(js("graph.vertices.some((vertex) => meets(pictures.boxOf(vertex), camera.sight()))"), f"nothing is in sight after {key}")


def links_lead_to_vertices():
    open_page("run.html")
    click("#n4 .box")
    expect(js("decodeURIComponent(location.hash)"), "#net.block.tanh")
    press(Keys.ESCAPE)
    browser.get("about:blank")
    open_page("plain.html", "#net.block.tanh")
    expect([path(), js("panel.vertex.id"), len(those("#stage .selected"))], [["graph", "net", "block"], "n4", 1])
    js("location.hash = '#net.in'")
    expect(path(), ["graph", "net", "in"], "a module")
    js("location.hash = '#mean'")
    expect([path(), js("panel.vertex.id")], [[], "n13"], "a vertex that has a name, by its operation")
    for again in (browser.back, browser.refresh):
        again()
        expect(path(), ["graph", "net", "in"], "loaded again")
    browser.get("about:blank")
    open_page("plain.html", "#nosuch%")


def it_saves():
    open_page("run.html")
    js("window.saved = [], save = (blob, extension) => saved.push([extension, blob])")
    press("s", "p")
    wait_for(browser, "saved.length === 2")
    saved = js("saved.map(([extension, blob]) => [extension, blob.size > 1000])")
    expect(saved, [["svg", True], ["png", True]])
    drawing = browser.execute_async_script("saved[0][1].text().then(arguments[0])")
    root = xml.etree.ElementTree.fromstring(drawing)
    boxes = [element for element in root.iter() if element.get("id", "").startswith("n")]
    expect(len(boxes), js("pictures.elements.size"))
    expect_that("http" not in drawing.replace("http://www.w3.org/", ""), "it refers to the outside")
    expect_that(".graph-light .as-input .box" in drawing, "it has no colours")


def narrow_screens():
    on_a_phone(browser)
    for name in ("run", "translation_step", "gpt_step"):
        open_page(f"{name}.html")
        expect(js("document.documentElement.scrollWidth"), 390, "the page is wider than the screen")
        outside = js("""[...document.querySelectorAll('button, input')].filter((one) => one.getClientRects().length > 0)
            .filter((one) => one.getBoundingClientRect().right > 390).map((one) => one.id)""")
        expect(outside, [], "these are out of sight")
        expect_that(js("graph.vertices.filter((vertex) => meets(pictures.boxOf(vertex), camera.sight())).length") > 2, "too little is in sight at first")
        expect(js("meets(pictures.boxOf(graph.vertices[0]), camera.sight())"), True, "the first vertex")
        js("goTo(graph.vertices[9])")
        free = js("""(() => {
          const box = pictures.elementOf(graph.vertices[9]).getBoundingClientRect(), panel = document.getElementById('panel').getBoundingClientRect();
          const stage = document.getElementById('stage').getBoundingClientRect();
          return box.bottom <= panel.top && box.top >= stage.top && box.left >= 0 && box.right <= 390;
        })()""")
        expect(free, True, "the panel hides its vertex")
    # Two fingers that go apart zoom in, and what is between them stays there.
    js("panel.close(), camera.resize()")
    before = js("[camera.scale, camera.center.x, camera.center.y]")
    touch = lambda kind, points: browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [
        {"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]})
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 2})
    middle = js("(({left, top, width, height}) => [left + width / 2, top + height / 2])(stage.getBoundingClientRect())")
    fingers = lambda apart: [(middle[0] - apart, middle[1]), (middle[0] + apart, middle[1])]
    touch("touchStart", fingers(40))
    for apart in (50, 60, 70, 80):
        touch("touchMove", fingers(apart))
    touch("touchEnd", [])
    after = js("[camera.scale, camera.center.x, camera.center.y]")
    expect_that(1.7 < after[0] / before[0] < 2.3, f"two fingers zoomed by {after[0] / before[0]}")
    expect_that(abs(after[1] - before[1]) < 15 and abs(after[2] - before[2]) < 15, f"the middle went from {before} to {after}")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def text_and_lines_can_be_seen():
    """WCAG 2 asks for a contrast of 4.5 of text to what is below it, and of 3 of lines."""
    for name in ("run", "translation_step"):
        open_page(f"{name}.html")
        for theme in ("light", "dark"):
            faint = js("""(() => {
              const numbers = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
              const light = (rgb) => {
                const [r, g, b] = rgb.map((x) => x / 255).map((x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
              };
              const contrast = (over, under, opacity = 1) => {
                const below = numbers(under), above = numbers(over).map((x, i) => opacity * x + (1 - opacity) * below[i]);
                const [a, b] = [light(above), light(below)].sort((a, b) => b - a);
                return (a + 0.05) / (b + 0.05);
              };
              const page = getComputedStyle(document.body).backgroundColor, faint = [];
              for (const text of stage.querySelectorAll('.vertex tspan')) {
                const style = getComputedStyle(text), box = getComputedStyle(text.closest('g').querySelector('.box'));
                const found = contrast(style.fill, box.fill, Number(style.fillOpacity));
                if (found < 4.5) faint.push([text.textContent, found]);
              }
              for (const line of stage.querySelectorAll('.vertex .box, .line, .frame')) {
                const found = contrast(getComputedStyle(line).stroke, page);
                if (found < 3) faint.push([line.parentElement.getAttribute('class'), found]);
              }
              return faint;
            })()""".replace("\n", " "))
            expect(faint, [], f"too faint in {name}, {theme}")
            press("d")


def nothing_went_wrong():
    expect(complaints(browser), [], "errors, and what was asked of the network")


try:
    for test in (the_page_opens, it_moves_and_zooms, it_searches, it_opens_modules, a_click_tells, it_steps, it_darkens, it_helps, without_steps,
                 hostile_texts_stay_texts, real_models, a_large_page_opens, moving_draws_nothing_anew, levels_keep_the_reader, links_lead_to_vertices,
                 it_saves, text_and_lines_can_be_seen, narrow_screens, nothing_went_wrong):
        print(test.__name__.replace("_", " "), flush=True)
        test()
finally:
    browser.quit()
