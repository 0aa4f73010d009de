#!/usr/bin/env bash
# "Your own engine": all solutions and all wrong versions of them.
export XGRAD_THOROUGH=1
exec "$(dirname "${BASH_SOURCE[0]}")/own_engine_test.sh"
