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

refuse() { echo "levels.sh: the sources behind $dir have $1" >&2; exit 1; }

for level in "${!objects[@]}"; do
  read -ra of_level <<<"${objects[$level]}"
  "$LD" -r -o "$dir/$level.all.o" "${of_level[@]}"
  "$NM" --defined-only "$dir/$level.all.o" >"$dir/$level.symbols"
  # Initialisers before main would run for every level, also for those that the processor does not have; those of base register
  # formulas. And there would be a variable for every level, where users see one.
  early=$(grep -o '_GLOBAL__sub_I_.*' "$dir/$level.symbols" | sort -u) || true
  [ "$level" = base ] || [ -z "$early" ] || refuse "initialisers that run before main: $early"
  if awk '$2 ~ /^[BD]$/ && $3 !~ /^_ZT/ { found = 1 } END { exit !found }' "$dir/$level.symbols"; then
    refuse "variables that other files see"
  fi
  # T: functions; W: inline functions; n: what their groups are called by; _ZTV: tables of virtual functions, which some
  # compilers put with the type's name (_ZTI, _ZTS) into one file. Inline ones stay the common ones in the objects for every
  # processor, and inline data in all.
  case $level in
    base) renamed='$2 == "T"' ;;
    *) renamed='$2 ~ /^[TWn]$/ || $3 ~ /^_ZTV/ || $3 ~ /^_ZT[IS]/ && $2 != "V"' ;;
  esac
  awk "$renamed { print \$3, \$3 \".$level\" }" "$dir/$level.symbols" | sort -u >"$dir/$level.names"
  "$OBJCOPY" --redefine-syms="$dir/$level.names" "$dir/$level.all.o" "$dir/$level.o"
  rm "$dir/$level.all.o"
  awk '$2 == "T" { print "ENTRY(" $3 ")" }' "$dir/$level.symbols" | sort >"$dir/$level.entries"
done
for level in "${!objects[@]}"; do
  cmp "$dir/base.entries" "$dir/$level.entries" >&2
done
cp "$dir/base.entries" "$dir/entries.inc"
