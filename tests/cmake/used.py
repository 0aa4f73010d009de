#!/usr/bin/env python3
"""Finds public names that only tests use: what nobody uses leaves the library (docs/inside/contributing.md).

    tests/cmake/used.py ROOT            fails for a name that only tests use and tests/cmake/expected_names.txt does not list,
                                        and for a listed name that is used or gone
    tests/cmake/used.py ROOT --list     prints the names that only tests use

Public names are what docs/tools/make_reference.py finds in the headers. A name is used where a source other than its own header and source, or a
program or the code in a page of docs, has it as a word outside of comments. A type is also used where another declaration of its own header
that is used has it: as a parameter, a result, options, a member or a base. Pages that list every name do not count.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(root / "docs" / "tools"))
import make_reference  # noqa: E402
LISTS = {"reference.md", "operations.md", "layers.md", "from_pytorch.md", "pytorch_names.md", "changelog.md", "design.md"}
listed = root / "tests" / "cmake" / "expected_names.txt"


def words(text):
    return set(re.findall(r"\w+", text))


def code_of(path):
    text = path.read_text(encoding="utf8")
    if path.suffix == ".md":
        return "\n".join(re.findall(r"^```.*?^```|^    .*|`[^`\n]+`", text, re.M | re.S))
    return re.sub(r"//.*|^ *# *include.*", "", text, flags=re.M)


def declarations(header):
    """The declarations of a header as (name, text), those of namespace detail included."""
    found, piece, depth = [], [], 0
    for line in code_of(root / header).split("\n"):
        if not piece and (not line.strip() or re.match(r"#|\}|(inline )?namespace\b", line)):
            continue
        piece.append(line)
        depth += len(re.findall(r"[{(]", line)) - len(re.findall(r"[})]", line))
        if depth == 0 and re.search(r"[;}]\s*$", line):
            found.append((make_reference.declared(piece) or "", "\n".join(piece)))
            piece = []
    return [(name.removesuffix("()"), text) for name, text in found]


def public_names():
    """Names that docs/tools/make_reference.py finds, with the headers that declare each."""
    found = {}
    for header, name, *_ in make_reference.public_names():
        word = name.removesuffix("()").rpartition("::")[2]
        if re.fullmatch(r"\w+", word) and not header.startswith("kit/"):
            found.setdefault(word, set()).add(header)
    return found


uses = {}  # word -> stems of the files that use it
for folder in ("core", "ops", "nn", "optim", "examples", "docs"):
    for path in (root / folder).rglob("*"):
        if path.suffix in (".h", ".cpp", ".inc") or (path.suffix == ".md" and path.name not in LISTS):
            stem = path.relative_to(root).with_suffix("").as_posix()
            for word in words(code_of(path)):
                uses.setdefault(word, set()).add(stem)
for word in words(code_of(root / "README.md")):
    uses.setdefault(word, set()).add("README")

names = public_names()
printing = {"to_string"}  # printing a type is no use of it


def is_used_elsewhere(name, header):
    return bool(uses.get(name, set()) - {each.removesuffix(".h") for each in names.get(name, {header})})


def used_in(header, expected):
    """The names of a header that other files use or that are expected, and what such declarations have of the header."""
    pieces = [(name, words(text)) for name, text in declarations(header) if name and name not in printing]
    own = {name for name, _ in pieces}
    used = {name for name in own if name in expected or is_used_elsewhere(name, header)}
    while more := set().union(*(text & own for name, text in pieces if name in used)) - used:
        used |= more
    return used


def unused(expected=frozenset()):
    """The names that only tests use, when all that `expected` names need counts as used."""
    used = {header: used_in(header, expected) for header in set().union(*names.values())}
    return {name for name, headers in names.items() if not any(name in used[each] or is_used_elsewhere(name, each) for each in headers)}


if "--list" in sys.argv:
    print("\n".join(sorted(unused())))
    sys.exit()
expected = {line for line in listed.read_text().splitlines() if line and not line.startswith("#")}
wrong = [f"{name}: no program and no page uses it; remove it, or show it in an example or a page" for name in sorted(unused(expected) - expected)]
wrong += [f"{listed.name}: {name} is used, or is gone: take it off the list" for name in sorted(expected - unused())]
print("\n".join(wrong) or f"{len(expected)} names that are expected all the same, and no other that only tests use")
sys.exit(1 if wrong else 0)
