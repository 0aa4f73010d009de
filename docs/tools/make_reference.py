#!/usr/bin/env python3
"""Writes docs/look_up/reference.md, the list of public headers, from the headers; public_names() yields what they declare.

    docs/tools/make_reference.py           writes the page
    docs/tools/make_reference.py --check   ends with 1 if the page is not what it would write

It relies on the code style: a declaration that users see stands at the left margin (members two spaces in),
behind a comment of lines that begin with ///; namespaces called detail, and headers that are not installed for users, are left out.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent.parent
include = root / "cmake" / "include" / "xgrad"
FOLDERS = {
    "core": "Numbers, graph, gradients, files",
    "ops": "Operations",
    "nn": "Layers and models",
    "optim": "Optimizers",
    "kit": "Utilities for programs: plots, text, command lines",
}
# Umbrellas, and headers that only the library's own sources include.
LEFT_OUT = {
    "ops/ops.h", "nn/nn.h", "nn/pytorch/pytorch.h", "optim/optim.h",
    "core/graph/model_parameters.h", "core/base/not_members.h", "core/files/json.h",
    "core/diagram/view/equations.h", "core/diagram/view/folding.h", "core/diagram/view/labels.h",
    "core/diagram/view/colours.h", "core/diagram/layout/steps.h",
    "ops/distributions/distributions.h", "optim/loss.h", "optim/names.h", "optim/options.h", "core/base/text.h",
}

# Folders and headers that are public because other public headers need them, but of no use to a reader who looks for a function.
INTERNAL = {
    "core/base/scope.h", "core/diagram/layout", "core/diagram/view", "core/runtime/memory.h",
    "ops/network/size2d.h", "optim/named_option.h", "kit/data/prefetcher.h", "kit/draw/png.h", "kit/draw/svg.h", "kit/files/csv.h",
    "kit/program/error.h", "kit/program/fingerprint.h", "kit/program/format.h", "kit/draw/values.h",
    "kit/program/table.h", "kit/train/classifier.h", "kit/train/gradients.h", "kit/train/translation.h",
}
SHOWN = {"core/diagram/view/view.h"}  # all the same

# Types that the library's own sources alone use, in headers of others.
OWN = {"Buffer", "StateDifference"}


def declared(lines):
    """The name that a declaration gives, or None."""
    text = re.sub(r"\s+", " ", " ".join(lines))
    text = re.sub(r"^template <.*?>(?= ?(?:requires|class|struct|concept|inline|constexpr|[A-Za-z]))", "", text).strip()
    text = re.sub(r"^requires\(?.*?\)? (?=[A-Z][A-Za-z:]* [a-z])", "", text)
    text = re.sub(r"\[\[.*?\]\] ?", "", text).replace("decltype(auto)", "auto")
    if match := re.match(r"(?:class|struct|enum class|concept) (\w+)", text):
        return match[1]
    if match := re.match(r"using (\w+) =", text):
        return match[1]
    if match := re.search(r"(operator(?:\(\)|\[\]|[^\s\w(]+|\s?bool))\s*\(", text):
        return match[1]
    if match := re.match(r"(?:[\w:<>&*, ]|\.\.\.)*?\b([A-Za-z]\w*)\(", text):
        return match[1] + "()"
    if match := re.match(r"(?:inline|constexpr|const|extern|static).*?\b(\w+)(?: = .*|\{.*|\(.*)?;", text):
        return match[1]
    return None


def entries(path):
    """(name, whether it is documented) of each public declaration: by a comment, its values, or its fields."""
    lines = path.read_text().splitlines()
    comment, spaces, i = False, [], 0
    while i < len(lines):
        line = lines[i]
        if opened := re.match(r"namespace ([\w: ]+) \{$", line):
            spaces.append(opened[1])
        elif line.startswith("}"):
            spaces.pop()
        elif line.startswith("///"):
            comment = True
        elif line and not line.startswith((" ", "#", "//", "namespace", "extern", "friend")):
            statement = [line]
            while not re.search(r"[;{}]\s*(//.*)?$", statement[-1]):
                i += 1
                statement.append(lines[i])
            body = []
            if re.search(r"\{\s*(//.*)?$", statement[-1]):
                end = next(k for k in range(i, len(lines)) if lines[k].startswith("}"))
                body, i = lines[i + 1:end], end
            head = [part for part in statement if not part.startswith("template")] or statement
            # A declaration that follows without an empty line shares the comment: zeros_like and ones_like.
            left_out = re.search(r"\bdetail\b", " ".join(spaces)) or re.search(r"^(class|struct) \w+;$", head[0])
            left_out = left_out or re.search(r"\w(<\w+>)?::~?\w+\(", "".join(statement))
            left_out = left_out or re.match(r"(explicit )?(\w+)\(.*\) -> \2", "".join(head))  # a deduction guide
            left_out = left_out or re.match(r"(class|struct) \w+(::\w+)*<.*>", head[0])  # a specialization
            if not left_out and (name := declared(statement)):
                is_enum = head[0].startswith("enum ")
                fields = head[0].startswith("struct ") and any(re.match(r"  [^(]+;", field) for field in body)
                yield ("plain::" if "plain" in spaces else "") + name, comment or is_enum or fields
                comment = comment and not is_enum  # it is of the values; the options below have fields
        elif not line:
            comment = False
        i += 1


def heading(path):
    """The first sentence of a header's first comment, without the papers."""
    words = []
    for line in path.read_text().splitlines():
        if not line.startswith("//") or line == "//":
            break
        words.append(line[2:].strip())
    text = re.sub(r' \([^()]*"[^()]*\)', "", " ".join(words))
    return re.split(r"(?<=[a-z0-9)\]'\"|}])[.:] (?=[A-Z`])", text, maxsplit=1)[0].rstrip(" .:").replace("|", "\\|")


def headers():
    """The public headers as (folder, path in the include directory)."""
    for folder in FOLDERS:
        for path in sorted((include / folder).rglob("*.h")):
            name = path.relative_to(include).as_posix()
            if name not in LEFT_OUT and "/kernels/" not in name and " Private.\n" not in path.read_text()[:400]:
                yield folder, name


def is_internal(header):
    return header not in SHOWN and any(f"{header}/".startswith(f"{place}/") for place in INTERNAL)


def gone():
    """What the lists above name, but the headers no longer have."""
    declared_names = {name for _, header in headers() for name, _ in entries(include / header)}
    return [name for name in LEFT_OUT | INTERNAL | SHOWN if not (include / name).exists()] + sorted(OWN - declared_names)


def public_names():
    """Every public name as (header, name, whether it is documented)."""
    return [(header, name, documented) for _, header in headers() for name, documented in entries(include / header) if name not in OWN]


def page(names):
    declaring = {header for header, *_ in names}
    out = [
        "# Public headers, by family",
        "",
        "Find the header that declares what you need. Its comments give shapes, formulas and errors; include it as",
        "`<xgrad/core/array/array.h>`, or everything but the last family as `<xgrad/xgrad.h>`. The list is made by `docs/tools/make_reference.py`.",
    ]
    for folder, title in FOLDERS.items():
        out += ["", f"## {title}", "", "| header | what it declares |", "|---|---|"]
        shown = [name for each, name in headers() if each == folder and name in declaring and not is_internal(name)]
        out += [f"| `{name}` | {heading(include / name)} |" for name in shown]
    return "\n".join(out) + "\n"


def main():
    names = public_names()
    text = page(names)
    if undocumented := [f"{header}: {name}" for header, name, documented in names if not documented]:
        sys.exit("public, but without a comment:\n  " + "\n  ".join(undocumented))
    if stale := gone():
        sys.exit("in the lists of docs/tools/make_reference.py, but gone:\n  " + "\n  ".join(stale))
    target = root / "docs" / "look_up" / "reference.md"
    if "--check" not in sys.argv:
        target.write_text(text)
    elif target.read_text() != text:
        sys.exit("docs/look_up/reference.md is not what the headers say; run docs/tools/run lists")


if __name__ == "__main__":
    main()
