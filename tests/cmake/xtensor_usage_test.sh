#!/usr/bin/env bash
# The table of docs/inside/design.md says which functions use xtensor and xtensor-blas.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/../../docs/tools/make_xtensor_usage.py" --check
