#!/usr/bin/env python3
"""Makes notebooks for the kernel xgrad of the lessons (docs/learn/start) and of the ten steps (docs/learn/steps).

    docs/tools/site/notebooks.py FOLDER

The text is the page's; the cells are the lesson's program, whole and in order, cut where the page shows a piece of it. What the
program writes into a file is drawn under the cell.
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
START = ROOT / "docs/learn/start"
STEPS = ROOT / "docs/learn/steps"


def statements(lines):
    """The lines of a function or a file in pieces that stand alone: up to a line where all brackets are closed."""
    pieces, piece, depth = [], [], 0
    for line in lines:
        if not line.strip() and depth == 0:
            if piece:
                pieces.append(piece)
                piece = []
            pieces.append([])  # a gap
            continue
        piece.append(line)
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", line)
        depth += sum(code.count(c) for c in "({[") - sum(code.count(c) for c in ")}]")
        if depth == 0 and re.search(r"[;}]\s*$", code) and not code.startswith(" else"):
            pieces.append(piece)
            piece = []
    if piece:
        pieces.append(piece)
    return pieces


def adapted(text):
    """Code of a program as code of a cell: no arguments, and pictures are shown instead of saved."""
    text = re.sub(r"argc > \d \? argv\[\d\] : ", "", text)
    text = text.replace('"examples/translate/data/en-fr.tsv"', "corpus_file")
    text = re.sub(r"save_graph\(\s*\w+ / \"[^\"]+\",\s*", "show(draw(", text)
    text = re.sub(r"kit::save\(\s*\w+ / \"[^\"]+\",\s*", "show(", text)
    return close_shown(text)


def close_shown(text):
    """`show(draw(...);` has one bracket more to close."""
    result, at = "", 0
    for match in re.finditer(r"show\(draw\(", text):
        if match.start() < at:
            continue
        depth, end = 1, match.end()
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        result += text[at:end] + ")"
        at = end
    return result + text[at:]


def program(path):
    """The lines before `main`, without the comment at the top, and those of `main` at no indentation."""
    lines = path.read_text().splitlines()
    while lines and lines[0].startswith("//"):
        lines.pop(0)
    begin = next(i for i, line in enumerate(lines) if line.startswith("int main("))
    body = lines[begin + 1:begin + lines[begin:].index("}")]
    body = [line.removeprefix("  ") for line in body]
    body = [line for line in body if not re.match(r"return |const std::filesystem::path \w+ = argc", line)]
    return lines[:begin], body


def markdown(text):
    """The text without links to other pages and without pictures, which cells draw."""
    text = re.sub(r"!\[[^]]*\]\([^)]*\)\n*", "", text)
    text = re.sub(r"\[([^]]+)\]\((?!https?:)[^)]*\)", r"\1", text)
    text = text.replace("The whole program prints", "The cells print")
    text = "\n".join(line for line in text.splitlines() if not re.match(r"(Deeper|Previous|Next): |\*\d+ minutes\.", line))
    text = re.sub(r"\n{3,}", "\n\n", text)
    return text.strip()


def cell(kind, text):
    result = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    if kind == "code":
        result |= {"execution_count": None, "outputs": []}
    return result


def notebook(cells):
    cells = [dict(c, id=f"cell-{i}") for i, c in enumerate(c for c in cells if "".join(c["source"]).strip())]
    return {"cells": cells, "metadata": {"kernelspec": {"display_name": "xgrad", "language": "c++", "name": "xgrad"},
                                         "language_info": {"name": "c++", "file_extension": ".cpp"}},
            "nbformat": 4, "nbformat_minor": 5}


def joined(pieces):
    return "\n".join("\n".join(piece) for piece in pieces).strip("\n")


def split_page(text):
    """Pairs of a text and the C++ below it, or none at the end."""
    parts = re.split(r"^```(\w*)\n(.*?)^```\n", text, flags=re.M | re.S)
    result, so_far = [], ""
    for i in range(0, len(parts), 3):
        so_far += parts[i]
        if i + 2 < len(parts) and parts[i + 1] == "cpp":
            result.append((so_far, parts[i + 2]))
            so_far = ""
    return result + [(so_far, "")]


def with_exercises(text):
    """Text cells and, for each exercise that a text names, the cell that fetches it."""
    cells = [cell("markdown", markdown(text))]
    return cells + [cell("code", f"%exercise {number}") for number in re.findall(r"`examples/exercise (\d+)`", text)]


def lesson(page):
    above, body = program(page.with_suffix(".cpp"))
    pieces = statements(body)
    plain = lambda text: re.sub(r"\s+", "", text)
    cells, position = [], 0
    text = page.read_text()
    first = "\n".join(above).strip()
    if "en-fr.tsv" in "\n".join(body):
        first += '\n\nconst std::string corpus_file = XGRAD_DIR "/examples/translate/data/en-fr.tsv";'
    for i, (words, shown) in enumerate(split_page(text)):
        if not shown:
            break
        # As far as the piece whose text has the last line that the page shows.
        lines = [plain(line) for line in shown.splitlines() if len(plain(line)) > 2]
        last = max((j for j in range(position, len(pieces)) if lines and lines[-1] in plain("\n".join(pieces[j]))), default=position - 1)
        cells += [cell("markdown", markdown(words))]
        if i == 0:
            cells += [cell("code", first)]
        cells += [cell("code", adapted(joined(part))) for part in cut(pieces[position:last + 1])]
        position = last + 1
    rest = [cell("code", adapted(joined(part))) for part in cut(pieces[position:])]
    return notebook(cells + rest + with_exercises(words))


def cut(pieces):
    """Pieces in groups, one for a cell: after a picture, and where the program has a gap."""
    groups = [[]]
    for piece in pieces:
        if not piece:
            groups.append([])
            continue
        groups[-1].append(piece)
        if any("save_graph" in line or "kit::save(" in line for line in piece):
            groups.append([])
    return [group for group in groups if group]


def steps():
    """The ten steps, by the name of their program."""
    text = (STEPS / "README.md").read_text()
    sections = re.split(r"^## (?=\d+\. )", text, flags=re.M)[1:]
    for section, source in zip(sections, sorted(STEPS.glob("[0-9]*.cpp"))):
        above, body = program(source)
        words = "".join(part for i, part in enumerate(re.split(r"^```.*?^```\n", "# " + section, flags=re.M | re.S)))
        cells = [cell("markdown", markdown(words)), cell("code", "\n".join(above).strip())]
        cells += [cell("code", adapted(joined(part))) for part in cut(statements(body))]
        yield source.stem, notebook(cells)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, pages in (("start", {page.stem: lesson(page) for page in sorted(START.glob("[0-9]*.md"))}), ("steps", dict(steps()))):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for stem, content in pages.items():
            (folder / name / f"{stem}.ipynb").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
