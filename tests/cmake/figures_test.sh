#!/usr/bin/env bash
# The pages have the figures that the examples print, of those examples that take a second.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
XGRAD_BUILD_DIR=${XGRAD_BUILD_DIR:-$root/build/grouped} XGRAD_THREADS=1 docs/tools/figures.py quick
