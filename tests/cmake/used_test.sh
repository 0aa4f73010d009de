#!/usr/bin/env bash
# No public name that only tests use, other than those that users of such a library expect (docs/inside/contributing.md).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
exec python3 -B "$root/tests/cmake/used.py" "$root"
