#!/usr/bin/env python3
"""The pictures of docs: each is drawn by a command of pictures.tsv, and shown by a page that names this command.

    pictures.py                    checks this, and that a picture shows what its row asks for
    pictures.py compare [NAME...]  draws the pictures of these programs (else of all that need no data) and says which
                                   have other words or numbers
    pictures.py draw [NAME...]     the same, and writes those into docs

Programs are taken from $XGRAD_BUILD_DIR/bin, else from build/grouped/bin. Numbers are the same if two digits of them are: their
last bits differ from one processor to another.
"""
import base64
import html
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BIN = pathlib.Path(os.environ.get("XGRAD_BUILD_DIR") or ROOT / "build/grouped") / "bin"
ROWS = [(line.split("\t") + [""])[:4] for line in (DOCS / "tools/pictures.tsv").read_text().splitlines() if not line.startswith("#")]
PICTURES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*") if path.suffix in (".svg", ".png") and "tools" not in path.parts)
NEED_DATA = ("cnn", "vit", "swin", "vae", "bert", "byte_pairs", "few_pictures", "scaling", "notebook", "02_graph.cpp")  # or minutes


def name_of(command):
    """The program of a command: `bert` in `examples/run bert --fill "a _ ."`."""
    script, *words = shlex.split(command)
    return words[0] if words else script


def source_of(command):
    """The text of the program that a command runs, or None."""
    name = name_of(command)
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
        commands = {command for name, command, *_ in ROWS if name == picture}
        if len(commands) != 1:
            yield f"docs/{picture}: {len(commands)} commands in pictures.tsv, not 1"
        elif picture not in shown:
            yield f"docs/{picture}: no page shows it"
        elif not any(f"{command}`" in text or f"{command} " in text or f"{command}\n" in text for command in commands
                     for text in [pages[page] + folder_page(page, pages) for page in shown[picture]]):
            yield f"docs/{picture}: no page that shows it names {commands.pop()}"
    for picture, command, file, shows in ROWS:
        text = source_of(command)
        if text is None:
            yield f"pictures.tsv: there is no program {command}"
        elif file != "*" and f'"{file}"' not in text and file.rsplit("_")[-1] != picture.rsplit("_")[-1]:
            yield f"pictures.tsv: {command} writes no {file}"
        if picture not in PICTURES:
            yield f"pictures.tsv: there is no {picture}"
        elif picture.endswith(".svg"):
            if not shows:
                yield f"pictures.tsv: {picture} has nothing that it must show"
            for what in filter(None, shows.split("; ")):
                if not is_shown(what, DOCS / picture):
                    yield f"docs/{picture}: does not show {what}, as what {command} draws"


def folder_page(page, pages):
    """Where the command is that a page leaves out: on the first page of a lesson's folder, or on the page that README.md links."""
    return pages[DOCS / "guide/diagrams.md"] if page.parent == ROOT else pages.get(page.parent / "README.md", "")


def texts(picture):
    """The texts and tooltips of a picture."""
    found = re.findall(r"<(?:text|tspan|title)\b[^>]*>([^<]*)", picture.read_text())
    return [" ".join(html.unescape(text).split()) for text in found if text]


def words(picture):
    """The same, numbers with two digits."""
    return [re.sub(r"-?\d+\.\d+(?:e[-+]?\d+)?", lambda number: f"{float(number[0]):.2g}", text) for text in texts(picture)]


def is_shown(what, picture):
    """Whether a picture has these words, or, for `LABEL < NUMBER`, with <, = or >, such a number behind this label."""
    bound = re.fullmatch(r"(.+) ([<=>]) (-?[\d.]+(?:e-?\d+)?)", what)
    if not bound or what in texts(picture):
        return any(re.search(rf"(?<!\w){re.escape(what)}(?!\w)", text) for text in texts(picture))
    label, relation, number = bound[1], bound[2], float(bound[3])
    behind = re.compile(re.escape(label) + r":? (-?[\d.]+(?:e[-+]?\d+)?)")
    values = [float(match[1]) for match in map(behind.fullmatch, words(picture)) if match]
    if label == "black pixels":
        values = [black_pixels(picture)]
    same = lambda value: f"{value:.2g}" == f"{number:.2g}"
    return any({"<": value < number, ">": value > number, "=": same(value)}[relation] for value in values)


def black_pixels(picture):
    """The part of the pixels of all images in a picture whose colours are all below a tenth of the greatest."""
    black = every = 0
    for data in re.findall(r'base64,([^"]+)"', picture.read_text()):
        png = base64.b64decode(data)
        width, channels = int.from_bytes(png[16:20], "big"), {0: 1, 2: 3, 6: 4}[png[25]]  # grey, colours, colours with alpha
        compressed, at = b"", 8
        while at < len(png):
            size = int.from_bytes(png[at:at + 4], "big")
            if png[at + 4:at + 8] == b"IDAT":
                compressed += png[at + 8:at + 8 + size]
            at += 12 + size
        rows, length = zlib.decompress(compressed), width * channels + 1
        above = bytes(length - 1)
        for start in range(0, len(rows), length):
            row = bytearray(rows[start + 1:start + length])
            for i in range(len(row)):
                a, b, c = (row[i - channels], above[i], above[i - channels]) if i >= channels else (0, above[i], 0)
                nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]  # Paeth
                row[i] = (row[i] + (0, a, b, (a + b) // 2, nearest)[rows[start]]) % 256
            black += sum(max(row[i:i + min(channels, 3)]) < 26 for i in range(0, len(row), channels))
            every += width
            above = row
    return black / every if every else 0


def compare(names, write):
    for command in dict.fromkeys(command for _, command, *_ in ROWS):
        name = name_of(command)
        if name not in names and (names or name in NEED_DATA):
            continue
        experiment = (DOCS / f"tools/experiments/{name}.cpp").exists()
        with tempfile.TemporaryDirectory() as out:
            program = [BIN / "experiments", name] if experiment else [BIN / name if (BIN / name).exists() else BIN / "examples" / name]
            arguments = shlex.split(command)[2:]
            if "--fashion-mnist" in arguments:  # a package, which this script installs
                program = [ROOT / command.split()[0], name]
            subprocess.run([*program, *arguments, "--out", out], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
            for picture, _, file, _ in (row for row in ROWS if row[1] == command):
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
