#!/usr/bin/env python3
"""The pictures of docs: each is drawn by a command of pictures.tsv, and shown by a page that names this command.

    pictures.py                    checks this, and that a picture has the words that its row asks for
    pictures.py compare [NAME...]  draws the pictures of these programs (else of all that need no data) and says which
                                   have other words or numbers
    pictures.py draw [NAME...]     the same, and writes those into docs

Programs are taken from $XGRAD_BUILD_DIR/bin, else from build/grouped/bin. Numbers are the same if two digits of them are: their
last bits differ from one processor to another.
"""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BIN = pathlib.Path(os.environ.get("XGRAD_BUILD_DIR") or ROOT / "build/grouped") / "bin"
ROWS = [(line.split("\t") + [""])[:4] for line in (DOCS / "tools/pictures.tsv").read_text().splitlines() if not line.startswith("#")]
PICTURES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*") if path.suffix in (".svg", ".png") and "tools" not in path.parts)
NEED_DATA = ("cnn", "vit", "swin", "bert", "byte_pairs", "few_pictures", "scaling", "notebook", "02_graph.cpp")  # or minutes


def source_of(command):
    """The text of the program that a command runs, or None."""
    name = command.split()[-1]
    for place in (ROOT / "examples" / name, DOCS / "tools" / name, DOCS / f"tools/experiments/{name}.cpp", ROOT / command):
        if place.is_dir():
            kit = (ROOT / "examples/kit/train").glob("*.cpp")  # curves and mistakes
            return "".join(file.read_text() for file in [*place.iterdir(), *kit] if file.suffix in (".h", ".cpp"))
        if place.is_file():
            return place.read_text()
    return None


def check():
    pages = {page: page.read_text() for page in [ROOT / "README.md", *DOCS.rglob("*.md")]}
    shown = {}  # picture: pages
    for page, text in pages.items():
        for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)|<img src=\"([^\"]+)\"", text):
            picture = os.path.relpath(os.path.normpath(page.parent / "".join(link)), DOCS)
            shown.setdefault(picture, []).append(page)
    for picture in PICTURES:
        commands = {command for pattern, command, *_ in ROWS if fnmatch.fnmatch(picture, pattern)}
        if len(commands) != 1:
            yield f"docs/{picture}: {len(commands)} commands in pictures.tsv, not 1"
        elif picture not in shown:
            yield f"docs/{picture}: no page shows it"
        elif not any(f"{command}`" in text or f"{command} " in text or f"{command}\n" in text for command in commands
                     for text in [pages[page] + folder_page(page, pages) for page in shown[picture]]):
            yield f"docs/{picture}: no page that shows it names {commands.pop()}"
    for pattern, command, file, said in ROWS:
        text = source_of(command)
        if not fnmatch.filter(PICTURES, pattern):
            yield f"pictures.tsv: there is no {pattern}"
        if text is None:
            yield f"pictures.tsv: there is no program {command}"
        for word in filter(None, said.split("; ")):
            if not any(word in text for picture in fnmatch.filter(PICTURES, pattern) for text in words(DOCS / picture)):
                yield f"docs/{pattern}: does not say {word}, as what {command} draws"
        if text and "*" not in file and f'"{file}"' not in text and file.rsplit("_")[-1] != pattern.rsplit("_")[-1]:
            yield f"pictures.tsv: {command} writes no {file}"


def folder_page(page, pages):
    """Where the command is that a page leaves out: on the first page of a lesson's folder, or on the page that README.md links."""
    return pages[DOCS / "guide/diagrams.md"] if page.parent == ROOT else pages.get(page.parent / "README.md", "")


def words(picture):
    """What a picture says: its texts and tooltips, numbers with two digits."""
    texts = re.findall(r"<(?:text|tspan|title)\b[^>]*>([^<]*)<", picture.read_text())
    return [re.sub(r"-?\d+\.\d+(?:e[-+]?\d+)?", lambda number: f"{float(number[0]):.2g}", text) for text in texts]


def compare(names, write):
    for command in dict.fromkeys(command for _, command, *_ in ROWS):
        name = command.split()[-1]
        if name not in names and (names or name in NEED_DATA):
            continue
        experiment = (DOCS / f"tools/experiments/{name}.cpp").exists()
        with tempfile.TemporaryDirectory() as out:
            program = [BIN / "experiments", name] if experiment else [BIN / name if (BIN / name).exists() else BIN / "examples" / name]
            subprocess.run([*program, "--out", out], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            for pattern, _, file, _ in (row for row in ROWS if row[1] == command):
                for picture in fnmatch.filter(PICTURES, pattern):
                    drawn = pathlib.Path(out) / (pathlib.Path(picture).name if file == "*" else file)
                    if not drawn.exists():
                        yield f"docs/{picture}: {command} does not draw it"
                    elif words(drawn) != words(DOCS / picture):
                        yield f"docs/{picture}: {command} draws another one" + (", which is there now" if write else "")
                        if write:
                            shutil.copy(drawn, DOCS / picture)


action, names = sys.argv[1:2], sys.argv[2:]
wrong = list(compare(names, action == ["draw"]) if action in (["compare"], ["draw"]) else check())
sys.exit("\n".join(wrong) or None)
