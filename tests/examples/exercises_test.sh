#!/usr/bin/env bash
# The exercises as a reader meets them: the list, a hole, an error of the compiler, a wrong answer, a right one, and --watch.
# (Right and wrong answers of each: exercises_test.cpp.)
source "$(dirname "${BASH_SOURCE[0]}")/sandbox.sh"
export XGRAD_BUILD_DIR=$built
exercise() { "$root/examples/exercise" "$@" >out 2>err; }

echo "the list has every exercise and its lesson, which links back"
exercise --help
for statement in "$root"/examples/exercises/[0-9]*.cpp; do
  number=$((10#$(basename "$statement" | cut -c 1-2)))
  page=$(sed -nE "s|^ +$number .* (docs/.*)$|\1|p" out)
  grep -qF "\`examples/exercise $number\`" "$root/${page:-docs/README.md}" || complain "exercise $number is not linked from its lesson"
  grep -q "^| $number |" "$root/docs/learn/exercises.md" || complain "exercise $number is not in docs/learn/exercises.md"
done
for wrong in 0 34 nosuch; do
  status=0
  exercise "$wrong" || status=$?
  [ "$status" -eq 2 ] && grep -qxF "error: there is no exercise '$wrong'" err || complain "exercise $wrong gave status $status"
done

echo "every hole compiles, and says that nothing is written yet; a program with a bug says what is wrong with it"
{
  printf '#include "exercises.h"\n#include <cstdio>\n#include <xgrad/optim/optimizers/adam.h>\n'
  for statement in "$root"/examples/exercises/[0-9]*.cpp; do
    [[ $statement != *translator.cpp ]] || continue  # it has no hole, and trains
    printf 'namespace hole_%s {\n#include "%s"\n}\n' "$(basename "$statement" | cut -c 1-2)" "$statement"
  done
  echo 'int main() {'
  for statement in "$root"/examples/exercises/[0-9]*.cpp; do
    [[ $statement != *translator.cpp ]] || continue
    hole=$(basename "$statement" .cpp)
    echo "std::puts(xgrad::exercises::why_not([] { xgrad::exercises::check::${hole#*_}(hole_${hole%%_*}::${hole#*_}); }).c_str());"
  done
  echo '}'
} >holes.cpp
"${CXX:-c++}" -std=c++20 -O0 -I"$built/exercises" -I"$root/cmake/include" holes.cpp \
  @"$built/exercises/exercises.rsp" -o holes 2>err
./holes >out
[ "$(grep -c '^nothing written yet. A hint: ' out)" -eq 28 ] && [ "$(grep -c ' A hint: ' out)" -eq 32 ] && [ "$(wc -l <out)" -eq 32 ] || complain "a hole says something else"

echo "an answer in three steps: the hole, an error of the compiler, the right lines"
"$root/examples/exercise" 3 mine --watch >out 2>&1 &
watching=$!
trap 'kill $watching 2>/dev/null || true; rm -rf "$sandbox"' EXIT
says() {
  for _ in {1..600}; do if grep -q -- "$1" out; then return; fi; sleep 0.1; done
  touch err
  complain "no reply '$1'"
}
says '^not yet: nothing written yet'
fill() { sed "s|return .*|return $1;|" "$root/examples/exercises/03_linear_layer.cpp" >mine/linear_layer.cpp; }
fill 'matmul(x'
says '^not yet: mine/linear_layer.cpp does not compile$'
grep -q 'linear_layer.cpp:[0-9:]* error' out || complain "no error of the compiler"
fill 'bias / 2 + 1 / 2 * matmul(x, transpose(weight))'
says 'linear_layer.cpp:13: a quotient of integers is an integer'
sed 's|return .*|matmul(x, weight);|' "$root/examples/exercises/03_linear_layer.cpp" >mine/linear_layer.cpp
says 'warning: no return statement'
kill $watching
fill 'matmul(x, transpose(weight)) + bias'
exercise 3 mine && grep -q '^right: ' out || complain "a right answer is not told"
grep -q 'transpose(weight)' mine/linear_layer.cpp || complain "the reader's file was written over"

echo "the translator of the page learns, and says that it is no better than the page, in the seconds that it has"
exercise 33 mine || complain "exercise 33 has no statement"
exercise 33 mine --seconds=2 && complain "two seconds are enough for a better translator"
[ "$(grep -c '^seed [1-5]: held-out BLEU 0\.[0-9]* after ' out)" -eq 5 ] && grep -q "^not yet: held-out BLEU .*, the page's 0.625 (0.551 to 0.636)" out ||
  complain "the translator has no score"
grep -q '^| as in the example |.* 0.625 (0.551 to 0.636) |' "$root/docs/topics/claims.md" || complain "the page has another score"
