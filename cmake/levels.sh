#!/usr/bin/env bash
# Gives the functions in the objects of every level names of their own, for levels.cmake.
#   levels.sh DIR base OBJECT... v3 OBJECT... v4 OBJECT...
# DIR gets base.o, v3.o, v4.o, and entries.inc: the functions that callers may choose from, one ENTRY(name) a line.
set -euo pipefail
dir=$1 level=
shift
mkdir -p "$dir"
declare -A objects
for argument; do
  case $argument in
    *.o) objects[$level]+=" $argument" ;;
    *) level=$argument ;;
  esac
done

entries() { "$NM" --defined-only "$1" | awk '$2 == "T" { print $3 }' | sort; }

for level in "${!objects[@]}"; do
  read -ra of_level <<<"${objects[$level]}"
  "$LD" -r -o "$dir/$level.all.o" "${of_level[@]}"
  entries "$dir/$level.all.o" >"$dir/$level.entries"
  # T: functions; W: inline functions; n: what their groups are called by; _ZTV: tables of virtual functions. Data keep their
  # names, so that there is one of each. What is inline stays the common one in the objects for every processor.
  case $level in
    base) kinds='$2 == "T"' ;;
    *) kinds='$2 ~ /^[TWn]$/ || $3 ~ /^_ZTV/' ;;
  esac
  "$NM" --defined-only "$dir/$level.all.o" | awk "$kinds { print \$3, \$3 \".$level\" }" | sort -u >"$dir/$level.names"
  "$OBJCOPY" --redefine-syms="$dir/$level.names" "$dir/$level.all.o" "$dir/$level.o"
  # What runs before main would run for every level, also for those that the processor does not have.
  if "$NM" "$dir/$level.o" | grep -q ' _GLOBAL__sub_I_'; then
    echo "levels.sh: the sources behind $dir have initialisers that run before main" >&2
    exit 1
  fi
done
for level in "${!objects[@]}"; do
  cmp "$dir/base.entries" "$dir/$level.entries" >&2
done
sed 's/.*/ENTRY(&)/' "$dir/base.entries" >"$dir/entries.inc"
