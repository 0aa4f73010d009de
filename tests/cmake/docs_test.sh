#!/usr/bin/env bash
# The pages' promises are kept: files and headings behind their links, files that they name, the test cases, headers and names in
# them that curriculum.tsv lists, the programs that they run, the version that the changelog begins with. Every example and every
# page has its row. Formulas are typeset, in what GitHub accepts.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
wrong=0
complain() {
  echo "$*"
  wrong=1
}

# The anchors of a page's headings, as GitHub makes them.
anchors() { sed -nE 's/^#+ +(.*)/\1/p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E "s/[^a-z0-9 _-]//g; s/ /-/g"; }

for page in README.md tests/README.md docs/*.md docs/*/*.md docs/*/*/*.md; do
  while read -r link; do
    file=${link%%#*} anchor=
    [[ $link == *#* ]] && anchor=${link#*#}
    target=$page
    [ -n "$file" ] && target=$(dirname "$page")/$file
    if [ ! -e "$target" ]; then
      complain "$page: $link leads nowhere"
    elif [ -n "$anchor" ] && ! grep -qxF -- "$anchor" < <(anchors "$target"); then
      complain "$page: $target has no heading $anchor"
    fi
  done < <(grep -v '^    ' "$page" | grep -oE '\]\([^)[:space:]]+\)' | sed -E 's/^\]\(//; s/\)$//' | grep -vE '^(https?|mailto):' || true)
done

# A fork runs the commands of README.md, and nothing cleverer.
while read -r command; do
  grep -q "^$command  *#" README.md || complain ".github/workflows: README.md has no command '$command'"
done < <(sed -nE 's/^ *(- )?run: //p' .github/workflows/*.yml)

# Notebooks show what programs save: no cell has what only `main` knows.
notebooks=$(mktemp -d)
trap 'rm -rf "$notebooks"' EXIT
python3 -B docs/tools/site/notebooks.py "$notebooks"
while read -r file; do complain "docs/tools/site/notebooks.py: a cell of $file saves a file or reads main's arguments"; done < \
  <(grep -lE '\<(out /|save_graph\(|kit::save|argv\[)' "$notebooks"/*/*.ipynb)

# What a page runs is there.
while read -r command name; do
  case $command in
    examples/run) [ -d "examples/$name" ] ;;
    *) [ -f "docs/tools/experiments/$name.cpp" ] || [ -d "docs/tools/$name" ] || [[ $name =~ ^(lists|figures)$ ]] ;;
  esac || complain "pages: there is no $command $name"
done < <(grep -ohE '(examples|docs/tools)/run (--ranks [0-9N]+ )?[a-z_0-9]+' README.md examples/README.md docs/*.md docs/*/*.md docs/*/*/*.md |
  sed -E 's/ --ranks [0-9N]+//' | sort -u)

# What is there is found: an example in its table, by which tests choose what they run, and a page in an index.
for main in examples/*/main.cpp; do
  name=$(basename "$(dirname "$main")")
  [ "$name" = exercises ] || grep -qE "^\| \`$name\` \|.*\| [0-9]+ (s|min) \|$" examples/README.md ||
    complain "examples/README.md: no row of $name, or one that does not end with its time, as in '| 5 s |'"
done
for name in $(sed -nE 's/^ *\{"(\w+)", experiments::.*/\1/p' docs/tools/experiments/main.cpp); do
  grep -qE "^\| \`$name\` \|.*\| [0-9]+ (s|min) \|$" docs/tools/README.md ||
    complain "docs/tools/README.md: no row of $name, or one that does not end with its time"
done
for page in docs/*/*.md docs/*/*/*.md; do
  [ "$page" = docs/tools/README.md ] || grep -qF "](${page#docs/})" docs/README.md ||
    grep -qsF "]($(basename "$page"))" "$(dirname "$page")/README.md" || complain "docs/README.md: no row of $page"
done

# Files that pages name are there; what changed names what is gone.
while IFS=: read -r page file; do
  case $file in
    xgrad/*) [ -e "cmake/include/$file" ] ;;
    */[A-Z]*/*) ;;  # examples/NAME/pytorch.py
    *) [ -e "$file" ] || [ -e "$(dirname "$page")/$file" ] ;;
  esac || complain "$page: there is no $file"
done < <(grep -oE '(^|[^a-zA-Z0-9_/.-])(xgrad|core|ops|nn|optim|tests|examples|docs|cmake)/[a-zA-Z0-9_/.-]*[.](h|cpp|sh|py|md|tsv|txt|cmake)\b' \
  README.md examples/README.md tests/README.md docs/*.md docs/*/*.md docs/*/*/*.md |
  grep -v '^docs/inside/changelog.md' | sed -E 's/:[^a-z]/:/' | sort -u)

# What changed last is what this version changed.
version=$(sed -nE 's/^#define XGRAD_VERSION "(.*)\..*"/\1/p' core/base/config.h)
grep -q "^## $version: " < <(grep '^## ' docs/inside/changelog.md | head -n 1) || complain "docs/inside/changelog.md does not begin with $version"

# The matrix behind the index of topics: mechanism, code (a header, then names in it), test case, example.
matrix=tests/cmake/curriculum.tsv
cases=$(grep -rh --include='*_test.cpp' '^TEST_CASE(' tests)
while IFS='|' read -r mechanism code name example; do
  [[ $cases == *"TEST_CASE(\"$name\")"* ]] || complain "$matrix: no test case \"$name\""
  for word in $code; do
    case $word in
      *.h) header=$word; [ -f "$header" ] || complain "$matrix: no header $header" ;;
      */*) [ -e "$word" ] || complain "$matrix: no $word" ;;
      *) grep -qsw -- "$word" "$header" || complain "$matrix: no $word in $header" ;;
    esac
  done
  [ -z "$example" ] || [ -d "examples/$example" ] || [ -f "docs/tools/experiments/$example.cpp" ] ||
    complain "$matrix: no example $example of $mechanism"
done < <(grep -v '^#' "$matrix" | tr '\t' '|')
while read -r name; do
  cut -f4 "$matrix" | grep -qx -- "$name" || complain "docs/look_up/curriculum.md: no example $name in $matrix"
done < <(grep '^|' docs/look_up/curriculum.md | grep -oE '`[a-z_0-9]+`' | tr -d '`' | sort -u)

# Formulas are $...$ or $$...$$ on one line, without what GitHub's Markdown takes for something else (a tag, a column, an
# emphasis, an escaped character) or its MathJax refuses.
IFS= read -rd '' formulas <<'END' || true
function complain(text) { print FILENAME ":" FNR ": " text; wrong = 1 }
function check(formula,   rest, depth, i, c) {
  if (formula ~ /</) complain("< in a formula, write \\lt: " formula)
  if (formula ~ /[|]/) complain("| in a formula, write \\mid or \\lvert: " formula)
  if (formula ~ /[*]/) complain("* in a formula, write \\cdot: " formula)
  if (formula ~ /\\[[:punct:]]/) complain("Markdown takes the backslash away: " formula)
  if (formula ~ /\\(operatorname|newcommand|renewcommand|def|let|require|href|class|style|unicode|tag|label|ref)[^a-zA-Z]/)
    complain("GitHub refuses this command: " formula)
  depth = 0
  for (i = 1; i <= length(formula) && depth >= 0; ++i) {
    c = substr(formula, i, 1)
    if (c == "{") ++depth
    if (c == "}") --depth
  }
  if (depth != 0) complain("braces do not match: " formula)
  rest = formula
  if (gsub(/\\left[^a-z]/, "", rest) != gsub(/\\right[^a-z]/, "", rest)) complain("\\left without \\right: " formula)
}
FNR == 1 { fence = 0 }
/^ *```/ { fence = !fence }
fence || /^    / || /^$/ { next }
{
  line = $0
  gsub(/`[^`]*`/, "c", line)
  if (line ~ /^ *[$][$].*[$][$]$/) {
    sub(/^ *[$][$]/, "", line)
    sub(/[$][$]$/, "", line)
    if (line ~ /[$]/) complain("$ in a formula: " line)
    check(line)
    next
  }
  n = split(line, parts, "$")
  if (n % 2 == 0) complain("a $ without another: " $0)
  for (i = 2; i <= n; i += 2) {
    check(parts[i])
    if (parts[i] == "" || parts[i] ~ /^ | $/) complain("a formula begins or ends with a space: " $0)
    if (parts[i] ~ /}_/) complain("} before _ may begin an emphasis, use a formula of its own line: " $0)
    if (parts[i - 1] ~ /[a-zA-Z0-9]$/ || parts[i + 1] ~ /^[a-zA-Z0-9]/) complain("a formula touches a word: " $0)
  }
}
END { exit wrong }
END
awk "$formulas" README.md $(ls docs/*/*.md docs/*/*/*.md | grep -vE '/(operations|reference|pytorch_names)\.md$') || wrong=1
for name in attention transformer translation decoding recurrent layers word_vectors vision language_models distributions; do
  grep -q '^\$\$.*\$\$$' "docs/topics/$name.md" || complain "docs/topics/$name.md: no typeset formula"
done

# No name of PyTorch has two rows, and each has a counterpart, which snippets_test.sh compiles.
page=docs/look_up/pytorch_names.md
rows=$(grep '^| `' "$page" | sed 's/\\|/!/g')
twice=$(cut -d'|' -f2 <<<"$rows" | grep -oE '`[^`]+`' | sort | uniq -d)
[ -z "$twice" ] || complain "$page: two rows of $twice"
if cut -d'|' -f3 <<<"$rows" | grep -v '`'; then complain "$page: a row names no counterpart"; fi

# The blocks of docs/learn/annotated_transformer.md, one below the other, are the example's model and training, line by line.
page=docs/learn/annotated_transformer.md
code() { grep -vE '^(//|// .*|#.*|(namespace|using namespace|\}  // namespace) .*)?$'; }
diff <(cat examples/annotated_transformer/model.h examples/annotated_transformer/training.h | code) \
  <(sed '/^## The whole program$/q' "$page" | sed -n '/^```cpp$/,/^```$/{/^```/!p}' | code) ||
  complain "$page: its code is not that of examples/annotated_transformer"
for picture in docs/pictures/annotated/*; do
  grep -qF "(../${picture#docs/})" "$page" || complain "$picture: not in $page"
done
exit $wrong
