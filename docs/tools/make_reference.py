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
    "core/diagram/view/colours.h", "core/diagram/layout/routes.h",
    "ops/distributions/distributions.h", "optim/loss.h", "optim/names.h", "optim/options.h", "core/base/text.h",
}

# Folders and headers that are public because other public headers need them, but of no use to a reader who looks for a function.
INTERNAL = {
    "core/base/scope.h", "core/diagram/layout", "core/diagram/view", "core/runtime/memory.h", "nn/layers/function_layer.h",
    "ops/network/size2d.h", "optim/named_option.h", "kit/data/prefetcher.h", "kit/draw/png.h", "kit/draw/svg.h", "kit/files/csv.h",
    "kit/mpi/exchange.h", "kit/program/error.h", "kit/program/fingerprint.h", "kit/program/format.h", "kit/draw/values.h",
    "kit/program/table.h", "kit/text/merges.h", "kit/train/best.h", "kit/train/checkpoint.h", "kit/train/classifier.h",
    "kit/train/gradients.h", "kit/train/reports.h", "kit/train/translation.h",
}
SHOWN = {"core/diagram/view/view.h"}  # all the same

# Types that the library's own sources alone use, in headers of others.
OWN = {"Buffer", "StateDifference"}


def first_sentence(comment):
    lines = [line.strip() for line in comment]
    text = " ".join(lines[: lines.index("")] if "" in lines else lines)
    text = re.split(r"(?<=[a-z0-9)\]'\"|}])[.:] (?=[A-Z`])", text, maxsplit=1)[0]
    text = re.split(r"\s{5,}", text, maxsplit=1)[0]
    return text.rstrip(" .:").replace("|", "\\|")


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


def members(body):
    """The names of the public members that have a comment or follow one that has, and of the values of public enums."""
    names, public = [], body[0].startswith("struct")
    for i, line in enumerate(body):
        if re.match(r" (public|protected|private):", line):
            public = "public" in line
        elif public and (enum := re.match(r"  enum (?:class )?(\w+)", line)):
            end = next(k for k in range(i, len(body)) if "}" in body[k])
            names += [f"{enum[1]}::{value}" for value in fields_of(["enum" + line] + body[i + 1:end + 1])]
        elif public and re.match(r"  [A-Za-z\[~]", line) and "friend" not in line and not re.search("=|function<", line.split("(")[0]):
            name = declared([line.strip()] + [more.strip() for more in body[i + 1:i + 3]])
            own = re.match(r"(?:class|struct) (?:\[\[\w+\]\] )?(\w+)", body[0])
            if name and name.endswith(")") and name != "requires()" and (not own or name[:-2] != own[1]) and name not in names:
                names.append(name)
    return names


def fields_of(body):
    """The names of a struct's fields or an enum's values."""
    text = re.sub(r"//.*", "", "\n".join(body))
    inner = text[text.index("{") + 1:text.rindex("}") if "}" in text else len(text)]
    if text.startswith("enum"):
        return [value.split("=")[0].strip() for value in inner.split(",") if value.strip()]
    return re.findall(r"^  [\w:<>, *&()]+? (?!const\b)(\w+)(?: =.*|\{.*\})?;", inner, re.MULTILINE)


def entries(path):
    lines = path.read_text().splitlines()
    comment, hidden, within, i = [], 0, "", 0
    while i < len(lines):
        line = lines[i]
        if re.match(r"namespace (detail|\w+::detail)\b", line):
            hidden += 1
        elif re.match(r"}  // namespace detail", line):
            hidden -= 1
        elif match := re.match(r"(}  // )?namespace (plain)\b", line):
            within = "" if match[1] else match[2] + "::"
        elif line.startswith("///"):
            comment = comment + [line[3:]] if i > 0 and lines[i - 1].startswith("///") else [line[3:]]
        elif line and not line.startswith((" ", "}", "#", "//", "namespace", "extern", "friend")):
            statement = [line]
            while not re.search(r"[;{}]\s*(//.*)?$", statement[-1]) and i + 1 < len(lines):
                i += 1
                statement.append(lines[i])
            body = statement[:]
            if re.search(r"\{\s*(//.*)?$", statement[-1]):
                while i + 1 < len(lines) and not lines[i].startswith("}"):
                    i += 1
                    body.append(lines[i])
            head = [part for part in statement if not part.startswith("template")] or statement
            # A declaration that follows without an empty line shares the comment: zeros_like and ones_like.
            left_out = hidden or re.search(r"^(class|struct) \w+;$", head[0]) or re.search(r"\w(<\w+>)?::~?\w+\(", "".join(statement))
            left_out = left_out or re.match(r"(explicit )?(\w+)\(.*\) -> \2", "".join(head))  # a deduction guide
            left_out = left_out or re.match(r"(class|struct) \w+(::\w+)*<.*>", head[0])  # a specialization
            if not left_out and (name := declared(statement)):
                is_type = re.match(r"(class|struct) ", head[0])
                what = first_sentence(comment)
                if head[0].startswith("enum "):
                    values = "One of " + ", ".join(f"`{value}`" for value in fields_of(body))
                    what = f"{what}. {values}" if what else values
                yield within + name, what, members([head[0]] + body[1:]) if is_type and len(body) > 2 else []
                if not comment and head[0].startswith("struct "):
                    fields[name] = fields_of(body)
                if head[0].startswith("enum "):
                    comment = []  # it is of the values; the options below have fields
        elif not line:
            comment = []
        i += 1


def heading(path):
    text = path.read_text().splitlines()
    words = []
    for line in text:
        if not line.startswith("//") or line == "//":
            break
        words.append(line[2:].strip())
    return first_sentence([re.sub(r' \([^()]*"[^()]*\)', "", " ".join(words))])  # without the papers


undocumented = []
fields = {}  # of structs that need no comment of their own


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
    declared_names = {name for _, header in headers() for name, *_ in entries(include / header)}
    return [name for name in LEFT_OUT | INTERNAL | SHOWN if not (include / name).exists()] + sorted(OWN - declared_names)


def public_names():
    """Every public name as (header, name, its sentence, names of its members)."""
    for _, header in headers():
        for name, what, inner in list(entries(include / header)):  # fields are known after all of a header
            if name in OWN:
                continue
            if not what and fields.get(name):
                what = "With " + ", ".join(f"`{field}`" for field in fields[name])
            elif not what:
                undocumented.append(f"{header}: {name}")
            yield header, name, what, inner


def page():
    declaring = {header for header, *_ in public_names()}
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
    text = page()
    if undocumented:
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
