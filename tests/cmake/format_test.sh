#!/usr/bin/env bash
# The sources of the library are formatted as clang-format 14 and the file .clang-format say. Other versions have other rules, so
# there is nothing to compare with where this one is not installed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
formatter=$(type -P clang-format-14 || type -P clang-format) || { echo "no clang-format"; exit; }
grep -q ' version 14[.]' < <("$formatter" --version) || { "$formatter" --version; exit; }

find core ops nn optim -name '*.h' -o -name '*.cpp' | xargs -n 40 -P 2 "$formatter" --dry-run --Werror
