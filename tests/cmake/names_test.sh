#!/usr/bin/env bash
# Every name has one meaning. No two public types share a name, in whatever namespaces, so that a file may open all namespaces at
# once. A class made from an options struct calls that struct Options. No class is another one under a second name. The files that
# comments name exist.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

cat >"$sandbox/names.py" <<'END_OF_FILE'
"""names.py ROOT: checks the headers below it, and writes a file that opens all namespaces and names every type."""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
FOLDERS = ["core", "ops", "nn", "optim"]
NAMESPACES = ["xgrad", "xgrad::distributions", "xgrad::nn", "xgrad::nn::pytorch", "xgrad::optim"]
wrong = []


def types(path):
    """Of a header: (namespace, what it is, its name, `class T` of a template, the lines of its body)."""
    lines = path.read_text().splitlines()
    inside, parameters = [], ""
    for i, line in enumerate(lines):
        if opened := re.match(r"namespace ([\w: ]+?) \{", line):
            inside.append(opened[1])
        elif re.match(r"\}  // namespace", line):
            inside.pop()
        elif header := re.match(r"template <(.*)>$", line):
            parameters = header[1]
        elif found := re.match(r"(class|struct|enum class|concept|using) (?:\[\[\w+\]\] )?(\w+)\b(?!;|::|<)", line):
            kind, name = found.groups()
            end = i + 1
            if line.endswith("{"):
                end = next(k for k in range(i, len(lines)) if lines[k].startswith("}"))
            namespace = re.sub(r"(::)?inline \w+", "", "::".join(inside))
            if kind != "using" or " =" in line:
                yield namespace, kind, name, parameters, lines[i:end]
            parameters = ""
        elif line and not line.startswith("requires"):
            parameters = ""


def check_class(path, name, body):
    own = re.search(rf"(?:^  using Options = |\bLayer<{name}, )(\w+)[;>]", "\n".join(body), re.MULTILINE)
    for made_from in re.findall(rf"\b{name}\([^()]*?const (\w*Options)&", "\n".join(body)):
        if not own or made_from not in ("Options", own[1]):
            wrong.append(f"{path}: {name} is made from {made_from}, which it does not call Options")
    head = re.match(r"(?:class|struct) (?:\[\[\w+\]\] )?\w+ (?:final )?: (?:public )?([\w:]+)", body[0])
    adds = [line for line in body[1:] if line.strip() and not re.match(r"\s*(//|public:|using [\w:]+::\w+;)", line)]
    # Exceptions are told apart by their class, and a template that is given the class's name adds its name.
    named = re.search(rf": (?:public )?[\w:]+<\s*{name}\b", body[0])
    if head and not adds and not named and path.name != "error.h":
        wrong.append(f"{path}: {name} adds nothing to {head[1]}")


places = collections.defaultdict(set)
code = []
headers = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.h"))
for header in headers:
    shown = header.relative_to(root)
    for namespace, kind, name, parameters, body in types(header):
        if "detail" in namespace:
            continue
        places[name].add(namespace)
        if kind in ("class", "struct"):
            check_class(shown, name, body)
        if namespace not in NAMESPACES:
            continue
        number = len(code)
        template, given = "", ""
        if parameters:
            words = [each.split()[-2:] for each in re.sub(r"<[^<>]*>| = [^,]*", "", parameters).split(",")]
            given = "<" + ", ".join(word[1] + ("..." if "..." in word[0] else "") for word in words) + ">"
            template = f"template <{parameters}> "
        code.append(f"{template}{'constexpr bool' if kind == 'concept' else 'using'} type_{number} = {name}{given};")
for name, namespaces in sorted(places.items()):
    if len(namespaces) > 1:
        wrong.append(f"{name} is in {' and in '.join(sorted(namespaces))}")

here = [path for path in root.rglob("*") if ".git" not in path.parts and "build" not in path.relative_to(root).parts]
here = {path.name: path for path in here}
for folder in FOLDERS + ["examples", "tests", "docs/tools"]:
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for file in re.findall(r"[\w-]+\.(?:h|cpp|md|sh|py)\b", (re.match(r"\s*//.*", line) or [""])[0]):
                if file not in here:
                    wrong.append(f"{path.relative_to(root)}:{number}: there is no {file}")

for header in headers:
    print(f"#include <xgrad/{header.relative_to(root)}>")
print("#include <xgrad/xgrad.h>")
for namespace in NAMESPACES:
    print(f"using namespace {namespace};")
print("\n".join(code))
if wrong:
    sys.exit("\n".join(wrong))
END_OF_FILE

python3 "$sandbox/names.py" "$root" >"$sandbox/all.cpp"
[ "$(grep -c ' type_' "$sandbox/all.cpp")" -ge 200 ]
for name in Tensor 'BasicArray<T>' MultiHeadAttention MultiheadAttention AdamW; do
  grep -qE "using type_[0-9]+ = $name;" "$sandbox/all.cpp" || { echo "$name is not found"; exit 1; }
done

g++ -std=c++20 -fsyntax-only -I"$root/cmake/include" "$sandbox/all.cpp"
