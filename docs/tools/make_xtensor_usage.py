#!/usr/bin/env python3
"""Counts which functions of the library use xtensor and xtensor-blas, for the table in docs/inside/design.md.

    docs/tools/make_xtensor_usage.py           writes the table
    docs/tools/make_xtensor_usage.py --check   ends with 1 if the table is not what it would write

A function begins at the left margin of a source file; comments do not count.
"""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent.parent
page = root / "docs" / "inside" / "design.md"
BEGIN, END = "<!-- docs/tools/make_xtensor_usage.py -->\n", "<!-- end -->\n"

# The functions that may follow xt:: as expressions; containers and adaptors are the door, core/array/xtensor.h.
USES = {
    "an xtensor expression": r"\bxt::(?!lapack\b|adapt\b|uvector\b|no_ownership\b|layout_type\b|blas_index_t\b)\w+",
    "`xt::lapack`": r"\bxt::lapack::\w+",
    "`cxxlapack`, which it is made of": r"\bcxxlapack::\w+",
    "`cxxblas`, which it is made of": r"\bcxxblas::\w+(?=\()",
}


def functions(path):
    """(name, body) of everything that begins at the left margin of a file."""
    text = re.sub(r"//.*", "", path.read_text())
    found = re.finditer(r"^(?=[A-Za-z])[\w:<>,&* ]*?([\w:]+)\(", text, re.M)
    starts = [(match.start(), match[1]) for match in found]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return [(name.rpartition("::")[2], text[start:end]) for (start, name), end in zip(starts, ends)]


def table():
    sources = [path for room in ("ops", "nn", "optim") for path in sorted((root / room).rglob("*.cpp"))]
    found = {use: {} for use in USES}  # use -> file -> names
    for path in sources:
        for name, body in functions(path):
            for use, pattern in USES.items():
                if re.search(pattern, body):
                    names = found[use].setdefault(path.relative_to(root).as_posix(), [])
                    names += [name] if name not in names else []
    rows = ["| functions that call | how many | which |\n|---|---|---|\n"]
    for use, files in found.items():
        where = "; ".join(f"`{file}`: " + ", ".join(f"`{name}`" for name in names) for file, names in files.items())
        rows.append(f"| {use} | {sum(map(len, files.values()))} | {where} |\n")
    return "".join(rows)


text = page.read_text()
before, _, rest = text.partition(BEGIN)
_, _, after = rest.partition(END)
made = before + BEGIN + table() + END + after
if "--check" in sys.argv:
    if made != text:
        sys.exit("the use of xtensor is not what docs/inside/design.md says; run docs/tools/run lists")
else:
    page.write_text(made)
