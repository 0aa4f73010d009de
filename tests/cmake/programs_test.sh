#!/usr/bin/env bash
# The programs of tests/programs, as somebody who is new here would write them, compile against the installed library and do
# what they claim. So do the examples without a command line, of which those run that take 1 s, and 5 s in tests/long.
source "$(dirname "${BASH_SOURCE[0]}")/../install/installed.sh"

cmake --install "$built" --prefix "$prefix" >"$sandbox/log" || { cat "$sandbox/log"; exit 1; }
# By clang where there is one, which takes less time: install_test.sh has the compiler of the library.
cmake -S "$root/tests/programs" -B "$sandbox/build" -G "$(cached CMAKE_GENERATOR)" \
  -DCMAKE_CXX_COMPILER="$(command -v clang++ || echo "$compiler")" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=None
cmake --build "$sandbox/build" --parallel "$(nproc)"

mkdir "$sandbox/run"
cd "$sandbox/run"
# run NAME [ARGUMENT]: with one thread, since what is measured is what a small machine takes.
run() {
  local begin
  begin=$(date +%s%N)
  echo "== $1"
  XGRAD_THREADS=1 timeout 120 "$1" "${@:2}" >"$sandbox/log" 2>"$sandbox/errors" ||
    { cat "$sandbox/log" "$sandbox/errors"; echo "$1 fails"; exit 1; }
  tail -n 25 "$sandbox/log"
  echo "   $((($(date +%s%N) - begin) / 1000000)) ms"
}
for program in "$root"/tests/programs/*.cpp; do
  name=$(basename "$program" .cpp)
  argument=
  [ "$name" != safetensors ] || argument=$root/tests/fixtures/linear_layers.safetensors
  run "$sandbox/build/$name" ${argument:+"$argument"}
done
seconds=1${XGRAD_THOROUGH:+-5}
for main in $(grep -L 'kit/program/cli.h' "$root"/examples/*/main.cpp); do
  name=$(basename "$(dirname "$main")")
  if grep -qE "^\| \`$name\` \|.*\| [$seconds] s \|$" "$root/examples/README.md"; then run "$built/bin/examples/$name"; fi
done

echo "== what the programs left: pictures, and weights that a reader of safetensors that is not ours finds right"
for file in interrupted_files/curves.svg spiral.svg forward.svg folded.svg step.svg page.html; do
  [ -s "$file" ] || { echo "no $file"; exit 1; }
done
python3 - "$root/tests/fixtures/linear_layers.safetensors" <<'END_OF_FILE'
import json
import math
import struct
import sys


def arrays(path):
    """By the definition of the format: the length of a header, the header in JSON, the numbers."""
    data = open(path, "rb").read()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            assert entry["dtype"] == "F32", entry
            found[name] = entry["shape"], struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    return found


def linear(row, weight, bias):
    return [sum(w * x for w, x in zip(weight[i * len(row):], row)) + b for i, b in enumerate(bias)]


given, weights, expected = arrays(sys.argv[1]), arrays("trained.safetensors"), arrays("expected.safetensors")["y"]
assert set(weights) == {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}, weights.keys()
(rows, width), x = given["x"]
moved = 0
for r in range(rows):
    hidden = [math.tanh(v) for v in linear(x[r * width:(r + 1) * width], weights["fc1.weight"][1], weights["fc1.bias"][1])]
    for i, y in enumerate(linear(hidden, weights["fc2.weight"][1], weights["fc2.bias"][1])):
        assert abs(y - expected[1][r * 2 + i]) < 1e-5, (y, expected)
        moved = max(moved, abs(y - given["y"][1][r * 2 + i]))
assert moved > 1e-3, moved
END_OF_FILE
