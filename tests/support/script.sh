# For the scripts of tests: the root of the sources, the folder of the build, and an empty folder that is removed at the end.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
built=${XGRAD_BUILD_DIR:-$root/build/grouped}
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
