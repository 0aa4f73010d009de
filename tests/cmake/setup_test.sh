#!/usr/bin/env bash
# cmake/setup on machines of every kind: package tools that only pretend stand in for the real ones.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

# A tree of its own, and the only programs that cmake/setup can see.
mkdir "$sandbox/bin" "$sandbox/cmake"
cp "$root"/cmake/{setup,packages*.txt} "$sandbox/cmake/"
for tool in awk bash cat dirname env find grep ln mkdir mktemp printf readlink rm sed tail; do
  ln -s "$(command -v $tool)" "$sandbox/bin/"
done
pretend() { # NAME SCRIPT: a program of that name
  printf '#!/bin/bash\n%s\n' "$2" >"$sandbox/bin/$1"
  chmod +x "$sandbox/bin/$1"
}
pretend uname 'echo Linux'
system() { echo "$1" >"$sandbox/os-release"; } # what /etc/os-release says
system ID=debian
export XGRAD_OS_RELEASE=$sandbox/os-release
unset CONDA_DEFAULT_ENV
all_there='echo installed'
two_missing='case "${!#}" in librsvg2-bin) exit 1 ;; zlib1g-dev) echo config-files ;; *) echo installed ;; esac'
recording_apt="echo \"\$*\" >>$sandbox/apt.log"

setup() { # STATUS [ARGUMENT...]: runs cmake/setup and checks its exit status
  : >"$sandbox/apt.log"
  local status=0
  PATH=$sandbox/bin "$sandbox/cmake/setup" "${@:2}" >"$sandbox/out" 2>&1 </dev/null || status=$?
  [ "$status" -eq "$1" ] || { echo "exit status $status instead of $1:"; cat "$sandbox/out"; exit 1; }
}
says() { grep -qF -- "$1" "$sandbox/out" || { echo "did not say '$1':"; cat "$sandbox/out"; exit 1; }; }
asked() { grep -qxF -- "$1" "$sandbox/apt.log" || { echo "did not ask '$1' but"; cat "$sandbox/apt.log" "$sandbox/out"; exit 1; }; }
asked_apt() { asked "-o DPkg::Lock::Timeout=600 $1"; }
left_apt_alone() { [ ! -s "$sandbox/apt.log" ] || { echo "called apt-get"; exit 1; }; }

echo "nothing is missing"
pretend id 'echo 1000'
pretend apt-get "$recording_apt"
pretend dpkg-query "$all_there"
setup 0
says "packages are installed"
left_apt_alone

echo "packages are missing, sudo is there"
pretend dpkg-query "$two_missing"
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

echo "a list that is not there"
setup 2 packages.txt nosuch.txt
says "there is no list nosuch.txt"
left_apt_alone

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

echo "neither root nor sudo: what is missing, and what that needs, is unpacked, and is there from then on"
pretend id 'echo 1000'
pretend apt-get "$recording_apt
  case \"\$*\" in *download-only*) for name in librsvg2-bin librsvg2-2 zlib1g-dev; do : >$sandbox/build/deps/apt/archives/\$name.deb; done ;; esac"
pretend dpkg "echo \"\$*\" >>$sandbox/apt.log
  mkdir -p \"\$3/usr/lib\"; ln -sfn os-release \"\$3/usr/lib/lib.so\""
setup 0
says "unpacking into build/deps librsvg2-bin zlib1g-dev"
grep -q "Dir::State::Lists=$sandbox/build/deps/apt/lists .* update$" "$sandbox/apt.log"
grep -q "install -y --download-only --no-install-recommends librsvg2-bin zlib1g-dev$" "$sandbox/apt.log"
asked "-x $sandbox/build/deps/apt/archives/librsvg2-2.deb $sandbox/build/deps"
[ "$(readlink "$sandbox/build/deps/usr/lib/lib.so")" = /usr/lib/os-release ] && [ ! -e "$sandbox/build/deps/apt" ]
setup 0
says "packages are installed"
left_apt_alone
rm -r "$sandbox/build"

echo "the same where there is root"
pretend id 'echo 0'
setup 0 --no-root
says "unpacking into build/deps librsvg2-bin zlib1g-dev"
setup 0 --no-root
left_apt_alone
rm -r "$sandbox/build"

echo "a compiler is not unpacked"
pretend dpkg-query 'exit 1'
setup 1 --no-root
says "  conda create -n xgrad -c conda-forge cmake ninja cxx-compiler ccache xtensor xsimd xtensor-blas openblas librsvg"
left_apt_alone
pretend dpkg-query "$two_missing"

echo "kin of Debian"
for kin in ID=ubuntu 'ID=linuxmint ID_LIKE="ubuntu debian"' 'ID=raspbian ID_LIKE=debian'; do
  system "$kin"
  setup 0 --no-root
  says librsvg2-bin
  rm -r "$sandbox/build"
done

# Everything is missing, or all but xtensor; whichever the manager, it notes how it is called.
manager() { pretend "$1" "case \"\$*\" in '$2'*) exit 1 ;; *) echo \"$1 \$*\" >>$sandbox/apt.log ;; esac"; }
echo "Fedora"
system ID=fedora
pretend rpm 'exit 1'
manager dnf never
setup 0
asked "dnf install -y cmake ninja-build gcc-c++ ccache xtensor-devel xsimd-devel librsvg2-tools json-devel zlib-devel utf8proc-devel pcre2-devel libpng-devel libjpeg-turbo-devel cli11-devel"
setup 1 --no-root
says "  sudo dnf install -y cmake"
says "  conda activate xgrad"
left_apt_alone
pretend dnf 'echo no such host; exit 1'
setup 1
says "no such host"
says "dnf failed"

echo "Arch"
system 'ID=manjaro ID_LIKE=arch'
manager pacman -T
setup 0
asked "pacman -S --noconfirm cmake ninja gcc ccache xsimd librsvg nlohmann-json zlib libutf8proc pcre2 libpng libjpeg-turbo cli11"
says "aur:xtensor"
pretend pacman 'exit 0'
setup 0
says "packages are installed"

echo "a Mac: as its user, never by sudo"
pretend uname 'echo Darwin'
rm "$sandbox/os-release"
pretend id 'echo 1000'
manager brew list
setup 0
asked "brew install cmake ninja ccache coreutils xtensor xsimd librsvg nlohmann-json utf8proc pcre2 libpng jpeg-turbo cli11"
setup 0 packages_site.txt
says " debian:mkdocs "
left_apt_alone

echo "a conda environment, wherever it is"
mkdir -p "$sandbox/env/conda-meta"
touch "$sandbox/env/conda-meta/"{cmake-4.1.0-h1,libpng-1.6-h2,xtensor-blas-0.2-h3}.json
manager conda never
export CONDA_DEFAULT_ENV=xgrad CONDA_PREFIX=$sandbox/env
setup 0
asked "conda install -y -c conda-forge ninja cxx-compiler ccache xtensor xsimd openblas librsvg nlohmann_json zlib libutf8proc pcre2 libjpeg-turbo cli11"
unset CONDA_DEFAULT_ENV

echo "another system"
pretend uname 'echo FreeBSD'
setup 0
says "to be installed by hand"
says "libxtensor-dev"
left_apt_alone
