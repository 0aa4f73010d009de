#!/usr/bin/env python3
"""Holds the sources against their structure: includes that resolve, no arrow upwards, no circle.

    tests/cmake/structure.py ROOT

Every fused operation has its composed form in public, as plain::<operation>.

Scripts keep to the bash 3.2 of macOS, and those that users run to the options of its tools.

The folders of the kit are rooms one above the other, too; a header of it that others may include does not include a private one.

The folders of core are rooms one above the other, and no rooms of the library include each other in a circle. In each room the files, a source with its header (ops/network/softmax.h
and .cpp), include each other without a circle; a folder called kernels counts as one file. Arrows are includes; an umbrella
(a header that only includes) has none.
"""
import pathlib
import re
import sys

from rooms import KIT, ROOMS

root = pathlib.Path(sys.argv[1]).resolve()
BELOW = {  # what a folder may include besides itself
    "core": [],
    "ops": ["core"],
    "optim": ["core", "ops"],
    "nn": ["core", "ops"],
}
wrong = []


def lines_of(path):
    return path.read_text(encoding="utf8").splitlines()


def includes(path):
    """The files of this tree that a file includes, each resolved as a compiler would without any include path."""
    for line in lines_of(path):
        if match := re.match(r'#include (?:"([^" ]+)"|<(xgrad/[^>]+)>)', line):
            if match[2]:
                wrong.append(f"{path.relative_to(root)}: <{match[2]}> in the library itself, which must resolve without a setting")
                continue
            target = (path.parent / match[1]).resolve()
            if not target.exists():
                wrong.append(f"{path.relative_to(root)}: {match[1]} is not there")
            else:
                yield target


def is_umbrella(path):
    return all(re.match(r"\s*(//.*|#(include|pragma) .*)?$", line) for line in lines_of(path))


def room_of_core(path):
    """The folder of a file of core: `kernels` belongs to the room around it."""
    folder = path.relative_to(root).parent.as_posix()
    return folder.removesuffix("/kernels")


def file_of(path):
    parts = path.relative_to(root).parts
    if "kernels" in parts[:-1]:
        return "/".join(parts[: parts.index("kernels") + 1])
    return path.relative_to(root).with_suffix("").as_posix()


files = sorted(p for folder in BELOW for p in (root / folder).rglob("*") if p.suffix in (".h", ".cpp"))
arrows = {}  # room -> rooms that it includes
inside_kernels = {}  # the same for the files inside of kernels
rooms = {}  # folder -> folders
for path in files:
    name, folder = path.relative_to(root).as_posix(), path.relative_to(root).parts[0]
    umbrella = path.suffix == ".h" and is_umbrella(path)
    for target in includes(path):
        other = target.relative_to(root).parts[0]
        if other != folder and other not in BELOW[folder]:
            wrong.append(f"{name} includes {target.relative_to(root)}, which is above it")
        room, other_room = room_of_core(path), room_of_core(target)
        if room in ROOMS and room != other_room and other_room.removeprefix("core/") not in ROOMS[room]:
            wrong.append(f"{name} includes {target.relative_to(root)}, which is in no room below it")
        if umbrella or is_umbrella(target):
            continue
        if path.parent != target.parent:
            rooms.setdefault(path.relative_to(root).parent.as_posix(), set()).add(target.relative_to(root).parent.as_posix())
        if file_of(path) != file_of(target):
            arrows.setdefault(file_of(path), set()).add(file_of(target))
        elif "kernels" in name and path.with_suffix("") != target.with_suffix(""):
            stem = lambda p: p.relative_to(root).with_suffix("").as_posix()
            inside_kernels.setdefault(stem(path), set()).add(stem(target))


def circles(graph):
    """Each circle once, as a list of rooms; found depth first."""
    state, stack, found = {}, [], []

    def visit(room):
        state[room] = "open"
        stack.append(room)
        for target in sorted(graph.get(room, ())):
            if state.get(target) == "open":
                found.append(stack[stack.index(target):] + [target])
            elif target not in state:
                visit(target)
        stack.pop()
        state[room] = "done"

    for room in sorted(graph):
        if room not in state:
            visit(room)
    return found


for circle in circles(arrows) + circles(inside_kernels) + circles(rooms):
    wrong.append("a circle: " + " -> ".join(circle))

for path in files:
    if path.relative_to(root).parts[0] == "core" and room_of_core(path) not in {*ROOMS, "core"}:
        wrong.append(f"{path.relative_to(root)} is in a room of core that nobody knows")

drawn = re.search(r"^## The directories\n\n((?:    .*\n)+)", (root / "docs/inside/design.md").read_text(encoding="utf8"), re.M)[1]
for folder in {path.relative_to(root).parent for path in files}:
    if "kernels" not in folder.parts and not set(folder.parts) <= set(re.findall(r"\w+", drawn)):
        wrong.append(f"docs/inside/design.md: the drawing of the directories lacks {folder}")

# Fused operations: by the name that a call of record_fused begins with, else by what that stands for.
STANDS_FOR = {
    '"attention"': ["scaled_dot_product_attention", "multi_head_attention"],
    "norm.op": ["layer_norm", "rms_norm"],
    "Cell::name": ["rnn", "lstm", "gru"],
}
fused = 0
for path in files:
    if path.suffix != ".cpp":
        continue
    text, name = path.read_text(encoding="utf8"), path.relative_to(root)
    header = path.with_suffix(".h").read_text(encoding="utf8") if path.with_suffix(".h").exists() else ""
    public = "".join(re.findall(r"^namespace plain \{$(.*?)^\}  // namespace plain$", header, re.S | re.M))
    calls = re.findall(r"\brecord_fused\(\s*([^,]+),", text) + re.findall(r"\brun_composed\((plain::\w+),", text)
    for call in calls:
        fused += 1
        for operation in STANDS_FOR.get(call, [call.strip('"').removeprefix("plain::")]):
            if not re.search(rf"^\w+ {re.escape(operation)}\(", public, re.M) or f" plain::{operation}(" not in text:
                wrong.append(f"{name}: the fused operation {call} has no plain::{operation} in its header and source")
if not fused:
    wrong.append("no call of record_fused is found")

kit = root / "examples/kit"
is_private = lambda path: " Private.\n" in path.read_text(encoding="utf8")[:400]
for path in sorted(p for p in kit.rglob("*") if p.suffix in (".h", ".cpp")):
    name, room = path.relative_to(root), path.relative_to(kit).parts[0]
    if room not in KIT:
        wrong.append(f"{name} is in a room of the kit that nobody knows")
        continue
    for place in re.findall(r"^#include <xgrad/kit/([^>]+)>", path.read_text(encoding="utf8"), re.M):
        if (other := place.split("/")[0]) not in {room, *KIT[room]}:
            wrong.append(f"{name} includes kit/{place}, which is in no room below it")
        elif path.suffix == ".h" and not is_private(path) and is_private(kit / place):
            wrong.append(f"{name} includes kit/{place}, which is private")

# Outside of the library, includes go through the links that CMake makes: a link in the sources themselves is a text on Windows.
for folder in (*BELOW, "cmake", "docs", "examples", "tests"):
    for path in (root / folder).rglob("*"):
        if path.is_symlink() and path.parent != root / "cmake/include/xgrad":
            wrong.append(f"{path.relative_to(root)} is a link")
for folder in ("examples", "tests", "docs/tools"):
    for path in (root / folder).rglob("*"):
        if path.suffix in (".h", ".cpp"):
            for line in lines_of(path):
                if (match := re.match(r"#include <(xgrad/[^>]+)>", line)) and not (root / "cmake/include" / match[1]).exists():
                    wrong.append(f"{path.relative_to(root)}: <{match[1]}> is not there")

LATER_THAN_BASH_3_2 = re.compile(
    r"\b(mapfile|readarray|globstar|coproc|EPOCH[A-Z]+|BASHPID)\b|\b(declare|local) -\w*[An]|exec \{|\$\{\w+[,^@]|\[-\d+\]\}"
    r"|;;?&|&>>|\|&|== [?*+@!]\(|wait -n|\[ -v ")
NOT_OF_BSD = re.compile(
    r"sed -\w*[isz]|grep -\w*P|date \+\S*N|stat -c|readlink -\w|realpath|mktemp --|xargs -r|sort -\w*[VR]|head -n -|nproc(?! 2>)")
users = """cmake/setup cmake/build.sh tests/run examples/run examples/quickstart examples/exercise docs/make docs/tools/run""".split()
for path in [*(root / name for name in users), *(root / "tests").rglob("*_test.sh"), root / "tests/support/script.sh"]:
    for number, line in enumerate(lines_of(path), 1):
        found = LATER_THAN_BASH_3_2.search(line) or path.relative_to(root).as_posix() in users and NOT_OF_BSD.search(line)
        if found and not line.lstrip().startswith("#"):
            wrong.append(f"{path.relative_to(root)}:{number}: '{found[0]}' is not there on macOS")

print("\n".join(sorted(set(wrong))) or f"{len(files)} files; no arrow upwards, no circle; {fused} fused operations")
sys.exit(1 if wrong else 0)
