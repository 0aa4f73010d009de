# For the scripts beside this one: the examples' programs in $bin, and an empty folder that is removed at the end.
bin=${XGRAD_BUILD_DIR:-$root/build/grouped}/bin
sandbox=$(mktemp -d)
trap 'rm -rf "$sandbox"' EXIT
cd "$sandbox"

complain() {
  echo "$*"
  tail -n 100 out err
  exit 1
}
