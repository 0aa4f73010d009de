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
  folder=$sandbox/g++ whole=OFF
  case $preset in
    grouped) continue ;;  # is what is tested
    arm64 | libc++ | notebook | web) continue ;;  # tests/run, examples/notebook and cmake/web/setup install their packages
    clang*) folder=$sandbox/clang ;;  # a change of the compiler would configure all anew
    release | asan) whole=ON ;;  # tests differ where nothing is grouped, and with sanitizers
  esac
  cmake -S "$root" --preset "$preset" -B "$folder" -DXGRAD_BUILD_TESTS=$whole -DXGRAD_BUILD_EXAMPLES=$whole >"$sandbox/said" 2>&1 ||
    { cat "$sandbox/said"; echo "preset $preset"; exit 1; }
done

# Headers of versions that were not tried are refused by a line that has ours.
while read -r name version ours; do
  mkdir -p "$sandbox/$name"
  : >"$sandbox/$name/${name}Config.cmake"
  echo "set(PACKAGE_VERSION $version)" >"$sandbox/$name/${name}ConfigVersion.cmake"
  said=$(cmake -S "$root" --preset grouped -B "$sandbox/refused" -U 'x*_DIR' "-D${name}_DIR=$sandbox/$name" 2>&1) && { echo "$name $version is taken"; exit 1; }
  grep -q "xgrad needs $name $ours" <<<"$(tr -s '\n ' ' ' <<<"$said")" || { echo "$said"; exit 1; }
  rm -r "${sandbox:?}/$name"
done <<'END_OF_FILE'
xsimd 7.6.0 8.1 to 14, and found 7.6.0
xtensor 0.28.0 0.24 to 0.27, and found 0.28.0
END_OF_FILE
