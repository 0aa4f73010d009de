"""A headless Chromium for the scripts that open pages in one. Debian's Python is the one that has Debian's selenium."""
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


def open_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1440,1300"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def on_a_phone(browser):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True})


def wait_for(browser, expression):
    """Whether this holds within 20 seconds."""
    deadline = time.time() + 20
    while not (holds := browser.execute_script(f"return {expression}")) and time.time() < deadline:
        time.sleep(0.05)
    return holds


def complaints(browser):
    """What the browser has complained of since this was last asked, and what was asked of the network."""
    errors = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    sent = [entry["message"] for entry in browser.get_log("performance") if '"Network.requestWillBeSent"' in entry["message"]]
    return errors + [message for message in sent if '"url":"file:' not in message and '"url":"data:' not in message]
