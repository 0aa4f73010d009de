#!/usr/bin/env bash
# Every name has one meaning. No two public types share a name, in whatever namespaces, so that a file may open all namespaces at
# once, and std with them. No name in a header is a macro of X11, curses, Windows or <complex.h>. A class made from an options
# struct calls that struct Options. No class is another one under a second name. The files that comments and the build name exist.
# What << prints, str and to_string take.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

cat >"$sandbox/names.py" <<'END_OF_FILE'
"""names.py ROOT: checks the headers below it, and writes a file that opens all namespaces and names every type."""
import collections
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "docs" / "tools"))
import make_reference  # noqa: E402

FOLDERS = ["core", "ops", "nn", "optim"]
AS_IN_STD = {"any", "slice", "stack"}  # classes of <any>, <valarray> and <stack>: docs/guide/debugging.md
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
public = [header for _, header in make_reference.headers()]
for header in headers:
    shown = header.relative_to(root)
    for namespace, kind, name, parameters, body in types(header):
        if "detail" in namespace:
            continue
        places[name].add(namespace)
        if kind in ("class", "struct"):
            check_class(shown, name, body)
        if namespace not in NAMESPACES or shown.as_posix() not in public:
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
paths = ["/" + path.relative_to(root).as_posix() for path in here]
here = {path.name: path for path in here}
for folder in FOLDERS + ["examples", "tests", "docs/tools"]:
    for path in sorted((root / folder).rglob("*")):
        if path.suffix not in (".h", ".cpp"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            remark = re.sub("<(?!xgrad/)[^ >]*>", "", (re.match(r"\s*//.*", line) or [""])[0])  # without headers of others
            for file in re.findall(r"[\w-]+\.(?:h|cpp|md|sh|py)\b", remark):
                if file not in here:
                    wrong.append(f"{path.relative_to(root)}:{number}: there is no {file}")

# What the build takes out of its own lists of files: a name that is gone would be none the wiser.
named = {place: "cmake/further.cmake" for place in
         re.search(r"set\(XGRAD_FURTHER\s([^)]*)\)", re.sub("#.*", "", (root / "cmake/further.cmake").read_text()))[1].split()}
for lists in [root / "examples/kit", *(root / folder for folder in FOLDERS)]:
    calls = re.findall(r"(?:REMOVE_ITEM \w+|\b(?:COLD|ONCE|PUBLIC_KERNELS)\b)([^)]*)", (lists / "CMakeLists.txt").read_text())
    named |= {word: f"{lists.name}/CMakeLists.txt" for word in " ".join(calls).split() if re.fullmatch(r"[\w./]+\.(h|cpp)", word)}
for name, place in named.items():
    if not any(f"{path}/".endswith((f"/{name}/", f"/{name}.cpp/")) for path in paths):
        wrong.append(f"{place}: there is no {name}")

# Functions and objects: an ambiguous name is one already where it is looked up in a template.
functions = {name.removesuffix("()") for header, name, *_ in make_reference.public_names() if not header.startswith("kit/")}
for name in sorted(functions - set(places) - AS_IN_STD - {"requires"}):
    if re.fullmatch(r"\w+", name):
        code.append(f"template <class... T> void use_{len(code)}(T... t) {{ (void){name}(t...); }}")
for header in public:
    if re.search(r"#include <(any|valarray|stack)>", (make_reference.include / header).read_text()):
        wrong.append(f"{header}: includes what makes {AS_IN_STD} ambiguous beside std")

# What is printed with << has the two other forms, too.
printed = set(re.findall(r"^std::ostream& operator<<\(std::ostream& \w+, const ([\w:<>]+)&", "\n".join(
    (make_reference.include / header).read_text() for header in public), re.MULTILINE))
for name in sorted(printed):
    code.append(f"std::string text_{len(code)}(const {name}& value) {{ std::cout << value; return str(value) + to_string(value); }}")
if len(printed) < 10:
    wrong.append(f"only {printed} have an operator<<")

print("#include <bits/stdc++.h>")
texts = [header.read_text() for header in headers if " Private.\n" not in header.read_text()[:400] and header.name != "json.h"]
for other in sorted(set().union(*(re.findall(r"#include <((?!xgrad/)[^>]*)>", text) for text in texts))):
    print(f"#if __has_include(<{other}>)\n#include <{other}>\n#endif")  # it may know macros no better
print('#include "macros.h"')
for header in ["xgrad.h", *public]:
    print(f"#include <xgrad/{header}>")
for namespace in ["std", *NAMESPACES]:
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

cat >>"$sandbox/all.cpp" <<'END_OF_FILE'
// Calls that std could take for its own.
void calls(const Tensor& x, const Index& ids, const Mask& mask) {
  (void)std::tuple(abs(x), exp(x), log(x), sqrt(x), round(x), floor(x), tanh(x), pow(x, 2), pow(2, x), pow(x, x), atan2(x, x),
                   fmod(x, 2), clamp(x, 0, 1), lerp(x, x, 0.5), isnan(x), isfinite(x), max(x), min(x), max(x, 0), max(x, Axes{0}, {.keepdim = true}),
                   sort(x), unique(ids), equal(x.value(), x.value()), rand({2}), all(mask), x[{_, 0}]);
}
END_OF_FILE
"$(command -v clang++ || echo g++)" -std=c++20 -fsyntax-only -I"$root/cmake/include" -I"$root/tests/cmake" "$sandbox/all.cpp"
