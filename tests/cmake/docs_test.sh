#!/usr/bin/env bash
# What the pages promise is there: files and headings behind their links, the test cases, headers and names in them that
# the curriculum lists.
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

for page in README.md docs/*.md docs/*/*.md; do
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

while read -r name; do
  grep -rqF --include='*_test.cpp' "TEST_CASE(\"$name\")" tests || complain "docs/curriculum.md: no test case \"$name\""
done < <(grep -oE '\| "[^|]*" \|' docs/curriculum.md | sed -E 's/^\| "//; s/" \|$//')

while read -r word; do
  case $word in
    *.h) header=$word; [ -f "$header" ] || complain "docs/curriculum.md: no header $header" ;;
    */*) [ -e "$word" ] || complain "docs/curriculum.md: no $word" ;;
    *) grep -qsw -- "$word" "$header" || complain "docs/curriculum.md: no $word in $header" ;;
  esac
done < <(grep -E '^\| \[?[A-Z][0-9]' docs/curriculum.md | cut -d'|' -f4 | grep -oE '`[^`]+`' | tr -d '`')

while read -r name; do
  [ -d "examples/$name" ] || complain "docs/curriculum.md: no example $name"
done < <(grep -oE '\| `[a-z_0-9]+` \|$' docs/curriculum.md | grep -oE '[a-z_0-9]+' | sort -u)
exit $wrong
