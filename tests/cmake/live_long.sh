#!/usr/bin/env bash
# The live pages of the site, in a browser, from disk: each opens light and dark, on a desk and on a phone, without a message, without a
# request, with nothing cut; expressions are typed and derived, a transformer learns and is saved; the engine in the page gives the
# numbers of a native build, which tests/cmake/live.tsv has: requests, and the answers of its program `live`.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/cmake/setup" packages_browser.txt
"$root/docs/make" --live "$sandbox/site"
HOME=$sandbox PYTHONPATH=$root/tests/support /usr/bin/python3 -B - "$sandbox/site" "$root" "$sandbox" <<'END_OF_FILE'
import json
import math
import pathlib
import sys
import time

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
    engine = (site / "live/engine.js").stat().st_size
    if engine > 2_500_000:
        wrong.append(f"the engine has {engine} bytes")
    for page in "expression", "attention", "training":
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
    wrong += complaints(browser)
finally:
    browser.quit()
print("\n".join(wrong) or "the live pages are as they should be")
sys.exit(1 if wrong else 0)
END_OF_FILE
