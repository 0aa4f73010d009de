#!/usr/bin/env bash
# Exercises of those who teach: --new makes one that answers; --grade has a row for each answer, whatever the answer does, and changes
# nothing but the replies beside the answers.
source "$(dirname "${BASH_SOURCE[0]}")/sandbox.sh"
export XGRAD_BUILD_DIR=$built XGRAD_EXERCISE_SECONDS=2
exercise() { "$root/examples/exercise" "$@" >out 2>err; }

echo "a new exercise answers"
exercise --new squares course || complain "no new exercise"
exercise --new squares course && complain "a new exercise replaces another"
exercise course/squares.cpp mine || complain "no statement"
exercise course/squares.cpp mine && complain "the hole is right"
grep -q '^not yet: nothing written yet. A hint: ' out || complain "the hole says something else"

echo "answers of five students"
answer() { # FILE, the lines of a linear layer
  mkdir -p "answers/$(dirname "$1")"
  sed "s|return .*|$2|" "$root/examples/exercises/03_linear_layer.cpp" >"answers/$1"
}
answer "Ada L/03/linear_layer.cpp" 'return matmul(x, transpose(weight)) + bias;'
sed 's|return .*|return matmul(square(x), w);|' course/squares.cpp >"answers/Ada L/squares.cpp"
answer bob/03_linear_layer.cpp 'return matmul(x, transpose(weight));'
answer carol/linear_layer.cpp 'return matmul(x, transposed(weight)) + bias;'
answer dan/linear_layer.cpp 'while (true) {}'
answer eve/linear_layer.cpp 'while (true) std::puts("right: all of it");'
answer eve/old/squares.cpp 'std::exit(0);'
find . -type f ! -name out ! -name err | sort >before
status=0
exercise --grade answers 3 course/squares.cpp || status=$?
[ "$status" -eq 1 ] || complain "status $status of answers that are wrong"
tr -s '\t ' ' ' <out >table
cat >expected <<'END'
Ada L 3 linear_layer right the gradients agree
Ada L squares right a product with a vector
bob 3 linear_layer not yet Y at .* bias
bob squares missing
carol 3 linear_layer not yet does not compile: [^ ]*transposed[^ ]* was not declared
carol squares missing
dan 3 linear_layer not yet no result after 2 s
dan squares missing
eve 3 linear_layer not yet the program ended before its reply, or prints for ever
eve squares not yet does not compile

3 linear_layer: 1 of 5 right
squares: 1 of 5 right
END
[ "$(wc -l <table)" -eq "$(wc -l <expected)" ] || complain "another number of rows"
while read -r line && read -ru 9 row; do [[ $row =~ ^$line ]] || complain "not '$line': $row"; done <expected 9<table
grep -q 'carol/linear_layer.cpp:[0-9:]* error' answers/carol/linear_layer.reply.txt || complain "no whole reply"
find . -type f ! -name out ! -name err ! -name '*.reply.txt' ! -name before ! -name table ! -name expected | sort | cmp - <(grep -v before before) || complain "other files"
mkdir -p class/zoe/own && cp "$root/examples/exercises/own/01_number.h" class/zoe/own
exercise --grade class || complain "right answers are not right"
