#!/usr/bin/env bash
# The structure that docs/inside/design.md promises, read from the includes of the sources themselves.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
exec python3 -B "$root/tests/cmake/structure.py" "$root"
