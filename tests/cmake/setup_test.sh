#!/usr/bin/env bash
# cmake/setup on machines of every kind: package tools that only pretend stand in for the real ones.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

# The only programs that cmake/setup can see.
mkdir "$sandbox/bin"
for tool in bash cat dirname env grep mktemp rm sed tail; do ln -s "$(command -v $tool)" "$sandbox/bin/"; done
pretend() { # NAME SCRIPT: a program of that name
  printf '#!/bin/bash\n%s\n' "$2" >"$sandbox/bin/$1"
  chmod +x "$sandbox/bin/$1"
}
all_there='echo installed'
two_missing='case "${!#}" in librsvg2-bin) exit 1 ;; zlib1g-dev) echo config-files ;; *) echo installed ;; esac'
recording_apt="echo \"\$*\" >>$sandbox/apt.log"

setup() { # STATUS [LIST...]: runs cmake/setup and checks its exit status
  : >"$sandbox/apt.log"
  local status=0
  PATH=$sandbox/bin "$root/cmake/setup" "${@:2}" >"$sandbox/out" 2>&1 </dev/null || status=$?
  [ "$status" -eq "$1" ] || { echo "exit status $status instead of $1:"; cat "$sandbox/out"; exit 1; }
}
says() { grep -qF -- "$1" "$sandbox/out" || { echo "did not say '$1':"; cat "$sandbox/out"; exit 1; }; }
asked_apt() { grep -qxF -- "${1/#/-o DPkg::Lock::Timeout=600 }" "$sandbox/apt.log" || { echo "did not ask apt-get for '$1'"; exit 1; }; }
left_apt_alone() { [ ! -s "$sandbox/apt.log" ] || { echo "called apt-get"; exit 1; }; }

echo "nothing is missing"
pretend id 'echo 1000'
pretend apt-get "$recording_apt"
pretend dpkg-query "$all_there"
setup 0
says "packages are installed"
left_apt_alone

echo "packages are missing, neither root nor sudo"
pretend dpkg-query "$two_missing"
setup 1
says "  sudo apt-get update && sudo apt-get install -y librsvg2-bin zlib1g-dev"
left_apt_alone

echo "packages are missing, sudo is there"
pretend sudo "echo sudo >>$sandbox/apt.log; [ \"\$1\" != -n ] || shift; exec \"\$@\""
setup 0
grep -qx sudo "$sandbox/apt.log"
asked_apt "update"
asked_apt "install -y --no-install-recommends librsvg2-bin zlib1g-dev"
rm "$sandbox/bin/sudo"

echo "packages are missing, root"
pretend id 'echo 0'
setup 0
asked_apt "install -y --no-install-recommends librsvg2-bin zlib1g-dev"
says "installed 2 packages"

echo "other lists"
pretend dpkg-query 'exit 1'
setup 0 packages_fashion_mnist.txt packages_mpi.txt
asked_apt "install -y --no-install-recommends dataset-fashion-mnist libopenmpi-dev openmpi-bin"
pretend dpkg-query "$two_missing"

echo "another apt is at work for a while"
pretend sleep "echo slept >>$sandbox/slept"
pretend apt-get "$recording_apt; [ -s $sandbox/slept ] || { echo 'E: Could not get lock /var/lib/apt/lists/lock.'; exit 100; }"
setup 0
says "waiting for another apt"
says "installed 2 packages"

echo "the package server does not answer"
pretend apt-get 'echo "could not resolve the host"; exit 100'
setup 1
says "could not resolve the host"
says "  sudo apt-get update && sudo apt-get install -y librsvg2-bin zlib1g-dev"

echo "a system without Debian's package tools"
rm "$sandbox/bin/dpkg-query"
setup 0
says "libxtensor-dev"
left_apt_alone
