#!/usr/bin/env bash
# What docs/look_up/pytorch_names.md names as a counterpart is in a header, and no name of PyTorch has two rows.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

cat >"$sandbox/rows.py" <<'END_OF_FILE'
"""rows.py ROOT PAGE: checks the rows of a page."""
import pathlib
import re
import sys

root, page = map(pathlib.Path, sys.argv[1:])
here = {"xgrad", "nn", "pytorch", "init", "optim", "kit", "linalg", "distributions"}
for folder in ("core", "ops", "nn", "optim", "examples/kit"):
    for header in (root / folder).rglob("*.h"):
        here |= set(re.findall(r"\w+", re.sub(r"//.*", "", header.read_text())))

wrong, seen = [], set()
for line in page.read_text().splitlines():
    if not line.startswith("| `"):
        continue
    names, answer, _ = (cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1])
    for name in re.findall(r"`([^`]+)`", names):
        if name in seen:
            wrong.append(f"a second row of {name}")
        seen.add(name)
    spans = re.findall(r"`([^`]+)`", answer)
    if not spans:
        wrong.append(f"{names}: the answer names nothing")
    for span in spans:
        span = re.sub(r'"[^"]*"', '""', span)
        span = re.sub(r"\bstd::\w+(::\w+)*(<\w+>)?(::\w+)*", "", span)
        # Names that are called, made, opened or set; single letters do not count.
        used = set(re.findall(r"\b\w\w+(?=[({])|(?<=::)\w+|\b[A-Z]\w+|(?<=[{ ]\.)[a-z]\w*", span))
        if re.fullmatch(r"[A-Za-z]\w+", span):
            used.add(span)
        wrong += [f"{names}: there is no {word} here" for word in sorted(used - here)]
if wrong:
    sys.exit("\n".join(wrong))
END_OF_FILE

python3 "$sandbox/rows.py" "$root" "$root/docs/look_up/pytorch_names.md"
