#!/usr/bin/env bash
# clang reads the kernels, the other operations and an example, without a warning.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/build.sh"
[ -n "${XGRAD_BUILD_DIR:-}" ] || { build grouped xgrad && XGRAD_BUILD_DIR=$(build_dir grouped); }

exec python3 -B - "$XGRAD_BUILD_DIR" <<'END_OF_FILE'
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOMS = "/ops/", "/examples/gpt/"


def is_wanted(entry):
    group = pathlib.Path(entry["file"])
    sources = entry["file"] + (group.read_text() if "/Unity/" in entry["file"] else "")
    return "XGRAD_F64" not in entry["command"] and "/tests/" not in sources and any(room in sources for room in ROOMS)


def said(entry):
    words = iter(shlex.split(entry["command"]))
    options = []
    for word in words:
        if word in ("-include", "-o"):  # of a precompiled header, the object
            next(words)
        elif word.startswith(("-D", "-I", "-isystem", "-std", "-march", "-W")) or word.endswith((".cpp", ".cxx")):
            options += [word, next(words)] if word == "-isystem" else [word]
    command = ["clang++", "-fsyntax-only", "-Wno-unknown-warning-option", *options]
    return subprocess.run(command, cwd=entry["directory"], stderr=subprocess.PIPE, text=True).stderr


entries = [entry for entry in json.loads(pathlib.Path(sys.argv[1], "compile_commands.json").read_text()) if is_wanted(entry)]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    wrong = "".join(pool.map(said, entries))
print(wrong or f"{len(entries)} sources, or groups of some, are clang's, too")
sys.exit(bool(wrong) or not entries)
END_OF_FILE
