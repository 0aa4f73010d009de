#!/usr/bin/env bash
# The table of docs/design.md says which functions use xtensor and xtensor-blas, and its script sees one more.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"$root/docs/tools/make_xtensor_usage.py" --check

sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
mkdir -p "$sandbox/docs/tools"
cp "$root/docs/design.md" "$sandbox/docs"
cp "$root/docs/tools/make_xtensor_usage.py" "$sandbox/docs/tools"
cp -r "$root"/{ops,nn,optim} "$sandbox"
{ echo 'Array doubled(const Array& x) {'; echo '  return to_array(xt::cast<Real>(view(x)) * 2);'; echo '}'; } >>"$sandbox/ops/arrange/create.cpp"
if "$sandbox/docs/tools/make_xtensor_usage.py" --check 2>/dev/null; then echo "does not see one more expression"; exit 1; fi
"$sandbox/docs/tools/make_xtensor_usage.py"
grep -q '`eye`.*`doubled`' "$sandbox/docs/design.md" || { echo "does not name it"; exit 1; }
