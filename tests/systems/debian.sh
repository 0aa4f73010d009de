#!/usr/bin/env bash
# The two commands of the README in a bare system: a root of this release of Debian, or of its kin that debootstrap knows, is made in
# build/systems and kept. Takes root, and 10 to 20 minutes; the last line has the versions and how many tests passed.
#   tests/systems/debian.sh RELEASE [--notebook] [PACKAGE...]
# --notebook  instead of both examples/notebook, some cells, and a notebook in the browser; Debian 12 has its packages
# PACKAGE...  installed before, such as another compiler, which CXX names; CMAKE_PREFIX_PATH may name other headers in the root
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
release=${1:?takes a release, such as bookworm or trixie}
shift
what=commands
if [ "${1:-}" = --notebook ]; then what=notebook && shift; fi
system=$root/build/systems/$release

[ "$(id -u)" -eq 0 ] || { echo "$0 takes root"; exit 1; }
command -v debootstrap >/dev/null || { echo "$0 takes the package debootstrap"; exit 1; }
if [ ! -e "$system/made" ]; then
  rm -rf "$system"
  mkdir -p "$system"
  debootstrap --variant=minbase "$release" "$system" >"$system.log" || { tail -n 5 "$system.log"; exit 1; }
  echo "127.0.0.1 localhost" >"$system/etc/hosts"  # as every machine has
  touch "$system/made"
fi
[ $# -eq 0 ] || { chroot "$system" apt-get update && chroot "$system" apt-get install -y --no-install-recommends "$@"; } >>"$system.log" 2>&1

# What git tracks here, as it stands.
mkdir -p "$system/xgrad"
find "$system/xgrad" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git -C "$root" ls-files -z | (cd "$root" && xargs -0 ls -d 2>/dev/null) | tar c -C "$root" -T - | tar x -C "$system/xgrad"
in_system() {
  unshare --mount --pid --fork bash -euc '
    mount --make-rprivate /
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    exec chroot "$0" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root TERM=dumb ${CXX:+CXX="$CXX"} \
      ${CMAKE_PREFIX_PATH:+CMAKE_PREFIX_PATH="$CMAKE_PREFIX_PATH"} "$@"' "$system" "$@"
}
begin=$SECONDS
if [ "$what" = notebook ]; then
  in_system bash -c 'time /xgrad/examples/notebook --register ~/notebooks && du -sh /xgrad/build'
  notebook=$((SECONDS - begin))
  in_system /xgrad/tests/notebook/cells_test.sh | tee "$system.out"
  in_system /xgrad/tests/notebook/browser.sh
  echo "$release: notebook $notebook s, $(tail -n 1 "$system.out")"
  grep -qx '0 wrong' "$system.out"
  exit
fi
in_system /xgrad/examples/quickstart --epochs 4
quickstart=$((SECONDS - begin))
in_system /xgrad/tests/run | tee "$system.out" || true
tests=$((SECONDS - begin - quickstart))
versions=$(in_system bash -c '
  ${CXX:-g++} --version | head -n 1
  cmake --version | head -n 1
  dpkg-query -W -f "\${Package} \${Version}\n" libxtensor-dev libxsimd-dev libopenblas-dev' | paste -sd ' ')
echo "$release: quickstart $quickstart s, tests $tests s, $(tail -n 1 "$system.out"); $versions"
grep -q ', 0 failed$' "$system.out"
