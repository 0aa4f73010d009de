#!/usr/bin/env bash
# The live pages of the site, in a browser, from disk: each opens light and dark, on a desk and on a phone, without a message, without a
# request, with nothing cut; expressions are typed and derived, a transformer learns and is saved, a sentence is translated, exercises
# are answered wrong and right. The engine in the page gives the numbers of a native build: tests/cmake/live.tsv has requests and the
# answers of its program `live`, which is also asked for translations by the same weights.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/cmake/setup" packages_browser.txt
"$root/docs/make" --live "$sandbox/site"
(source "$root/cmake/build.sh" && build grouped live)
HOME=$sandbox PYTHONPATH=$root/tests/support /usr/bin/python3 -B - "$sandbox/site" "$root" "$sandbox" <<'END_OF_FILE'
import base64
import gzip
import json
import math
import pathlib
import re
import subprocess
import sys
import time

from selenium.webdriver.common.keys import Keys

from browser import complaints, open_browser, wait_for

site, root, sandbox = (pathlib.Path(each) for each in sys.argv[1:])
wrong = []
browser = open_browser()
browser.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(sandbox)})


def expect(expression, what):
    if not wait_for(browser, expression):
        wrong.append(what)


def press(button):
    browser.execute_script("document.getElementById(arguments[0]).click()", button)  # also below the header, where no mouse comes


def on(page, dark, width):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 600})
    browser.get((site / f"live/{page}.html").as_uri())
    expect("document.getElementById('engine').dataset.ready === 'yes'", f"the engine of {page} does not start")


def close_to(a, b):
    return (a is None) == (b is None) and (a is None or math.isclose(a, b, rel_tol=2e-5, abs_tol=1e-6))


def differs(found, known):
    """Where an answer is not the one that is known, but for the last digits of its numbers."""
    if isinstance(known, dict):
        return next((f"{key}: {what}" for key in known if (what := differs(found.get(key), known[key]))), None)
    if isinstance(known, list):
        if not isinstance(found, list) or len(found) != len(known):
            return f"{found} for {known}"
        return next((what for each, other in zip(found, known) if (what := differs(each, other))), None)
    if isinstance(known, (int, float)) and not isinstance(known, bool) and isinstance(found, (int, float)):
        return None if close_to(found, known) else f"{found} for {known}"
    return None if found == known else f"{found} for {known}"


try:
    packed = base64.b64decode(re.search('LiveEngine.packed = "(.*)"', (site / "live/engine.js").read_text())[1])
    sizes = len(gzip.decompress(packed)), len(packed)
    print("The engine has {} bytes, {} as gzip; the weights have {}.".format(*sizes, (site / "live/weights.js").stat().st_size))
    if sizes[0] > 2_500_000 or sizes[1] > 800_000:
        wrong.append(f"the engine has {sizes} bytes")
    for page in "expression", "attention", "training", "translator", "exercises":
        for dark in False, True:
            for width in 1300, 390:
                on(page, dark, width)
                expect(f"document.body.dataset.mdColorScheme === '{'slate' if dark else 'default'}'", f"{page} does not follow the system")
                if browser.execute_script("return document.documentElement.scrollWidth") > width:
                    wrong.append(f"{page} is cut at {width} pixels")
                wrong += [f"{page}: {what}" for what in complaints(browser)]

    on("expression", False, 1300)
    for line in (root / "tests/cmake/live.tsv").read_text().splitlines():
        request, known = map(json.loads, line.split("\t"))
        of = request.pop("of")
        if what := differs(browser.execute_script("return live.ask(arguments[0], arguments[1])", of, request), known):
            wrong.append(f"{of} {request}: {what}")
    browser.execute_script("""const text = document.getElementById('text'); text.value = 'x * x * x';
                              text.dispatchEvent(new Event('input'));""")
    expect("document.getElementById('result').textContent === 'y = 8'", "2 cubed is not 8")
    for name, value in (("dy/dx", 12), ("d2y/dxdx", 12), ("d3y/dxdxdx", 6)):
        browser.find_element("css selector", "#letters .derive").click()
        expect(f"document.getElementById('result').textContent.startsWith('{name} = {value}')", f"{name} is not {value}")
    press("back")
    expect("document.querySelector('#steps [aria-current]')?.nextElementSibling", "steps do not go back")
    browser.execute_script("""const text = document.getElementById('text'); text.value = 'a +'; text.dispatchEvent(new Event('input'));""")
    expect("!document.getElementById('error').hidden", "what is wrong is not said")
    wrong += complaints(browser)

    on("attention", False, 1300)
    browser.execute_script("""const mask = document.getElementById('mask'); mask.value = 'causal'; mask.dispatchEvent(new Event('input'));
                              document.querySelector('#words button').click();""")
    expect("JSON.parse(document.getElementById('engine').dataset.weights).join() === '1,0,0,0,0,0'", "the first word attends to later ones")
    wrong += complaints(browser)

    on("training", False, 1300)
    press("step")
    expect("document.getElementById('engine').dataset.step === '1'", "one step is not one")
    press("run")
    deadline = time.time() + 120
    while time.time() < deadline and not browser.execute_script(
            "const {loss, first} = document.getElementById('engine').dataset; return Number(loss) < Number(first) / 2"):
        time.sleep(0.2)
    if time.time() >= deadline:
        wrong.append("the loss does not fall by half within two minutes")
    print(browser.execute_script("return document.getElementById('saying').textContent"))
    press("run")
    step = browser.execute_script("return document.getElementById('engine').dataset.step")
    press("keep")
    press("step")
    press("back")
    expect(f"document.getElementById('engine').dataset.step === '{step}'", "it does not go back to what was kept")
    press("draw")
    browser.switch_to.frame(browser.find_element("id", "graph"))
    expect("document.body?.dataset.ready === 'yes'", "the graph of a step is not live")
    browser.switch_to.default_content()
    press("save")
    saved = sandbox / f"transformer_{step}.safetensors"
    deadline = time.time() + 20
    while time.time() < deadline and not saved.is_file():
        time.sleep(0.1)
    press("fresh")
    expect("document.getElementById('engine').dataset.step === '0'", "it does not begin again")
    browser.find_element("id", "load").send_keys(str(saved))
    expect(f"document.getElementById('engine').dataset.step === '{step}'", "what was saved is not loaded")
    press("compare")
    expect("document.querySelectorAll('#models section').length === 2", "there is no second model")
    press("run")
    expect(f"Number(document.getElementById('engine').dataset.step) > {int(step) + 50}", "two models do not learn")
    print("Two models:", browser.execute_script("return document.getElementById('saying').textContent"))
    press("run")
    wrong += complaints(browser)

    on("translator", False, 1300)
    texts = ["I'm home.", "Tom is very tired.", "the zebra is happy !", "how are you today ?", "a b c d e f g h i j", "\u00c9t\u00c9\u00a0I'M\u202fHOME",
             "".join(chr(c) for c in range(0xA1, 0x530))]  # lower case without utf8proc
    requests = [{"text": text, "beams": beams, "top": 2} for text in texts for beams in (1, 4)]
    lines = [{"do": "load", "path": str(root / "out/live/translator.safetensors")}, *requests]
    native = subprocess.run([root / "build/grouped/bin/live"], text=True, capture_output=True, check=True,
                            input="".join(json.dumps({"of": "translation", **line}) + "\n" for line in lines)).stdout.splitlines()
    answers = [json.loads(line) for line in native[1:]]
    for request, known in zip(requests, answers):
        if what := differs(browser.execute_script("return live.ask('translation', arguments[0])", request), known):
            wrong.append(f"translation of {request}: {what}")
    known = answers[1]["hypotheses"][0]

    def type_text(page_field, text):
        field = browser.find_element("css selector", page_field)
        field.clear()
        field.send_keys(text)
        return field

    type_text("#text", "He's calm.")
    expect("document.getElementById('french').textContent === 'il est calme .'", "He's calm. is not translated")
    type_text("#text", "I'm home.")
    expect("document.getElementById('french').textContent === 'je suis chez moi .'", "I'm home. is not translated")
    for i in 1, 2:  # chosen by the keyboard
        browser.execute_script(f"document.querySelectorAll('#words button')[{i - 1}].focus()")
        browser.switch_to.active_element.send_keys(Keys.TAB)
        weights = browser.execute_script("return JSON.parse(document.getElementById('engine').dataset.weights)")
        if differs(weights, known["steps"][i]["attention"]):
            wrong.append(f"word {i} attends with {weights}")
    chances = [float(text.split()[-1]) for text in browser.execute_script(
        "return [...document.querySelectorAll('#steps .chosen')].map((chip) => chip.textContent)")]
    right = [next(each["p"] for each in step["next"] if each["chosen"]) for step in known["steps"]]
    if len(chances) != len(right) or any(abs(a - b) > 1e-3 for a, b in zip(chances, right)):
        wrong.append(f"the probabilities of the words are {chances} for {right}")
    expect("document.querySelectorAll('#beam > li').length >= 6 && document.querySelectorAll('#beam > li:first-child summary').length === 4",
           "the beam is not drawn")
    browser.execute_script("const head = document.getElementById('head'); head.value = '1 2'; head.dispatchEvent(new Event('change'));")
    weights = browser.execute_script("return JSON.parse(document.getElementById('engine').dataset.weights)")
    if differs(weights, known["steps"][2]["heads"][1][2]):
        wrong.append(f"head 3 of layer 2 attends with {weights}")
    type_text("#text", "the zebra is here .")
    expect("!document.getElementById('unknown').hidden && document.getElementById('unknown').textContent.includes('\"zebra\"')", "an unknown word is dropped silently")
    type_text("#text", "a a a a a a a a a a")
    expect("!document.getElementById('error').hidden && document.getElementById('error').textContent.includes('at most 9')", "a long sentence is not refused")
    wrong += complaints(browser)

    on("exercises", False, 1300)

    def answered(task, kind, words):
        browser.find_element("css selector", f"#{task}-task .check").send_keys(Keys.ENTER)
        expect(f"document.querySelector('#{task}-task .reply').dataset.kind === '{kind}'", f"an answer to {task} is not {kind}")
        reply = browser.execute_script(f"return document.querySelector('#{task}-task .reply').textContent")
        if words not in reply:
            wrong.append(f"{task}: {reply} for {words}")

    def arrow(a, b, by_key):
        for box in a, b:
            element = browser.find_element("css selector", f'#graph-task [data-box="{box}"]')
            browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            element.send_keys(Keys.ENTER) if by_key else element.click()

    arrow("mul", "w", False)
    answered("graph", "wrong", "points backwards")
    arrow("mul", "w", True)  # takes it back
    for pair in ("w", "mul"), ("x", "mul"), ("mul", "add"), ("b", "add"):
        arrow(*pair, pair[0] == "x")
    answered("graph", "right", "reads its operands")
    type_text("#shape-task .answer", "3, 1, 4")
    answered("shape", "wrong", "is broadcast")
    type_text("#shape-task .answer", "[3, 6, 4]").send_keys(Keys.ENTER)
    answered("shape", "right", "[3, 6, 4]")
    cells = browser.find_elements("css selector", "#mask-task button[aria-label]")
    size = math.isqrt(len(cells))
    for i, j in ((i, j) for i in range(size) for j in range(i)):
        browser.execute_script("arguments[0].click()", cells[i * size + j])
    answered("mask", "wrong", "transposed")
    for i in range(size):
        for j in range(size):
            if i != j:
                browser.execute_script("arguments[0].click()", cells[i * size + j])
    answered("mask", "right", "rows are queries")
    for values, kind, words in ((("3", "8", "1"), "wrong", "this is the gradient of x"), (("8", "3", "1"), "right", "those of the engine")):
        for letter, value in zip("wxb", values):
            type_text(f"#gradient-task [data-letter={letter}]", value)
        answered("gradient", kind, words)
    for task in "graph", "shape", "mask", "gradient":  # the answer that is shown is right, whatever is drawn
        for _ in range(12):
            for button in "next", "solve":
                browser.execute_script(f"document.querySelector('#{task}-task .{button}').click()")
            if task == "shape" and browser.execute_script("return document.querySelector('#shape-task .answer').value.startsWith('they')"):
                browser.execute_script("document.querySelector('#shape-task .refused').click()")
            else:
                browser.execute_script(f"document.querySelector('#{task}-task .check').click()")
            expect(f"document.querySelector('#{task}-task .reply').dataset.kind === 'right'", f"the answer of {task} is wrong")
    wrong += complaints(browser)
finally:
    browser.quit()
print("\n".join(wrong) or "the live pages are as they should be")
sys.exit(1 if wrong else 0)
END_OF_FILE
