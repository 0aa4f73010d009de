#!/usr/bin/env bash
# The index of everything public is what the headers say.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../../docs/tools/make_reference.py" --check
