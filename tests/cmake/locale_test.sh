#!/usr/bin/env bash
# No real number is read or written by a function that follows the locale: std::from_chars and std::to_chars do not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

follows='\b(stod|stof|stold|strto[dfl]|strtold|atof|v?s?n?printf|v?f?printf|v?s?scanf|fscanf|setlocale)[[:space:]]*\('
if grep -rnE --include='*.cpp' --include='*.h' "$follows" core nn ops optim examples docs/tools; then
  echo "these functions follow the locale"
  exit 1
fi
