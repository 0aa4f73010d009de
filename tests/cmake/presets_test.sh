#!/usr/bin/env bash
# Every preset can be configured, and built and tested by its name.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

presets=$(python3 - "$root/CMakePresets.json" <<'END_OF_FILE'
import json, sys
presets = json.load(open(sys.argv[1]))
names = [each["name"] for each in presets["configurePresets"] if not each.get("hidden")]
for kind in "buildPresets", "testPresets":
    others = [each["configurePreset"] for each in presets[kind] if not each.get("hidden")]
    if others != names: sys.exit(f"{kind} are {others}, but there are {names}")
print(*names)
END_OF_FILE
)
for preset in $presets; do
  folder=$sandbox/g++
  if [[ $preset == clang* ]]; then folder=$sandbox/clang; fi  # a change of the compiler would configure all anew
  cmake -S "$root" --preset "$preset" -B "$folder" >"$sandbox/said" 2>&1 || { cat "$sandbox/said"; echo "preset $preset"; exit 1; }
done
