#!/usr/bin/env bash
# The pages of core/diagram/render/html.h in a browser, opened from disk: open, search, fold, step, keys. Fails without one.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../../.." && pwd)
bin=${XGRAD_BUILD_DIR:-$root/build/grouped}/bin
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT

"$root/cmake/setup" packages_browser.txt
"$bin/xgrad_pages" "$sandbox"
# Debian's Python is the one that has Debian's selenium.
HOME=$sandbox PYTHONPATH=$root/tests/support /usr/bin/python3 -B "$here/html_long.py" "$sandbox"
