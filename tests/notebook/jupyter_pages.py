"""Drives Jupyter Notebook in a browser, for browser_long.sh."""
import os
import subprocess
import sys
import time
import urllib.request

from browser import open_browser

FOLDER, PORT = sys.argv[1], 8899
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


IDLE = "return Jupyter.notebook.kernel && Jupyter.notebook.kernel.is_connected() && !Jupyter.notebook.kernel_busy && "


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
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            browser.save_screenshot(f"{PICTURES}/{name}_{scheme}.png")


server = subprocess.Popen(["jupyter-notebook", "--no-browser", "--allow-root", f"--port={PORT}", "--NotebookApp.token=", "--ip=127.0.0.1",
                           f"--notebook-dir={FOLDER}"], stderr=subprocess.DEVNULL)
browser = None
try:
    for _ in range(120):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api", timeout=1)
            break
        except OSError:
            time.sleep(0.5)
    browser = open_browser()
    browser.set_window_size(1100, 1000)
    browser.get(f"http://127.0.0.1:{PORT}/notebooks/start/06_masks.ipynb")
    expect(wait_until(browser, "return window.Jupyter && Jupyter.notebook && Jupyter.notebook.kernel && Jupyter.notebook.kernel.is_connected()"), "no kernel")
    browser.execute_script("for (const cell of Jupyter.notebook.get_cells()) if (cell.get_text().startsWith('%exercise')) Jupyter.notebook.delete_cells([Jupyter.notebook.find_cell_index(cell)]);")
    browser.execute_script("Jupyter.notebook.execute_all_cells()")
    expect(wait_until(browser, "return document.querySelectorAll('.output_svg svg').length >= 2"), "no graph and heat map under the cells of lesson 6")
    text = browser.execute_script("return document.querySelector('#notebook').innerText")
    expect("[10, 11, 12, 13]" in text, "lesson 6 does not print its numbers")
    picture(browser, "graph", "document.querySelectorAll('.output_svg')[0].scrollIntoView()")
    picture(browser, "heat_map", "document.querySelectorAll('.output_svg')[1].scrollIntoView()")
    expect(run_cell(browser, "matmul(ones({2, 3}), ones({2, 3}))", "text.includes('inner sizes differ')"), "a wrong shape shows no error")
    picture(browser, "error", "Jupyter.notebook.get_cells().slice(-1)[0].element[0].scrollIntoView()")
    expect(run_cell(browser, "%exercise 8", "cell.get_text().startsWith('// Exercise 8')"), "%exercise 8 makes no cell")
    browser.execute_script("Jupyter.notebook.get_cells().slice(-1)[0].execute()")
    expect(wait_until(browser, "return Jupyter.notebook.get_cells().slice(-1)[0].output_area.element.text().includes('not yet')"), "no answer to an empty exercise")
    browser.execute_script("""const cell = Jupyter.notebook.get_cells().slice(-1)[0];
      cell.set_text(cell.get_text().replace('return {};', 'return softmax(masked_fill(scores, arange(scores.dim(-1)) >= reshape(lengths, {-1, 1, 1}), -infinity));'));
      cell.execute();""")
    expect(wait_until(browser, "const text = Jupyter.notebook.get_cells().slice(-1)[0].output_area.element.text(); return text.includes('right') && !text.includes('not yet')"), "no answer to a right exercise")
    picture(browser, "exercise", "Jupyter.notebook.get_cells().slice(-1)[0].element[0].scrollIntoView()")
    expect(run_cell(browser, "while (true) {}", "Jupyter.notebook.kernel_busy"), "an endless loop does not run")
    time.sleep(2)
    browser.execute_script("Jupyter.notebook.kernel.interrupt()")
    expect(wait_until(browser, "return Jupyter.notebook.get_cells().slice(-1)[0].output_area.element.text().includes('interrupted')"), "it is not interrupted")
    expect(run_cell(browser, "scores.shape()", "text.includes('[2, 2, 4]')"), "the kernel has lost its state")
finally:
    if browser:
        browser.quit()
    server.terminate()
    server.wait()
print(f"{len(wrong)} wrong")
sys.exit(1 if wrong else 0)
