#!/usr/bin/env bash
# The examples without a command line end well, those that take 1 s, and in tests/long those that take 5 s, too.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
cd "$sandbox"

seconds=1${XGRAD_THOROUGH:+-5}
for main in $(grep -L 'kit/program/cli.h' "$root"/examples/*/main.cpp); do
  name=$(basename "$(dirname "$main")")
  grep -qE "^\| \`$name\` \|.*\| [$seconds] s \|$" "$root/examples/README.md" || continue
  echo "== $name"
  XGRAD_THREADS=1 timeout 120 "$built/bin/examples/$name" >log 2>&1 || { cat log; echo "$name fails"; exit 1; }
  tail -n 3 log
done
[ -s spiral.svg ] || { echo "no picture"; exit 1; }
