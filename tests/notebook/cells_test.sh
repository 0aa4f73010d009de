#!/usr/bin/env bash
# What cells show and how they fail, where the kernel of notebooks has been built (examples/notebook); tests/long notebooks has more.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

kernel=$root/build/notebook/bin/xgrad_kernel
if [ ! -x "$kernel" ] || ! /usr/bin/python3 -c 'import jupyter_client' 2>/dev/null; then
  echo "the kernel of notebooks is not built, so it is not tested"
  exit
fi
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$root/tests/notebook/cells.py" short
