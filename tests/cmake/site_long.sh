#!/usr/bin/env bash
# The site that docs/make builds, page by page in a browser, from disk: no link or picture is broken, nothing leaves the site,
# a phone shows it, formulas are typeset, the search finds, a graph is live.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/cmake/setup" packages_browser.txt
"$root/docs/make" "$sandbox/site"
HOME=$sandbox PYTHONPATH=$root/tests/support /usr/bin/python3 -B - "$sandbox/site" <<'END_OF_FILE'
import pathlib
import sys
import urllib.parse

from browser import complaints, on_a_phone, open_browser, wait_for

LOOK = """return (() => {
  for (const part of document.querySelectorAll('details')) part.open = true;
  const text = document.querySelector('article').cloneNode(true);
  for (const part of text.querySelectorAll('code, .katex')) part.remove();
  return {
    links: [...document.querySelectorAll('a[href]')].map((link) => link.href).filter((link) => link.startsWith('file:')),
    ids: [...document.querySelectorAll('[id]')].map((element) => element.id),
    wrong: [
      ...[...document.images].filter((image) => !image.naturalWidth).map((image) => `no picture ${image.src}`),
      ...[...document.querySelectorAll('.formula')].filter((one) => !one.querySelector('.katex')).map((one) => `not typeset: ${one.textContent}`),
      ...(text.textContent.match(/.*[$].*/g) ?? []).map((line) => `not typeset: ${line}`),
      ...(document.documentElement.scrollWidth > 390 ? [`as wide as ${document.documentElement.scrollWidth} pixels`] : []),
    ],
  };
})()"""
site, wrong, links, ids = pathlib.Path(sys.argv[1]), [], set(), {}
browser = open_browser()


def expect(expression, what):
    if not wait_for(browser, expression):
        wrong.append(what)


try:
    on_a_phone(browser)
    for page in sorted(site.rglob("*.html")):
        name = str(page.relative_to(site))
        if name in ("404.html", "pages/gpt.html"):
            continue
        browser.get(page.as_uri())
        found = browser.execute_script(LOOK)
        ids[page] = found["ids"]
        links.update((name, link) for link in found["links"])
        wrong += [f"{name}: {what}" for what in found["wrong"] + complaints(browser)]
    browser.get((site / "docs/guide/diagrams.html").as_uri())
    live = browser.find_element("css selector", ".live")
    browser.execute_script("arguments[0].scrollIntoView()", live)
    browser.switch_to.frame(live)
    expect("document.body?.dataset.ready === 'yes'", "the graph of docs/guide/diagrams.md is not live")
    browser.switch_to.default_content()
    browser.find_element("css selector", "label[for=__search].md-icon").click()
    browser.switch_to.active_element.send_keys("causal")
    expect("document.querySelectorAll('.md-search-result__item').length > 5", "the search does not find 'causal'")
    browser.execute_script("document.querySelectorAll('[data-md-component=palette] input')[1].click()")
    expect("document.body.dataset.mdColorScheme === 'slate'", "it does not darken")
    wrong += complaints(browser)
finally:
    browser.quit()
for name, link in sorted(links):
    file, _, anchor = urllib.parse.unquote(link).removeprefix("file://").partition("#")
    if not pathlib.Path(file).is_file() or anchor and pathlib.Path(file) in ids and anchor not in ids[pathlib.Path(file)]:
        wrong.append(f"{name}: {link} leads nowhere")
print("\n".join(wrong) or f"{len(ids)} pages, {len(links)} links")
sys.exit(1 if wrong else 0)
END_OF_FILE
