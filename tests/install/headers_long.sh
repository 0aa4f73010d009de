#!/usr/bin/env bash
# Every installed header compiles on its own, without a warning, and says what it needs to a compiler of an older standard.
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"

cmake --install "$built" --prefix "$prefix"

echo "each on its own"
cmake -S "$root/tests/install/headers" -B "$sandbox/build" -G "$(cached CMAKE_GENERATOR)" -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror"
cmake --build "$sandbox/build" --parallel "$(nproc)"

echo "an older standard is one error, whichever header comes first"
for header in $(cd "$prefix/include" && find xgrad -name '*.h' ! -name version.h); do
  echo "#include <$header>" >"$sandbox/old.cpp"
  if "$compiler" -std=c++17 -I"$prefix/include" -fsyntax-only "$sandbox/old.cpp" 2>"$sandbox/log"; then exit 1; fi
  # The sentence, and the line that ends the compilation.
  [ "$(grep -c 'error:' "$sandbox/log")" -eq 2 ] &&
    grep -qF 'xgrad needs C++20: compile with -std=c++20' < <(grep -m 1 'error:' "$sandbox/log") ||
    { echo "$header:"; head -n 20 "$sandbox/log"; exit 1; }
done
