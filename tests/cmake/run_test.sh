#!/usr/bin/env bash
# tests/run counts right, and fails whenever something is wrong: in a tree whose test programs only pretend.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"
unset XGRAD_THOROUGH

mkdir -p "$sandbox"/{cmake,tests/some,build/bin}
cp "$root/tests/run" "$sandbox/tests/run"
cat >"$sandbox/cmake/build.sh" <<'END'
source_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build_dir() { echo "$source_dir/build"; }
cores() { echo 2; }
build() { echo "building $*"; [ ! -e "$source_dir/broken" ]; }
END
pretend() { # PATH SCRIPT: a program at that place
  printf '#!/bin/bash\n%s\n' "$2" >"$sandbox/$1"
  chmod +x "$sandbox/$1"
}
summary() { echo "echo '[doctest] test cases: $(($1 + $2)) | $1 passed | $2 failed | 0 skipped'; exit $(($2 > 0))"; }
pretend cmake/setup 'exit 0'

run() { # LAST-LINE STATUS ARGUMENTS...
  local status=0 line=$1 expected=$2
  shift 2
  (cd / && "$sandbox/tests/run" "$@") >"$sandbox/out" 2>&1 </dev/null || status=$?
  if [ "$status" -ne "$expected" ] || [ "$(tail -n 1 "$sandbox/out")" != "$line" ]; then
    echo "expected '$line' and status $expected, got status $status and:"
    cat "$sandbox/out"
    exit 1
  fi
}

echo "everything passes"
pretend build/bin/xgrad_tests_core "$(summary 12 0)"
pretend build/bin/xgrad_tests_f32 "$(summary 3 0)"
for program in ops nn optim alloc linalg; do pretend build/bin/xgrad_tests_$program "$(summary 0 0)"; done
pretend tests/some/some_test.sh 'exit 0'
run "16 passed, 0 failed" 0

echo "what was slow is said"
pretend build/bin/xgrad_tests_core "echo '2.500000 s: a slow case'; $(summary 12 0)"
run "16 passed, 0 failed" 0
grep -qx "2.500000 s: a slow case" < <(grep -A 1 "^the slowest" "$sandbox/out")
grep -qE "^0[.][0-9]+ s: tests/some/some_test.sh$" "$sandbox/out"

echo "what could not be tested here is said, once"
pretend build/bin/xgrad_tests_core "echo 'a_test.cpp:7: MESSAGE: skipped: no huge pages'; $(summary 12 0)"
pretend build/bin/xgrad_tests_f32 "echo 'b_test.cpp:8: MESSAGE: skipped: no huge pages'; $(summary 3 0)"
run "16 passed, 0 failed" 0
[ "$(grep -c "^not tested here: no huge pages$" "$sandbox/out")" -eq 1 ] || { cat "$sandbox/out"; exit 1; }

echo "a folder in memory for what tests write, gone at the end, and the system's one in tests/long"
if [ "$(df -Pk /dev/shm 2>/dev/null | awk 'END { print $4 + 0 }')" -gt 2000000 ]; then
  pretend tests/some/some_test.sh 'touch "$TMPDIR/here"; echo "$TMPDIR" >"${0%/*}/where"'
  run "16 passed, 0 failed" 0
  folder=$(cat "$sandbox/tests/some/where")
  [[ $folder == /dev/shm/* && ! -e $folder ]] || { echo "$folder is elsewhere, or is left"; exit 1; }
  TMPDIR=$sandbox XGRAD_THOROUGH=1 run "16 passed, 0 failed" 0
  [ "$(cat "$sandbox/tests/some/where")" = "$sandbox" ] || { echo "tests/long has another folder"; exit 1; }
  pretend tests/some/some_test.sh 'exit 0'
fi

echo "the scripts that take long run by themselves"
pretend tests/some/other_long.sh 'exit 0'
run "1 passed, 0 failed" 0 --long
grep -qx "building grouped all xgrad_tools" "$sandbox/out"
run "17 passed, 0 failed" 0 --clang-strict
rm "$sandbox/tests/some/other_long.sh"

echo "a test case fails"
pretend build/bin/xgrad_tests_f32 "$(summary 2 1)"
run "15 passed, 1 failed" 1

echo "a program crashes before its summary"
pretend build/bin/xgrad_tests_f32 'kill -SEGV $$'
run "13 passed, 1 failed" 1

echo "a program reports success and then crashes"
pretend build/bin/xgrad_tests_f32 "echo '[doctest] test cases: 3 | 3 passed | 0 failed | 0 skipped'; kill -ABRT \$\$"
run "16 passed, 1 failed" 1

echo "a program was not built"
rm "$sandbox/build/bin/xgrad_tests_f32"
run "13 passed, 1 failed" 1

echo "a script fails"
pretend build/bin/xgrad_tests_f32 "$(summary 3 0)"
pretend tests/some/some_test.sh 'echo reason; exit 3'
run "15 passed, 1 failed" 1
grep -qx reason "$sandbox/out"
[ "$(tail -n 2 "$sandbox/out" | head -n 1)" = "failed: tests/some/some_test.sh" ]

echo "the sanitizer runs leave the scripts out"
pretend build/bin/xgrad_tests_in_float \
  'echo "[doctest] test cases: 12 | 5 passed | 7 failed | 0 skipped"; [[ " $* " == *" --no-exitcode "* ]]'
run "16 passed, 0 failed" 0 --asan
grep -qx "building asan $(echo xgrad_tests_{f32,core,ops,alloc,nn,optim,linalg,in_float})" "$sandbox/out"
grep -qx "running xgrad_tests_in_float" "$sandbox/out"

echo "some of the programs"
run "12 passed, 0 failed" 0 --only xgrad_tests_core
run "1 passed, 0 failed" 0 --asan --only xgrad_tests_in_float
run "16 passed, 0 failed" 0 --tsan --only xgrad_tests_in_float --only xgrad_tests_core --only xgrad_tests_f32
grep -qx "building tsan xgrad_tests_in_float xgrad_tests_core xgrad_tests_f32" "$sandbox/out"

echo "a sanitizer finds something in tests whose own findings do not count"
pretend build/bin/xgrad_tests_in_float 'echo "[doctest] test cases: 1 | 1 passed |"; echo reason >&2; exit 66'
run "15 passed, 1 failed" 1 --tsan
grep -qx reason "$sandbox/out"

echo "a place, or a pattern: its programs are built, and run with these cases alone"
mkdir -p "$sandbox"/tests/{core/graph,ops,alloc}
echo 'TEST_CASE("the softmax of rows") {' >"$sandbox/tests/ops/softmax_test.cpp"
for program in core ops alloc; do pretend "build/bin/xgrad_tests_$program" "echo given \"\$*\"; $(summary 1 0)"; done
run "1 passed, 0 failed" 0 core/graph
grep -qx "building grouped xgrad_tests_core" "$sandbox/out"
grep -qF "given --no-colors --duration --source-file=*/tests/core/graph*," "$sandbox/out"
run "2 passed, 0 failed" 0 ops/softmax_test.cpp alloc
grep -qx "building grouped xgrad_tests_alloc xgrad_tests_ops" "$sandbox/out"
run "1 passed, 0 failed" 0 --filter Softmax
grep -qx "building grouped xgrad_tests_ops" "$sandbox/out"
grep -qF "given --no-colors --duration --test-case=*Softmax*" "$sandbox/out"
echo 'TEST_CASE("a plot looks as it did") {' >"$sandbox/tests/ops/plot_test.cpp"
pretend build/bin/xgrad_tests_ops "echo given \"\$*\" \$XGRAD_ACCEPT; $(summary 1 0)"
run "1 passed, 0 failed" 0 --accept
grep -qF "given --no-colors --duration --test-case=*looks as it did* 1" "$sandbox/out"
mkdir "$sandbox/tests/support"
echo '      {"gather", x, shape, CALL(gather(x[0], 1, places))},' >"$sandbox/tests/support/catalogue.cpp"
run "1 passed, 0 failed" 0 --filter "operation: gather"
grep -qx "building grouped xgrad_tests_ops" "$sandbox/out"
pretend tests/some/some_test.sh 'exit 0'
run "1 passed, 0 failed" 0 --filter some_test
grep -qx "building grouped all" "$sandbox/out"
status=0
"$sandbox/tests/run" no/place >"$sandbox/out" 2>&1 || status=$?
[ "$status" -eq 2 ] && grep -q "^tests/run \[--asan" "$sandbox/out"

echo "no test ran"
for program in core ops nn optim f32 in_float; do pretend "build/bin/xgrad_tests_$program" "$(summary 0 0)"; done
run "0 passed, 0 failed" 1 --filter nothing
run "0 passed, 0 failed" 1 --filter nothing --asan

echo "the build fails"
touch "$sandbox/broken"
run "0 passed, 1 failed" 1

echo "what emulators leave out exists, and has a reason"
while IFS=$'\t' read -r name reason; do
  { [ -n "$reason" ] && { [ -f "$root/tests/$name" ] || grep -rqF --include='*_test.cpp' "\"$name\")" "$root/tests"; }; } ||
    { echo "$name"; exit 1; }
done < <(grep -hv '^#' "$root"/tests/systems/*.tsv)
