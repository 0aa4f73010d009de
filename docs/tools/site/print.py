"""docs/make --pdf: prints the pages of docs/learn, guide and topics into PDF files beside them. Fails where paper would cut something."""
import base64
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))
from browser import open_browser

# A4 without margins of 1 cm, in CSS's pixels.
WIDTH, HEIGHT, MARGIN = 718, 1046, 1 / 2.54
LOOK = f"""return [
  ...[...document.querySelectorAll('article img')].filter((one) => one.getBoundingClientRect().height > {HEIGHT})
    .map((one) => `the picture ${{one.src}} is higher than a page`),
  ...[...document.querySelectorAll('article img, article pre, article table, article .displayed, article p')]
    .filter((one) => one.getBoundingClientRect().right > {WIDTH} || one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
    .map((one) => `wider than a page: ${{one.src ?? one.textContent.trim().slice(0, 60)}}`),
];"""

site, wrong = pathlib.Path(sys.argv[1]), []
browser = open_browser()
try:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})
    for page in sorted(page for part in ("learn", "guide", "topics") for page in (site / "docs" / part).rglob("*.html")):
        if not (ROOT / page.relative_to(site).with_suffix(".md")).is_file():
            continue
        browser.get(page.as_uri())
        browser.execute_async_script("document.fonts.ready.then(arguments[0])")
        paper = {"paperWidth": 21 / 2.54, "paperHeight": 29.7 / 2.54, "printBackground": True}
        paper |= {f"margin{side}": MARGIN for side in ("Top", "Bottom", "Left", "Right")}
        page.with_suffix(".pdf").write_bytes(base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", paper)["data"]))
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        wrong += [f"{page.relative_to(site)}: {what}" for what in browser.execute_script(LOOK)]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
finally:
    browser.quit()
print("\n".join(wrong) or f"{site}/docs/learn/start/01_number.pdf, and the others beside their pages")
sys.exit(1 if wrong else 0)
