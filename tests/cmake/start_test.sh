#!/usr/bin/env bash
# The programs of docs/learn/start print what their pages show, draw the pictures that these have, and the lines that are quoted
# are theirs. The example `start` is built from them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/build.sh"
[ -n "${XGRAD_BUILD_DIR:-}" ] || { build grouped start && XGRAD_BUILD_DIR=$(build_dir grouped); }

exec python3 -B - "$root" "$XGRAD_BUILD_DIR" <<'END_OF_FILE'
"""Numbers are compared as figures.py does: they differ between processors. So may the sentences that a trained model
writes behind an arrow, which are not compared."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

root, built = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(root / "docs/tools"))
import figures

os.chdir(root / "docs/learn/start")
TRANSLATION = re.compile(r" -> \D+[.!?]$")
NUMBER = re.compile(r"-?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e[+-]?\d+)?")
wrong = []


def same_number(shown, printed):
    return figures.agree(shown.replace(",", ""), printed.replace(",", ""))


def same_line(shown, printed):
    shown, printed = (TRANSLATION.sub(" -> ", line) for line in (shown, printed))
    words = [" ".join(NUMBER.sub("#", line).split()) for line in (shown, printed)]
    numbers = [NUMBER.findall(line) for line in (shown, printed)]
    return words[0] == words[1] and all(map(same_number, *numbers))


def blocks(page, language):
    return [text for name, text in re.findall(r"^```(\w*)\n(.*?)^```$", page, re.S | re.M) if name == language]


with tempfile.TemporaryDirectory() as sandbox:
    run = subprocess.run([built / "bin/start", "--out", sandbox], stdout=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(f"start ends with {run.returncode}:\n{run.stdout}")
    printed = dict(re.findall(r"^(\d+)\. .*\n((?:.+\n)*)", run.stdout, re.M))
    drawn = {path.name for path in pathlib.Path(sandbox).iterdir()}

pages = sorted(pathlib.Path().glob("[0-9]*.md"))
for page in pages:
    text, program = page.read_text(encoding="utf8"), page.with_suffix(".cpp")
    source = program.read_text(encoding="utf8").splitlines()
    if not re.search(r"\A# .*\n\n\*\d+ minutes\. You need .*\.\*\n\n", text):
        wrong.append(f"{page} does not begin with the minutes that it takes and what one needs to know")
    lines = {line.strip() for line in source}
    for line in "".join(blocks(text, "cpp")).splitlines():
        if line.strip() not in lines:
            wrong.append(f"{page}: {program} has no line {line.strip()}")
    outputs = blocks(text, "")
    shown = outputs[0].splitlines() if len(outputs) == 1 else []
    found = printed.get(str(int(page.name[:2])), "").splitlines()
    if not shown or len(shown) != len(found) or not all(map(same_line, shown, found)):
        wrong.append("\n".join([f"{page} shows", *shown, f"and {program} prints", *found]))
    for picture in re.findall(r"\]\((\d\d_\w+\.svg)\)", text):
        if picture not in drawn:
            wrong.append(f"{program} does not draw {picture}")
    if f"({program})" not in text:
        wrong.append(f"{page} has no link to {program}")
for kind in ("*.cpp", "*.svg"):
    for path in map(str, pathlib.Path().glob(kind)):
        if not any(f"({path})" in page.read_text(encoding="utf8") for page in pages):
            wrong.append(f"docs/learn/start/{path} is on no page")

print("\n".join(wrong) or f"{len(pages)} programs print and draw what their pages show")
sys.exit(1 if wrong else 0)
END_OF_FILE
