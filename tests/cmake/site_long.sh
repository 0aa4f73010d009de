#!/usr/bin/env bash
# The site that docs/make builds, page by page in a browser, from disk: no link or picture is broken, nothing leaves the site,
# a phone and paper show it, formulas are typeset, the search finds, a graph is live.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/cmake/setup" packages_browser.txt
"$root/docs/make" --pdf "$sandbox/site"
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


def expect_graph(page, dark, place=0):
    """The picture at this place becomes a graph that is as dark as the page, and the last step of which is shown."""
    graph = browser.find_elements("css selector", ".live")[place]
    browser.execute_script("arguments[0].scrollIntoView()", graph)
    expect(f"document.querySelectorAll('.live')[{place}].querySelector('a').hidden", f"graph {place} of {page} is not live")
    browser.switch_to.frame(graph.find_element("css selector", "iframe"))
    expect("document.body?.dataset.ready === 'yes'", f"the graph of {page} is not live")
    expect(f"document.body.classList.contains('dark') === {'true' if dark else 'false'}", f"the graph of {page} is not as dark as its page")
    first = browser.find_element("id", "saying").text
    browser.execute_script("document.getElementById('last').click()")
    expect(f"document.getElementById('saying').textContent !== {first!r}", f"the graph of {page} does not play")
    browser.switch_to.default_content()


try:
    on_a_phone(browser)
    for page in sorted(site.rglob("*.html")):
        name = str(page.relative_to(site))
        if name == "404.html" or name.startswith("pages/"):
            continue
        browser.get(page.as_uri())
        found = browser.execute_script(LOOK)
        ids[page] = found["ids"]
        links.update((name, link) for link in found["links"])
        wrong += [f"{name}: {what}" for what in found["wrong"] + complaints(browser)]
    lessons = sorted(page for page in (site / "docs/learn/start").glob("[0-9]*.html") if ".cpp" not in page.name)
    for dark, page in enumerate(lessons):
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark % 2 else "light"}]})
        browser.get(page.as_uri())
        expect(f"document.body.dataset.mdColorScheme === '{'slate' if dark % 2 else 'default'}'", f"{page.name} does not follow the system")
        expect_graph(page.name, dark % 2)
    for name, count in {"learn/steps/index": 10, "learn/annotated_transformer": 9, "topics/transformer": 3, "topics/language_models": 1,
                        "topics/vision": 1, "topics/attention_by_hand": 2}.items():
        browser.get((site / f"docs/{name}.html").as_uri())
        found = len(browser.find_elements("css selector", ".live"))
        if found != count:
            wrong.append(f"{name} has {found} graphs, not {count}")
        for place in range(found):
            expect_graph(name, False, place)
        wrong += complaints(browser)
    browser.get(lessons[1].as_uri())  # the system is light
    browser.find_element("css selector", "[data-md-component=palette] label:not([hidden])").click()
    expect("document.body.dataset.mdColorScheme === 'slate'", "it does not darken")
    expect_graph("a page that was made dark", True)
    browser.get(lessons[3].as_uri())
    expect("document.body.dataset.mdColorScheme === 'slate'", "the choice is forgotten")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.find_element("css selector", "label[for=__search].md-icon").click()
    browser.switch_to.active_element.send_keys("causal")
    expect("document.querySelectorAll('.md-search-result__item').length > 5", "the search does not find 'causal'")
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
