#!/usr/bin/env python3
"""Rewrites includes of xgrad 0.1 to those of 0.2, by the tables of docs/moved.md.

    docs/tools/moved.py FILE...

Prints each file that it changed and each include that it cannot change: of headers that are no longer installed.
"""
import pathlib
import re
import sys

if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
    sys.exit(__doc__)
page = (pathlib.Path(__file__).resolve().parent.parent / "moved.md").read_text(encoding="utf8")
moved = dict(re.findall(r"^\| `([^`]+\.\w+)` \| (?:`([^`]+)`|not installed) \|$", page, re.MULTILINE))


def rewritten(match):
    old = match[2]
    if old not in moved:
        return match[0]
    if not moved[old]:
        print(f"{path}: <xgrad/{old}> is no longer installed")
        return match[0]
    return f"{match[1]}xgrad/{moved[old]}"


for path in sys.argv[1:]:
    # Line ends stay as they are.
    before = pathlib.Path(path).read_bytes().decode("utf8")
    after = re.sub(r'(#[ \t]*include[ \t]*[<"])xgrad/([^>"]+)', rewritten, before)
    if after != before:
        pathlib.Path(path).write_bytes(after.encode("utf8"))
        print(path)
