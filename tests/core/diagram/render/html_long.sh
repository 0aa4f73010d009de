#!/usr/bin/env bash
# The pages of core/diagram/render/html.h in a browser, opened from disk: open, search, fold, step, keys. Fails without one.
source "$(dirname "${BASH_SOURCE[0]}")/../../../support/script.sh"

"$root/cmake/setup" packages_browser.txt
"$built/bin/xgrad_pages" "$sandbox"
"$built/bin/pages" --out "$sandbox" >/dev/null
HOME=$sandbox PYTHONPATH=$root/tests/support /usr/bin/python3 -B "$root/tests/core/diagram/render/html_long.py" "$sandbox"
