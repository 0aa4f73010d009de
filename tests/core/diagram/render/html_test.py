#!/usr/bin/env python3
"""Uses the pages of xgrad_pages as a reader does, in a headless Chromium, and looks at the document after each action.

    html_test.py PAGES [SCREENSHOTS]
"""
import pathlib
import sys
import time

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.chrome.service import Service

pages = pathlib.Path(sys.argv[1])
screenshots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None


def open_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1440,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


browser = open_browser()


def open_page(name):
    browser.get((pages / name).as_uri())
    expect(js("document.body.dataset.ready"), "yes", f"{name} did not start")


def js(expression):
    return browser.execute_script(f"return {expression}")


def expect(found, expected, what=""):
    if found != expected:
        picture("failed")
        raise SystemExit(f"{what}: expected {expected!r}, found {found!r}")


def expect_that(holds, what):
    expect(bool(holds), True, what)


def picture(name):
    if screenshots:
        browser.save_screenshot(str(screenshots / f"{name}.png"))


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
    return js("picture.getAttribute('viewBox').split(' ').map(Number)")


def middle_of(selector):
    box = one(selector).rect
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def the_page_opens():
    open_page("run.html")
    expect(browser.title, "A small run")
    expect(len(those("#stage g.vertex:not(.hidden)")), 14, "vertices")
    expect(text("#level"), "level 3 of 3")
    expect(text("#saying"), "20 steps to play, forward, then backward")
    expect(one("#n4").get_attribute("tabindex"), "0")
    expect(one("#n4").get_attribute("aria-label"), "tanh net.block [2, 2, 4]")
    expect(one("#t1").get_attribute("aria-expanded"), "true")
    picture("run")


def it_moves_and_zooms():
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
    picture("search")
    js("search.field.select()")
    press("net.block.mid.weight")
    expect(those("#stage .match"), ["n5"], "search by path")
    press(Keys.ESCAPE)
    expect(those("#stage .match"), [])
    press(Keys.ESCAPE)
    expect(shown("#panel"), False)


def it_folds():
    across = js("folding.bounds.bottom - folding.bounds.top")
    before = middle_of("#t3")
    click("#t3 tspan")
    expect(has("#c3", "hidden"), True, "the frame is still there")
    expect(shown("#b3"), True)
    expect_that("mid" in text("#b3") and "Linear 4 -> 4" in text("#b3") and "16 parameters" in text("#b3"), text("#b3"))
    expect([has(f"#n{v}", "hidden") for v in (4, 5, 6, 7)], [False, True, True, False])
    expect_that(js("folding.bounds.bottom - folding.bounds.top") < across, "the picture did not close up")
    # The arrow from tanh ends at the box, the one within the module is gone.
    to_box = "graph.edges.find((edge) => edge.from === 'n4' && edge.to === 'n6')"
    inside = "graph.edges.find((edge) => edge.from === 'n5' && edge.to === 'n6')"
    expect(js(f"{inside}.element.classList.contains('hidden')"), True)
    expect(js(f"{to_box}.element.classList.contains('hidden')"), False)
    tip = js(f"{to_box}.head.getAttribute('d').match(/-?[\\d.]+/g).slice(0, 2).map(Number)")
    box = js("folding.boxes.get(graph.byId.get('c3')) && graph.byId.get('c3').place")
    expect_that(box["left"] - 1 <= tip[0] <= box["right"] + 1 and box["top"] - 1 <= tip[1] <= box["bottom"] + 1, f"{tip} is not at {box}")
    expect(one("#b3").get_attribute("aria-expanded"), "false")
    picture("folded_one")
    click("#t2 tspan")
    expect(has("#b3", "hidden"), True, "a box within a folded module")
    expect_that("3 operations" in text("#b2"), text("#b2"))
    click("#b2 .box")
    expect(shown("#b3"), True, "what was folded inside stays so")
    click("#b3 .box")
    expect(has("#n6", "hidden"), False)
    expect(has("#b3", "hidden"), True)
    expect(js("folding.bounds.bottom - folding.bounds.top"), across, "unfolded, all is where it was")
    after = middle_of("#t3")
    expect_that(abs(after[0] - before[0]) < 150 and abs(after[1] - before[1]) < 150, "the frame went far away")
    # By keys: Enter on a title, Enter on the box that has the focus then.
    js("document.querySelector('#t1').focus()")
    press(Keys.ENTER)
    expect(js("document.activeElement.id"), "b1")
    expect(has("#n3", "hidden"), True)
    press(" ")
    expect(js("document.activeElement.id"), "t1")
    expect(has("#n3", "hidden"), False)
    # Levels: all that is nested deeper.
    press("f")
    expect([text("#level"), those("#stage g[id^=b]:not(.hidden)")], ["level 2 of 3", ["b3"]])
    click("#fold")
    expect(sorted(those("#stage g[id^=b]:not(.hidden)")), ["b1", "b2", "b4"])
    press("f")
    expect([text("#level"), those("#stage g[id^=b]:not(.hidden)")], ["level 0 of 3", ["b0"]])
    expect(one("#fold").is_enabled(), False)
    picture("folded_all")
    # A search finds what is inside, and goes there.
    press("/", "tanh")
    expect(those("#stage .match"), ["b0"])
    press(Keys.ENTER)
    expect(has("#n4", "hidden"), False)
    expect(those("#stage .selected"), ["n4"])
    press(Keys.ESCAPE, Keys.ESCAPE)
    press("u", "u", "u", "0")
    expect(text("#level"), "level 3 of 3")


def a_click_tells():
    click("#n4 .box")
    facts = text("#facts")
    for part in ("tanh", "net.block", "Residual", "[2, 2, 4]", "128 B until the backward pass", "tanh x", "1 - y^2", "count16", "deviation",
                 "the sum of 2 parts", "[1, :, :]"):
        expect_that(part in facts, f"the panel does not say {part!r}: {facts}")
    expect(len(js("[...document.querySelectorAll('#facts .histogram')]")), 4, "histograms of value, gradient and two parts")
    expect(len(js("[...document.querySelectorAll('#facts .histogram')[0].querySelectorAll('rect')]")), 16)
    rows = js("[...document.querySelectorAll('#facts .numbers')[0].querySelectorAll('tr')].map((row) => row.cells.length)")
    expect(rows, [4, 4, 4, 4])
    expect(js("graph.byId.get('n4').value.numbers.map(short)"),
           js("[...document.querySelectorAll('#facts .numbers')[0].querySelectorAll('td')].map((cell) => cell.textContent)"))
    expect_that(js("document.querySelector('#facts td').style.background") != "", "no heat in the table")
    expect(sorted(those("#stage .edge.touching")), sorted(js("graph.edges.filter((e) => e.from === 'n4' || e.to === 'n4').map((e) => e.id)")))
    picture("panel")
    # Along an arrow, by the list of those who use the value.
    js("[...document.querySelectorAll('#facts a')].at(-1).click()")
    expect(those("#stage .selected"), ["n7"])
    js("document.querySelector('#n12').focus()")
    press(Keys.ENTER)
    expect_that("infinities1" in text("#facts") and "-\u221e" in text("#facts"), "what is infinite")
    js("document.querySelector('#n8').focus()")
    press(Keys.ENTER)
    expect_that("NaN1" in text("#facts"), "what is NaN")
    expect(text("#facts .numbers td.bad"), "NaN")
    js("document.querySelector('#n2').focus()")
    press(Keys.ENTER)
    expect(text("#facts .state"), "zero")
    click("#close")
    expect(shown("#panel"), False)


def it_steps():
    click("#n3 .box")
    press(".")
    expect(text("#saying"), "step 1 of 20: forward: linear makes [2, 2, 4] from x, net.in.weight and net.in.bias")
    expect(those("#stage .now.vertex"), ["n3"])
    expect(sorted(those("#stage .vertex.later")), sorted(f"n{v}" for v in (4, 6, 7, 9, 11, 12, 13)))
    expect_that("deviation" in text("#facts") and "not complete yet" in text("#facts"), "the value is known, the gradient is not")
    expect(js("document.querySelectorAll('#stage .badge').length"), 7, "numbers of six leaves and one operation")
    expect(written("n3", "= "), ["visible"])
    expect([written("n13", "= "), written("n3", "gradient ")], [["hidden"], ["hidden"]], "what comes later is not said yet")
    press(".")
    expect(those("#stage .now.vertex"), ["n4"])
    picture("step_forward")
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
            picture("step_backward")
    expect(text("#saying"), "step 20 of 20: backward: linear' gives the gradient of net.in.weight")
    expect(those("#stage .vertex.later"), [])
    expect_that("not complete yet" not in text("#facts"), "all gradients are known at the end")
    expect([written("n13", "= "), written("n3", "gradient ")], [["visible"], ["visible"]])
    press(".")
    expect(text("#saying").split(":")[0], "step 20 of 20", "nothing after the last")
    for step in range(19, 0, -1):
        click("#back")
        expect(text("#saying").split(":")[0], f"step {step} of 20")
    click("#last")
    expect(text("#saying").split(":")[0], "step 20 of 20")
    click("#first")
    expect(text("#saying").split(":")[0], "step 1 of 20")
    one("#slider").send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    expect(text("#saying").split(":")[0], "step 3 of 20", "the slider by its arrow keys")
    js("stage.focus()")
    press(Keys.END)
    expect(text("#saying").split(":")[0], "step 20 of 20")
    press(Keys.HOME)
    click("#play")
    expect(one("#play").get_attribute("aria-pressed"), "true")
    deadline = time.time() + 20
    while int(text("#saying").split()[1]) < 3 and time.time() < deadline:
        time.sleep(0.05)
    js("stage.focus()")
    press(" ")
    expect(one("#play").get_attribute("aria-pressed"), "false", "space did not pause")
    at = text("#saying")
    time.sleep(1.2)
    expect(text("#saying"), at, "it plays on")
    # Folded, the module shows what happens inside.
    press(Keys.HOME, "f", "f")
    expect(those("#stage .now.vertex"), ["b1"])
    expect(sorted(those("#stage .vertex.later:not(.hidden)")), ["b2", "b4", "n11", "n12", "n13"])
    picture("step_folded")
    press("u", "u")
    press(Keys.ESCAPE, Keys.ESCAPE)
    expect(text("#saying"), "20 steps to play, forward, then backward")
    expect([those("#stage .now"), those("#stage .later"), js("document.querySelectorAll('#stage .badge').length")], [[], [], 0])


def it_darkens():
    colour = "getComputedStyle(document.querySelector('#n0 .box')).fill"
    expect([js(colour), has("body", "dark")], ["rgb(219, 234, 254)", False])
    press("d")
    expect([js(colour), has("body", "dark")], ["rgb(30, 58, 138)", True])
    expect(js("getComputedStyle(document.body).backgroundColor"), "rgb(15, 23, 42)")
    expect(one("#theme").get_attribute("aria-pressed"), "true")
    click("#n4 .box")
    press(Keys.END)
    picture("dark")
    press(Keys.ESCAPE, Keys.ESCAPE)
    click("#theme")
    expect(js(colour), "rgb(219, 234, 254)")


def it_helps():
    press("?")
    expect(js("document.getElementById('help').open"), True)
    picture("help")
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
    expect([text("#level"), sorted(those("#stage g[id^=b]:not(.hidden)"))], ["level 1 of 3", ["b1", "b2", "b4"]])
    expect(text("#saying"), "14 steps to play, in the order of the graph")
    press(".")
    expect(text("#saying"), "step 1 of 14: forward: x [2, 2, 3] is given")
    press(Keys.END)
    expect(text("#saying"), "step 14 of 14: forward: mean makes loss scalar from mul")
    expect(js("document.querySelectorAll('#stage .badge').length"), 0)
    click("#n0 .box")
    expect_that("Value" not in text("#facts") and "[2, 2, 3]" in text("#facts"), text("#facts"))


def hostile_texts_stay_texts():
    open_page("hostile.html")
    press(".", ".", ".", "f", "u", Keys.END, "/", "hacked", Keys.ENTER, Keys.ENTER, Keys.ESCAPE, Keys.ESCAPE)
    for vertex in range(14):
        js(f"panel.open(graph.vertices[{vertex}])")
        expect(js("[document.querySelectorAll('#facts img, #facts script').length, typeof window.hacked]"), [0, "undefined"])
    press("u", "u", "0")
    click("#t3 tspan")
    expect(shown("#b3"), True)
    expect(js("typeof window.hacked"), "undefined", "a name ran as a script")
    expect(js("document.querySelectorAll('img, iframe, script:not([nonce]):not([type])').length"), 0)
    expect_that("<img src=x" in text("#facts") and "window.hacked=1" in text("#facts"), "the text itself is shown")
    picture("hostile")


def real_models():
    for name in ("transformer", "vit", "gpt", "played"):
        start = time.time()
        open_page(f"{name}.html")
        print(f"{name}: {js('graph.vertices.length')} vertices, {js('graph.deepest')} levels, opened in {time.time() - start:.1f} s")
        picture(name)
        deepest = js("graph.deepest")
        for level in range(deepest + 1):
            js(f"setLevel({level})")
            expect(text("#level"), f"level {level} of {deepest}")
            overlapping = js("""(() => {
              const shown = [...graph.vertices, ...graph.frames.filter((f) => folding.folded.has(f))].filter((v) => folding.isShown(v));
              const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
              return shown.flatMap((a, i) => shown.slice(i + 1).filter((b) => meet(a.place, b.place)).map((b) => `${a.id} and ${b.id}`));
            })()""")
            expect(overlapping, [], f"{name} at level {level}: these overlap")
            picture(f"{name}_{level}")
        press(".", ".", ".", Keys.END)
        expect_that("step" in text("#saying"), text("#saying"))


def nothing_went_wrong():
    errors = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    expect(errors, [], "the browser complains")
    sent = [entry["message"] for entry in browser.get_log("performance") if '"Network.requestWillBeSent"' in entry["message"]]
    outside = [message for message in sent if '"url":"file:' not in message and '"url":"data:' not in message]
    expect(outside, [], "something was asked of the network")


try:
    for test in (the_page_opens, it_moves_and_zooms, it_searches, it_folds, a_click_tells, it_steps, it_darkens, it_helps, without_steps,
                 hostile_texts_stay_texts, real_models, nothing_went_wrong):
        print(test.__name__.replace("_", " "), flush=True)
        test()
finally:
    browser.quit()
