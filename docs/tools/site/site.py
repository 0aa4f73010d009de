"""Makes MkDocs build a site of this repository's pages as they are (see docs/make): README.md is the front page, docs/README.md
gives the navigation, and a file or folder that a page links becomes a page itself.

Pages are read as GitHub reads them: its Markdown, its anchors, formulas in `$...$` and `$$...$$`. An image becomes a link to
its file. A lesson has a link to its notebook (notebooks.py). A picture of a graph that out/pages has as a page, too, becomes this
page when the reader comes near (static/site.js). The live pages, in the folder live, are there if docs/make --live has built
their engine.
"""
import html
import json
import os
import pathlib
import re
import subprocess
import sys

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mkdocs.structure.files import File, Files
from mkdocs.structure.toc import get_toc
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

ROOT = pathlib.Path(__file__).resolve().parents[3]
KATEX = pathlib.Path("/usr/share/javascript")
PICTURES = (".svg", ".png")
PAGES = ROOT / "out/pages"
ENGINE = ROOT / "out/live/engine.js"
LIVE = pathlib.Path(__file__).parent / "live"
LIVE_PAGES = {"expression": "Type an expression", "attention": "Attention under your hand",
              "training": "A transformer that trains", "translator": "The translator", "exercises": "Exercises in the page"}
sources = []  # addresses of pages that were made of other files


def find_links(text):
    """What a Markdown text links, without anchors."""
    return [link for link in re.findall(r"\]\(([^)#\s]+)[^)\s]*\)", text) if ":" not in link]


def path_of(link, page):
    """Where a link of a page leads, from the root of the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(page), link))


def target_of(path):
    """The page of the site that shows this file or folder: a .md that exists, or one made of it."""
    if path.endswith((".md", *PICTURES)):
        return path
    if (ROOT / path).is_dir():
        return f"{path}/README.md"
    return f"{path}.md"


def text_of(path):
    """The Markdown of a page; that of a source is its text, that of a folder the list of its files, that of a live page its HTML."""
    if path.startswith("live/"):
        return (LIVE / path.removeprefix("live/")).with_suffix(".html").read_text()
    file = ROOT / path
    if file.exists():
        return file.read_text()
    if file.name == "README.md":
        names = sorted(child.name for child in file.parent.iterdir() if child.is_file())
        return f"# {file.parent.relative_to(ROOT)}\n\n" + "".join(f"- [{name}]({name})\n" for name in names)
    source = path.removesuffix(".md")
    return f"# {source}\n\n~~~~~~{source}\n{(ROOT / source).read_text()}~~~~~~\n"


def on_files(files, config):
    site, found = config["site_dir"], {}
    names = ["README.md", *(str(file.relative_to(ROOT)) for file in ROOT.glob("docs/**/*.md"))]
    while names:
        name = names.pop()
        if name in found:
            continue
        found[name] = File(name, str(ROOT), site, False)
        if name.endswith(".md") and not (ROOT / name.removesuffix(".md")).is_file():
            text = text_of(name)
            names += [target_of(path) for path in (path_of(link, name) for link in find_links(text)) if (ROOT / path).exists()]
            names += [path_of(source, name) for source in re.findall(r'<img src="([^"]+)"', text)]
    sources.extend(file.url for name, file in found.items() if not (ROOT / name).exists())
    found.update({f"pages/{page.name}": File(f"pages/{page.name}", str(ROOT / "out"), site, False) for page in sorted(PAGES.glob("*.html"))})
    if ENGINE.is_file():
        found.update({f"live/{page}.md": File(f"live/{page}.md", str(ROOT), site, False) for page in LIVE_PAGES})
        found.update({f"live/{file.name}": File(f"live/{file.name}", str(file.parents[1]), site, False)
                      for file in [*ENGINE.parent.glob("*.js"), *LIVE.glob("*.js"), *LIVE.glob("*.css")]})
    katex = [File(str(file.relative_to(KATEX)), str(KATEX), site, False)
             for file in [KATEX / "katex/katex.min.js", KATEX / "katex/katex.min.css", *KATEX.glob("katex/fonts/*.woff2")]]
    config["nav"] = navigation(found)
    return Files([*files, *found.values(), *katex])


def navigation(found):
    """The tables of docs/README.md, by heading. Pages beside a README.md that are in no table are below it."""
    parts = [{"xgrad": "README.md"}, {"All pages": "docs/README.md"}]
    listed = {}
    if ENGINE.is_file():
        parts.append({"In the page": [{title: f"live/{page}.md"} for page, title in LIVE_PAGES.items()]})
    for line in text_of("docs/README.md").splitlines():
        if line.startswith("## "):
            parts.append({line[3:]: listed.setdefault(line[3:], [])})
        elif line.startswith("| ["):
            for name, link in re.findall(r"\[([^]]+)\]\(([^)#]+)\)", line.split("|")[1]):
                listed[list(listed)[-1]].append((name[0].upper() + name[1:], path_of(link, "docs/README.md")))
    known = {path for entries in listed.values() for _, path in entries}
    for entries in listed.values():
        for i, (name, path) in enumerate(entries):
            folder = os.path.dirname(path)
            below = sorted(other for other in found if os.path.dirname(other) == folder and other.endswith(".md") and other not in known
                           and (ROOT / other).exists())
            entries[i] = {name: [path, *below] if path.endswith("README.md") and below else path}
    return parts


def slug(heading, used):
    """The anchor that GitHub gives a heading."""
    name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    used[name] = used.get(name, -1) + 1
    return f"{name}-{used[name]}" if used[name] else name


def code(text, language):
    try:
        lexer = get_lexer_for_filename(language) if "." in language else get_lexer_by_name(language or "text")
    except ClassNotFound:
        lexer = get_lexer_by_name("text")
    return f'<div class="highlight"><pre><code>{highlight(text, lexer, HtmlFormatter(nowrap=True))}</code></pre></div>\n'


def make_markdown():
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    markdown.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False)
    formula = lambda tag, kind: lambda self, tokens, i, options, env: f'<{tag} class="{kind}">{html.escape(tokens[i].content.strip())}</{tag}>'
    markdown.add_render_rule("math_inline", formula("span", "formula"))
    markdown.add_render_rule("math_block", formula("div", "formula displayed"))
    markdown.add_render_rule("fence", lambda self, tokens, i, options, env: code(tokens[i].content, tokens[i].info.strip()))
    markdown.add_render_rule("code_block", lambda self, tokens, i, options, env: code(tokens[i].content, "text"))
    return markdown


def graph_of(picture, files):
    """The page of the graph that a picture of docs shows, if it was drawn."""
    name = os.path.relpath(picture, "docs/pictures").removeprefix("../learn/start/").removeprefix("../learn/").replace("/", "_")
    return files.get_file_from_path(f"pages/{name.removesuffix('.svg')}.html")


def linked(children, page, files):
    """The parts of a line, with links to pages of the site, and images that lead to their files. An image of a graph that stands
    with nothing but images becomes the graph."""
    result, within = [], False
    alone = all(token.type in ("image", "softbreak") or not token.content.strip() for token in children)
    for token in children:
        if token.type == "link_open":
            within = True
            link, hash_, anchor = token.attrs["href"].partition("#")
            if link and ":" not in link:
                target = files.get_file_from_path(target_of(path_of(link, page.file.src_uri)))
                if not target:
                    raise SystemExit(f"{page.file.src_uri}: {link} leads nowhere")
                token.attrs["href"] = target.url_relative_to(page.file) + hash_ + anchor
        elif token.type == "link_close":
            within = False
        elif token.type == "image" and not within:
            graph = graph_of(path_of(token.attrs["src"], page.file.src_uri), files) if alone else None
            link = [Token("link_open", "a", 1, attrs={"href": token.attrs["src"]}), token, Token("link_close", "a", -1)]
            if graph:
                address = graph.url_relative_to(page.file)
                link.insert(0, Token("html_inline", "", 0, content=f'<span class="live" data-page="{address}">'))
                link.append(Token("html_inline", "", 0, content=f'</span><a href="{address}">The graph on a page of its own</a>'))
            result += link
            continue
        result.append(token)
    return result


rendered = {}


def on_page_read_source(page, config):
    return text_of(page.file.src_uri)


def on_page_markdown(text, page, config, files):
    if page.file.src_uri.startswith("live/"):
        rendered[page.file.src_uri] = f'<link rel="stylesheet" href="live.css">\n{text}', []
        return ""
    markdown, used, contents = make_markdown(), {}, []
    tokens = markdown.parse(text)
    for opening, token in zip(tokens, tokens[1:]):
        if token.type != "inline":
            continue
        token.children = linked(token.children, page, files)
        if opening.type == "heading_open":
            name = "".join(child.content for child in token.children)
            level = int(opening.tag[1])
            opening.attrs["id"] = slug(name, used)
            entry = {"level": level, "id": opening.attrs["id"], "name": html.escape(name), "children": []}
            around = contents
            while around and around[-1]["level"] < level:
                around = around[-1]["children"]
            around.append(entry)
    rendered[page.file.src_uri] = markdown.renderer.render(tokens, markdown.options, {}), contents
    return ""


def on_page_content(_, page, config, files):
    content, contents = rendered.pop(page.file.src_uri)
    page.toc = get_toc(contents)
    return content + notebook_links(page) + live_links(page)


def notebook_links(page):
    """The notebook of a lesson, or those of the ten steps, for download."""
    name = pathlib.PurePath(page.file.src_uri)
    up = "../" * (len(pathlib.PurePath(page.file.url).parts) - 1)
    if name.parts[:3] == ("docs", "learn", "start") and name.suffix == ".md" and name.stem[:2].isdigit() and "." not in name.stem:
        stems, part = [name.stem], "start"
    elif str(name) == "docs/learn/steps/README.md":
        stems, part = sorted(source.stem for source in (ROOT / "docs/learn/steps").glob("[0-9]*.cpp")), "steps"
    else:
        return ""
    links = ", ".join(f'<a href="{up}notebooks/{part}/{stem}.ipynb" download>{stem}.ipynb</a>' for stem in stems)
    return f"<p>As a notebook (<code>examples/notebook</code>): {links}.</p>"


def live_links(page):
    """The live page that belongs to a page."""
    name = {"docs/learn/exercises.md": "exercises", "docs/topics/translation.md": "translator",
            "docs/topics/attention.md": "attention"}.get(page.file.src_uri)
    if not name or not ENGINE.is_file():
        return ""
    return f'<p>In your browser: <a href="../../live/{name}.html">{LIVE_PAGES[name]}</a>.</p>'


def on_post_build(config):
    """Sources are not searched; the index is a script, too, for pages that are opened from disk. Notebooks are beside the pages."""
    subprocess.run([sys.executable, ROOT / "docs/tools/site/notebooks.py", pathlib.Path(config["site_dir"]) / "notebooks"], check=True)
    folder = pathlib.Path(config["site_dir"]) / "search"
    index = json.loads((folder / "search_index.json").read_text())
    index["docs"] = [entry for entry in index["docs"] if entry["location"].partition("#")[0] not in sources]
    text = json.dumps(index)
    (folder / "search_index.json").write_text(text)
    (folder / "search_index.js").write_text(f"var search_index = {text};\n")
