#!/usr/bin/env bash
# The programs of docs/tools have help, and refuse what they do not know.
source "$(dirname "${BASH_SOURCE[0]}")/sandbox.sh"

for name in gallery diagrams; do
  "$bin/$name" --help >out 2>err || complain "$name --help fails"
  grep -q "^Usage: $name \[OPTIONS\]" out || complain "$name --help"
  refuses 2 --nosuch "$bin/$name" --nosuch
done
refuses 2 "two different lengths" "$bin/experiments" compare_layers --out o --lengths 8
