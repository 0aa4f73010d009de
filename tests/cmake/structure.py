#!/usr/bin/env python3
"""Holds the sources against their structure: includes that resolve, no arrow upwards, no circle, no file that is too long.

    tests/cmake/structure.py ROOT

A room is a source with its header (ops/layers/softmax.h and ops/layers/softmax.cpp), a folder called kernels is one room below the
others of its folder. Arrows are includes; an umbrella (a header that only includes) is no room.
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
BELOW = {  # what a folder may include besides itself
    "core": [],
    "ops": ["core"],
    "optim": ["core"],
    "nn": ["core", "ops"],
}
LONGEST = 600
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


def room_of(path):
    parts = path.relative_to(root).parts
    if "kernels" in parts[:-1]:
        return "/".join(parts[: parts.index("kernels") + 1])
    return path.relative_to(root).with_suffix("").as_posix()


files = sorted(p for folder in BELOW for p in (root / folder).rglob("*") if p.suffix in (".h", ".cpp"))
arrows = {}  # room -> rooms that it includes
inside_kernels = {}  # the same for the files inside of kernels
for path in files:
    name, folder = path.relative_to(root).as_posix(), path.relative_to(root).parts[0]
    first = " ".join(lines_of(path)[:8])
    if len(lines_of(path)) > LONGEST and "core/files/" not in name and "long because" not in first:
        wrong.append(f"{name}: {len(lines_of(path))} lines, more than {LONGEST}, without a reason in its first comment")
    umbrella = path.suffix == ".h" and is_umbrella(path)
    for target in includes(path):
        other = target.relative_to(root).parts[0]
        if other != folder and other not in BELOW[folder]:
            wrong.append(f"{name} includes {target.relative_to(root)}, which is above it")
        if umbrella or is_umbrella(target):
            continue
        if room_of(path) != room_of(target):
            arrows.setdefault(room_of(path), set()).add(room_of(target))
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


for circle in circles(arrows) + circles(inside_kernels):
    wrong.append("a circle: " + " -> ".join(circle))

# Outside of the library, includes go through the links that a fresh clone has.
for folder in ("examples", "tests"):
    for path in (root / folder).rglob("*"):
        if path.suffix in (".h", ".cpp"):
            for line in lines_of(path):
                if (match := re.match(r"#include <(xgrad/[^>]+)>", line)) and not (root / "cmake/include" / match[1]).exists():
                    wrong.append(f"{path.relative_to(root)}: <{match[1]}> is not there")

print("\n".join(sorted(set(wrong))) or f"{len(files)} files, {len(arrows)} rooms, no arrow upwards, no circle")
sys.exit(1 if wrong else 0)
