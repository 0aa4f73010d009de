#!/usr/bin/env bash
# Each room of core links with the rooms below it alone: what its objects refer to in xgrad is defined there.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/build.sh"
# Where an object is of one source.
dir=${XGRAD_BUILD_DIR:-}
if ! grep -qs 'XGRAD_GROUPED:.*=OFF' "$dir/CMakeCache.txt"; then
  build debug xgrad_core xgrad_core_cold
  dir=$(build_dir debug)
fi

exec python3 -B - "$root" "$dir" <<'END_OF_FILE'
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, sys.argv[1] + "/tests/cmake")
sys.argv = sys.argv[1:]
from rooms import ROOMS

objects = {room: [] for room in ROOMS}
for path in pathlib.Path(sys.argv[1], "core/CMakeFiles").rglob("*.o"):
    target, place = re.search(r"/CMakeFiles/(\w+)\.dir/(.*)", path.as_posix()).groups()
    if not re.fullmatch(r"xgrad_core(_cold|_kernels)?", target):
        continue
    place = pathlib.PurePosixPath("core", place).parent.as_posix().removesuffix("/kernels")
    if place == "core/diagram":  # the files of core/diagram/page, as text
        place = "core/diagram/render"
    if place != "core":  # the version
        objects[place].append(path)


def symbols(paths, kinds):
    listed = subprocess.run(["nm", *paths], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if len(line.split()) > 1 and line.split()[-2] in kinds}


wrong = [f"{room} has no objects in {sys.argv[1]}" for room in ROOMS if not objects[room]]
defined = {room: symbols(paths, "TWVBDRSu") for room, paths in objects.items() if paths}
for room in defined:
    known = set().union(defined[room], *(defined["core/" + below] for below in ROOMS[room]))
    for symbol in sorted(symbols(objects[room], "U") - known):
        if symbol.startswith("_Z") and "5xgrad" in symbol:
            wrong.append(f"{room} refers to {subprocess.run(['c++filt', symbol], stdout=subprocess.PIPE, text=True).stdout.strip()}")
print("\n".join(wrong) or f"{len(ROOMS)} rooms of core link with those below them")
sys.exit(1 if wrong else 0)
END_OF_FILE
