#!/usr/bin/env bash
# The mutants of a small program: the program is right without a mutant, and those that change what it does are killed.
# Each row of equivalent.tsv is a change of today's sources.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

cat >"$sandbox/sample.cpp" <<'END'
#include <array>
#include <utility>
#include <vector>

// 1 + 1 in a comment, and constants of the compiler.
constexpr int table[] = {1, 2, 3};
static_assert(table[0] + 1 == 2);

struct Options {
  int first = 3;
  bool twice = false;
};

int difference(int a, int b) { return a - b; }

struct Sum {
  void add(int x) {
    if (x < 0) throw x;
    value += x;
  }
  virtual ~Sum() = default;
  std::array<int, 2> pair{};
  int value = 0;
};

int main() {
  Sum sum;
  const Options options;
  for (int i = 0; i < 5; ++i) {
    sum.add(i * 2);  // 20
  }
  try {
    sum.add(-1);
    return 1;
  } catch (int) {
  }
  const std::vector<std::pair<int, int>> pairs = {{sum.value, options.first}};
  const auto& [a, b] = pairs[0];
  const bool right = difference(a, b) == 17 && !options.twice;
  return right ? 0 : 1;
}
END

cat >"$sandbox/expected" <<'END'
29 0 -> 1
33 -1 -> -2
34 1 -> 2
39 ) == 17 && !options. -> ) == 17 || !options.
40 1 -> 2
END
PYTHONDONTWRITEBYTECODE=1 python3 - "$root/tests/mutants" "$sandbox" "${CXX:-c++}" >"$sandbox/lives" <<'END'
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from mutate import Source, with_switches

sandbox = pathlib.Path(sys.argv[2])
text = (sandbox / "sample.cpp").read_text()
left, lives = dict(enumerate(Source(text).mutants(), 1)), []
assert len(left) == 26, len(left)
while left:  # those that have a place of their own share a program
    together = {}
    for number, mutant in left.items():
        if all(mutant.end <= other.begin or other.end <= mutant.begin for other in together.values()):
            together[number] = mutant
    (sandbox / "mutated.cpp").write_text(with_switches(text, together, f"{sys.argv[1]}/switch.h"))
    subprocess.run([sys.argv[3], "-std=c++20", "-O0", "-w", "mutated.cpp", "-o", "mutated"], cwd=sandbox, check=True)
    assert subprocess.run(sandbox / "mutated").returncode == 0
    for number, mutant in together.items():
        if subprocess.run(sandbox / "mutated", env={**os.environ, "XGRAD_MUTANT": str(number)}, stderr=subprocess.DEVNULL).returncode == 0:
            lives.append((mutant.line, f"{mutant.before} -> {mutant.after}"))
        del left[number]
for line, change in sorted(lives):
    print(line, change)
END
diff "$sandbox/expected" "$sandbox/lives"

PYTHONDONTWRITEBYTECODE=1 python3 - "$root" <<'END'
import collections
import csv
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(root / "tests/mutants"))
from mutate import Source

listed = collections.defaultdict(list)
with open(root / "tests/mutants/equivalent.tsv") as rows:
    for file, line, change, reason in csv.reader(rows, delimiter="\t", quoting=csv.QUOTE_NONE):
        listed[file].append((line, change))
gone = []
for file, changes in listed.items():
    text = (root / file).read_text() if (root / file).exists() else ""
    lines = text.splitlines()
    known = {(lines[mutant.line - 1].strip(), f"{mutant.before} -> {mutant.after}") for mutant in Source(text).mutants()}
    gone += [f"equivalent.tsv: no such change any more: {file}: {change}" for line, change in changes if (line, change) not in known]
sys.exit("\n".join(gone) or 0)
END
