"""Drives Jupyter Notebook, or with --lab JupyterLab, in a browser, for browser.sh."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request

from browser import open_browser

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER, LAB = sys.argv[1], sys.argv[2:]
PICTURES = os.environ.get("XGRAD_PICTURES")
wrong = []


def expect(condition, what):
    if not condition:
        wrong.append(what)
        print("wrong:", what)


def wait_until(browser, script, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if browser.execute_script(script):
            return True
        time.sleep(0.3)
    return False


def run_cell(browser, code, done):
    """Puts code into a new last cell and runs it."""
    browser.execute_script("""
      const cell = Jupyter.notebook.insert_cell_at_bottom('code');
      cell.set_text(arguments[0]);
      cell.execute();""", code)
    return wait_until(browser, "const cell = Jupyter.notebook.get_cells().slice(-1)[0]; const text = cell.output_area.element.text(); return " + done)


def picture(browser, name, script):
    browser.execute_script(script)
    time.sleep(0.5)
    if PICTURES:
        for scheme in ("light", "dark"):
            dark(browser, scheme == "dark")
            time.sleep(4 if LAB else 0.5)  # it loads the theme
            browser.save_screenshot(f"{PICTURES}/{name}_{scheme}.png")



def dark(browser, yes):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if yes else "light"}]})


def is_program(address, token):
    """Whether the server makes a program of lesson 6, once the notebook is saved."""
    for _ in range(60):
        time.sleep(0.5)
        with urllib.request.urlopen(f"{address}/nbconvert/script/start/06_masks.ipynb?download=true&token={token}") as answer:
            if b"int main() {" in answer.read():
                return True
    return False


def in_notebook(browser, address, token):
    browser.get(f"{address}/notebooks/start/06_masks.ipynb?token={token}")
    last = "const cell = Jupyter.notebook.get_cells().slice(-1)[0]; const text = cell.output_area.element.text(); "
    expect(wait_until(browser, "return window.Jupyter && Jupyter.notebook && Jupyter.notebook.kernel && Jupyter.notebook.kernel.is_connected()"), "no kernel")
    browser.execute_script("for (const cell of Jupyter.notebook.get_cells()) if (cell.get_text().startsWith('%exercise')) Jupyter.notebook.delete_cells([Jupyter.notebook.find_cell_index(cell)]);")
    browser.execute_script("Jupyter.notebook.execute_all_cells()")
    expect(wait_until(browser, "return document.querySelectorAll('.output_svg svg').length >= 2"), "no graph and heat map under the cells of lesson 6")
    text = browser.execute_script("return document.querySelector('#notebook').innerText")
    expect("[10, 11, 12, 13]" in text, "lesson 6 does not print its numbers")
    picture(browser, "graph", "document.querySelectorAll('.output_svg')[0].scrollIntoView()")
    picture(browser, "heat_map", "document.querySelectorAll('.output_svg')[1].scrollIntoView()")
    browser.execute_script("Jupyter.notebook.save_notebook()")
    menu = browser.execute_script("return document.querySelector('#download_script a').textContent")
    expect("(.cpp)" in menu and is_program(address, token), f"File > Download as > {menu} gives no program")
    expect(run_cell(browser, "matmul(ones({2, 3}), ones({2, 3}))", "text.includes('inner sizes differ')"), "a wrong shape shows no error")
    picture(browser, "error", "Jupyter.notebook.get_cells().slice(-1)[0].element[0].scrollIntoView()")
    expect(run_cell(browser, "%exercise 8", "cell.get_text().startsWith('// Exercise 8')"), "%exercise 8 makes no cell")
    wrong_answer = "return softmax(masked_fill(scores, arange(scores.dim(-1)) >= reshape(lengths, {-1, 1, 1}), 0));"
    for before, after, reply in (("return {};", wrong_answer, "text.includes('not yet: ')"),
                                 (wrong_answer, wrong_answer.replace(", 0)", ", -infinity)"), "text.includes('right: ') && !text.includes('not yet')")):
        browser.execute_script("""const cell = Jupyter.notebook.get_cells().slice(-1)[0];
          cell.set_text(cell.get_text().replace(arguments[0], arguments[1]));
          cell.execute();""", before, after)
        expect(wait_until(browser, last + "return " + reply), f"the exercise is not answered: {reply}")
        picture(browser, "exercise_right" if "right" in reply else "exercise_wrong", "Jupyter.notebook.get_cells().slice(-1)[0].element[0].scrollIntoView(false)")
    expect(run_cell(browser, "while (true) {}", "Jupyter.notebook.kernel_busy"), "an endless loop does not run")
    time.sleep(2)
    browser.execute_script("Jupyter.notebook.kernel.interrupt()")
    expect(wait_until(browser, last + "return text.includes('interrupted')"), "it is not interrupted")
    expect(run_cell(browser, "scores.shape()", "text.includes('[2, 2, 4]')"), "the kernel has lost its state")


def in_lab(browser, address, token):
    dark(browser, False)
    browser.get(f"{address}/lab/tree/start/06_masks.ipynb?token={token}&reset")

    def choose(menu, entry):
        for label, word in (("lm-MenuBar-itemLabel", menu), ("lm-Menu-itemLabel", entry)):
            place, end = f"//*[contains(@class, '{label}')][normalize-space(.) = '{word}']", time.monotonic() + 60
            while not browser.find_elements("xpath", place) and time.monotonic() < end:
                time.sleep(0.3)
            browser.find_element("xpath", place).click()

    expect(wait_until(browser, "return [...document.querySelectorAll('.jp-Toolbar-kernelStatus, .jp-Notebook-ExecutionIndicator')].some(e => e.dataset.status === 'idle')"), "no kernel")
    choose("Run", "Run All Cells")
    expect(wait_until(browser, "return document.querySelectorAll('.jp-RenderedSVG').length >= 2"), "no graph and heat map under the cells of lesson 6")
    for i, name in enumerate(("lab_graph", "lab_heat_map")):
        picture(browser, name, f"document.querySelectorAll('.jp-RenderedSVG')[{i}].scrollIntoView()")
    choose("File", "Save Notebook")
    expect(is_program(address, token), "File > Save and Export gives no program")


# A log instead of a pipe that nobody would read.
with open(f"{FOLDER}.log", "w+") as log:
    server = subprocess.Popen([ROOT / "examples/notebook", "--no-browser", *LAB, FOLDER], stdout=log, stderr=log, start_new_session=True)
    browser = None
    try:
        found = None
        while not found and server.poll() is None:
            time.sleep(0.5)
            log.seek(0)
            found = re.search(r"(http://(?:127\.0\.0\.1|localhost):\d+)/\S*\?token=(\w+)", log.read())
        if not found:
            sys.exit(pathlib.Path(log.name).read_text())
        browser = open_browser()
        browser.set_window_size(1100, 1000)
        (in_lab if LAB else in_notebook)(browser, *found.groups())
    finally:
        if browser:
            browser.quit()
        if server.poll() is None:
            os.killpg(server.pid, signal.SIGTERM)
        server.wait()
print(f"{len(wrong)} wrong")
sys.exit(1 if wrong else 0)
