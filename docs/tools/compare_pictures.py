#!/usr/bin/env python3
"""Draws the GPT, ResNet-18 and U-Net of docs/inside/compared.md with torchviz, torchview, torchlens and Model Explorer.

    pip install -r docs/tools/compare_pictures.txt
    docs/tools/run compared             xgrad's pictures of the same three
    docs/tools/compare_pictures.py      the others' into docs/pictures/compared, with measured.tsv

Each tool draws with the options that make its picture small, and measured.tsv has the size with default options, too. Model
Explorer, which opens with a model as one box, is photographed with this box opened, by its own "Full graph". A picture is an
.svg, and a .png at most 1200 pixels high where that would be above 300 KB; sizes are those that the tool gave it. Times are the
least of five with the run of the model, of Model Explorer one until its page can be used. It needs Graphviz, librsvg2-bin,
imagemagick and chromium-driver.
"""

import importlib.util
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import warnings
from importlib.metadata import version

import model_explorer
import torch
import torchlens
import torchview
import torchvision
import torchviz
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

root = pathlib.Path(__file__).resolve().parent.parent.parent
folder = root / "docs" / "pictures" / "compared"
LARGEST_SVG = 300_000
HIGHEST_PNG = 1200


def example(name):
    """The program examples/NAME/pytorch.py as a module."""
    spec = importlib.util.spec_from_file_location(name, root / "examples" / name / "pytorch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def models():
    """Each model with its input: layers and sizes as in docs/tools/compared."""
    yield "gpt", example("gpt").GPT(
        vocabulary=100, context=16, dim=32, heads=4, layers=12
    ), torch.ones(1, 16, dtype=torch.long)
    yield "resnet", torchvision.models.resnet18(num_classes=10), torch.zeros(1, 3, 64, 64)
    yield "unet", example("unet").UNet(), torch.zeros(1, 1, 32, 32)


def draw_torchviz(model, x, path):
    graph = torchviz.make_dot(model(x), params=dict(model.named_parameters()))
    graph.render(path, format="svg", cleanup=True)


def draw_torchview(model, x, path, **options):
    graph = torchview.draw_graph(model, input_data=x, **options)
    graph.visual_graph.render(path, format="svg", cleanup=True)


def draw_torchlens(model, x, path, **options):
    to = dict(vis_outpath=str(path), vis_fileformat="svg", vis_save_only=True)
    torchlens.trace(model, x).draw(**to, **options)


TOOLS = {
    "torchviz": (draw_torchviz, {}),
    "torchview": (draw_torchview, {"depth": 1}),
    "torchlens": (draw_torchlens, {"collapse": "auto", "fold_repeats": True}),
}


def least_of_five(draw):
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        draw()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def shrink(svg, path):
    """The picture without comments and titles, or as .png."""
    text = re.sub(r"<!--.*?-->\n?|<title>.*?</title>\n?", "", svg.read_text(), flags=re.DOTALL)
    if len(text.encode()) <= LARGEST_SVG:
        path.with_suffix(".svg").write_text(text)
        return
    png = path.with_suffix(".png")
    height = [
        "--unlimited",
        "--background-color=white",
        f"--height={HIGHEST_PNG}",
        "--keep-aspect-ratio",
    ]
    subprocess.run(["rsvg-convert", *height, svg, "-o", png], check=True)
    with_few_colours(png, png)


def with_few_colours(source, png):
    few = ["-resize", f"{HIGHEST_PNG}x{HIGHEST_PNG}>", "+dither", "-colors", "32", "-strip"]
    subprocess.run(["convert", source, *few, f"PNG8:{png}"], check=True)


class ModelExplorer:
    """Its server and a browser."""

    def __init__(self, downloads):
        self.downloads = downloads
        self.port = 8100
        options = webdriver.ChromeOptions()
        for argument in (
            "headless=new",
            "no-sandbox",
            "use-angle=swiftshader",
            "enable-unsafe-swiftshader",
        ):
            options.add_argument(f"--{argument}")
        options.add_argument("--window-size=1400,1000")
        options.binary_location = "/usr/bin/chromium"  # without it one is looked for in the net
        self.browser = webdriver.Chrome(options, Service("/usr/bin/chromedriver"))
        self.browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)}
        )

    def draw(self, model, x, path):
        """Returns how long it takes until the page can be used, and the size of the picture."""
        begin = time.perf_counter()
        config = model_explorer.config().add_model_from_pytorch(
            path.name, torch.export.export(model, (x,))
        )
        self.port += 1
        serve = dict(config=config, port=self.port, no_open_in_browser=True)
        threading.Thread(
            target=model_explorer.visualize_from_config, kwargs=serve, daemon=True
        ).start()
        self.open(f"http://localhost:{self.port}/?data={config.to_url_param_value()}")
        seconds = time.perf_counter() - begin
        return seconds, self.save(path)

    def open(self, address):
        def is_there(browser):
            try:
                browser.get(address)
            except Exception:  # the server is on its way
                return False
            return WebDriverWait(browser, 20).until(
                lambda page: page.find_elements(By.CSS_SELECTOR, ".toolbar")
            )

        WebDriverWait(self.browser, 60).until(is_there)

    def save(self, path):
        canvas = self.browser.find_element(By.CSS_SELECTOR, "canvas.main")

        def is_chosen(browser):
            ActionChains(browser).click(canvas).perform()  # the model is in the middle
            time.sleep(1)
            return "LAYER INFO" in browser.find_element(By.TAG_NAME, "body").text.upper()

        WebDriverWait(self.browser, 30).until(is_chosen)
        ActionChains(self.browser).double_click(canvas).perform()
        time.sleep(2)
        beside = ActionChains(self.browser).move_to_element_with_offset(
            canvas, canvas.rect["width"] * 2 // 5, 0
        )
        beside.click().perform()
        self.browser.find_element(By.CSS_SELECTOR, "mat-icon.download-png").click()
        time.sleep(1)
        self.browser.find_element(By.XPATH, "//*[normalize-space(text())='Full graph']").click()
        WebDriverWait(self.browser, 20).until(lambda _: list(self.downloads.glob("*.png")))
        time.sleep(1)
        (picture,) = self.downloads.glob("*.png")
        with_few_colours(picture, path.with_suffix(".png"))
        size = size_of(picture)
        picture.unlink()
        return size


def size_of(picture):
    if picture.suffix == ".png":
        said = subprocess.run(
            ["identify", "-format", "%w %h", picture], check=True, capture_output=True, text=True
        )
        return said.stdout.split()
    head = re.search(r"<svg[^>]*>", picture.read_text()).group()
    points = 4 / 3 if re.search(r'width="[0-9.]+pt"', head) else 1
    return [
        round(float(re.search(rf'\b{side}="([0-9.]+)', head).group(1)) * points)
        for side in ("width", "height")
    ]


def draw_all(temporary):
    """Rows of measured.tsv. Once torchlens has traced a model, other tools take longer: it comes last."""
    explorer = ModelExplorer(temporary / "downloads")
    torch.export.export(
        torch.nn.Linear(1, 1), (torch.zeros(1, 1),)
    )  # the first export takes longer
    drawn = [(name, model.eval(), x) for name, model, x in models()]
    for name, model, x in drawn:
        seconds, size = explorer.draw(model, x, folder / f"{name}_model_explorer")
        tool = "ai-edge-model-explorer"
        yield [name, tool, version(tool), f"{seconds:.2f}", *size]
    explorer.browser.quit()
    for tool, (draw, options) in TOOLS.items():
        for name, model, x in drawn:
            picture = temporary / f"{name}_{tool}"
            draw(model, x, picture)
            svg = picture.with_suffix(".svg")
            by_default = size_of(svg)
            seconds = least_of_five(lambda: draw(model, x, picture, **options))
            yield [name, tool, version(tool), f"{seconds:.2f}", *size_of(svg), *by_default]
            shrink(svg, folder / picture.name)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)  # waiting for one another, several take longer where others run
    rows = ["model tool version seconds width height default_width default_height".split()]
    with tempfile.TemporaryDirectory() as name:
        temporary = pathlib.Path(name)
        (temporary / "downloads").mkdir()
        rows += draw_all(temporary)
    table = "".join("\t".join(map(str, row)) + "\n" for row in rows)
    (folder / "measured.tsv").write_text(table)
    print(table, end="")


if __name__ == "__main__":
    main()
