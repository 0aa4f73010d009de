#!/usr/bin/env bash
# Every header with a class of its own, not derived from another, says what threads may do with it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
silent=()
for header in $(find core nn optim examples/kit -name "*.h"); do
  if grep -qE '^class (\[\[nodiscard\]\] )?[A-Z][A-Za-z0-9]* \{' "$header" && ! grep -q 'Threads:' "$header"; then
    silent+=("$header")
  fi
done
if [ ${#silent[@]} -gt 0 ]; then
  echo "no line \"Threads:\" in ${silent[*]}"
  exit 1
fi
