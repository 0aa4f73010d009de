#!/usr/bin/env python3
"""Finds public names that only tests use: what nobody uses leaves the library (docs/inside/contributing.md).

    tests/cmake/used.py ROOT            fails for a name that only tests use and tests/cmake/expected_names.txt does not list,
                                        and for a listed name that is used or gone
    tests/cmake/used.py ROOT --list     prints the names that only tests use

Public names are what docs/tools/make_reference.py finds in the headers. A name is used where a source other than its own header and source, or a
program or the code in a page of docs, has it as a word outside of comments, and a type also where its own header needs it elsewhere, as
options or as a result. Pages that list every name do not count.
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
    return re.sub(r"//.*", "", text)


def public_names():
    """Names that docs/tools/make_reference.py finds, with the headers that declare each."""
    found = {}
    for header, name, *_ in make_reference.public_names():
        word = name.removesuffix("()").rpartition("::")[2]
        if not re.fullmatch(r"\w+", word) or header.startswith("kit/"):
            continue
        if not name.endswith("()") and len(re.findall(rf"\b{word}\b", code_of(root / header))) > 1:
            continue
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

unused = {
    name
    for name, headers in public_names().items()
    if not uses.get(name, set()) - {header.removesuffix(".h") for header in headers}
}
if "--list" in sys.argv:
    print("\n".join(sorted(unused)))
    sys.exit()
expected = {line for line in listed.read_text().splitlines() if line and not line.startswith("#")}
wrong = [f"{name}: only tests use it; remove it, or show it in an example or a page" for name in sorted(unused - expected)]
wrong += [f"{listed.name}: {name} is used, or is gone: take it off the list" for name in sorted(expected - unused)]
print("\n".join(wrong) or f"{len(expected)} names that are expected all the same, and no other that only tests use")
sys.exit(1 if wrong else 0)
