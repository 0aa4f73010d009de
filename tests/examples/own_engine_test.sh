#!/usr/bin/env bash
# "Your own engine": each link of our solution is right, and ends in a GPT that writes; two wrong versions of each get the reason by
# its words; a statement says that nothing is written yet; the file of the link before is the reader's if there is one.
source "$(dirname "${BASH_SOURCE[0]}")/sandbox.sh"
# An answer takes seconds to compile: here some of them are tried, in tests/long (own_engine_long.sh) all.
some() { [ -n "${XGRAD_THOROUGH:-}" ] || [[ " $* " == *" $number "* ]]; }
own=$root/examples/exercises/own
link() { "$root/examples/exercise" own "$@" >out 2>err; }

echo "the list has twelve links, which the page has, too"
"$root/examples/exercise" --help >out
for number in {1..12}; do
  grep -q "^ *own $number  .*docs/learn/own_engine.md$" out || complain "link $number is not in the list"
  grep -q "^| $number\. " "$root/docs/learn/own_engine.md" || complain "link $number is not on its page"
done
status=0
link 13 || status=$?
[ "$status" -eq 2 ] && grep -qxF "error: there is no exercise 'own 13'" err || complain "own 13 gave status $status"

echo "a statement has no solution, compiles, and says that nothing is written yet"
for number in {1..12}; do
  link "$number" mine || complain "link $number has no statement"
  some 6 || continue
  link "$number" mine && complain "the statement of link $number is right"
  grep -q '^not yet: nothing written yet. A hint: ' out || complain "the statement of link $number says something else"
done
grep -l '//[<>]' mine/* && complain "a statement has marks of the solution"
"${CXX:-c++}" -std=c++20 -fsyntax-only -I"$own" mine/12_sampling.h -x c++ 2>err || complain "the statements do not compile together"
echo '#error "the file of the reader"' >mine/01_number.h
sed -i.bak '2s|^|// changed\n|' mine/02_walk.h
link 2 mine && complain "link 2 is right without link 1"
grep -q 'the file of the reader' out || complain "link 2 does not take the reader's link 1"

echo "the solution is right from link to link"
for file in "$own"/[0-9]*.h; do
  cp "$file" .
  number=$((10#$(basename "$file" | cut -c 1-2)))
  if some 12; then
    link "$number" . && grep '^right: ' out | grep -qv 'let the rate fall' || complain "our link $number is not right"
  fi
done
grep -q '^mary had a little lamb, its fleece was white as snow, and everywhere that mary went, the lamb was sure to go' out ||
  complain "the GPT does not write the rhyme"
[ "$(grep -c -- '->' graph.dot)" -gt 60 ] || complain "the graph of the GPT is not drawn"

echo "wrong versions get the reason"
wrong() { # number, an expression of sed for the solution, words of the reply
  local file number=$1
  file=$(compgen -G "$own/$(printf '%02d' "$1")_*")
  rm -rf wrong && mkdir wrong
  sed "$2" "$file" >"wrong/$(basename "$file")"
  cmp -s "$file" "wrong/$(basename "$file")" && complain "nothing is wrong: $2"
  some 9 || return 0
  link "$1" wrong && complain "link $1 takes this as right: $2"
  grep -qF -- "$3" out || complain "link $1 does not say '$3'"
}
wrong 1 's/times(gy, b.value())/times(gy, a.value())/; s/\[b\]/[a]/' 'it gives gy a, the rule of b'
wrong 1 's/  result.node->inputs = inputs;//' 'the node does not have the inputs'
wrong 1 's/\[b\]/[\&]/' 'it was captured by [&]'
wrong 2 's/if (!seen.insert(x.node.get()).second) return;//' 'a node occurs twice'
wrong 2 's/if (!first) found->second = .*/(void)first;/' 'grad of y = x^4 + w x: dy/dx'
wrong 3 's/g \* (1 - b \* b)/(void)g, 1 - b * b/' 'times gy is missing'
wrong 3 's/\[y\](const Matrix& gy) { return times(gy, y)/[x](const Matrix\& gy) { return times(gy, x.value())/' 'x stands where y does'
wrong 4 's/ += x.at/ = x.at/' 'the last row replaced the first'
wrong 4 's/{ return sum_to(gy/{ return repeat_to(gy/' 'each copy contributes'
wrong 5 's/product(gy, flipped(b.value()))/product(gy, b.value())/' 'the factor is not transposed'
wrong 5 's/j < b.cols/j <= b.cols/' 'of a table of'
wrong 5 's/y.at(i, j) += a.at/y.at(i, j) = a.at/' 'the last product replaced the sum'
wrong 6 's|std::sqrt(3.0 / in)|1|' 'with the limit sqrt(3 / in) it would be 1'
wrong 6 's/matmul(x, weight) + bias/matmul(x, weight)/' 'the bias is not added'
wrong 7 's/gx.at(i, answers.*-= 1;/{}/' '1 at the right answer is not subtracted'
wrong 7 's/ - largest//' 'subtract the largest score of the row'
wrong 8 's|m\[n\].v\[i\] / (1 - std::pow(0.9, t))|m[n].v[i]|' 'm is not divided by 1 - 0.9^t'
wrong 8 's/Matrix& x = param/Matrix x = param/' 'it did not move'
wrong 8 's/m.n..v.i. = 0.9/Matrix copy = m[n]; copy.v[i] = 0.9/' 'm after step 1: it stays 0'
wrong 9 's/h = 1; h < heads/h = 0; h < heads/' 'the first head counts twice'
wrong 9 's/int s = t + 1/int s = t/' 'position 0 does not see position 0'
wrong 9 's| / std::sqrt(q.value().cols)||' 'the scores are not divided by sqrt(d)'
wrong 10 's/return h + out/return x + out/' 'it adds h'
wrong 10 's/) += gy.at(t, j)/) = gy.at(t, j)/' 'only its last row counts'
wrong 11 's/begin + 1, begin + 1 + model.context/begin, begin + model.context/' 'the answers are the tokens one place later'
wrong 11 's/adam.step(grad(loss, adam.parameters))/grad(loss, adam.parameters)/' 'no parameter changed'
number=11
if some 9; then
  sed '/adam.lr =/d' "$own/11_training.h" >wrong/11_training.h
  link 11 wrong && grep -qF 'let the rate fall to 0 until the end' out || complain "link 11 does not name a constant rate"
fi
wrong 12 's/between_0_and_1(random) \* sum/between_0_and_1(random)/' 'the weights do not add up to 1'
wrong 12 's|(score - largest) / temperature|score - largest|' 'the temperature takes no part'
wrong 12 's/logits.v.end() - logits.cols, logits.v.end()/logits.v.begin(), logits.v.begin() + logits.cols/' 'the last row of the logits'
