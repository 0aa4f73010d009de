#!/usr/bin/env bash
# Unpacks the libraries for ARM64 that tests/run --arm64 links, those of this Debian, into build/arm64-root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
mapfile -t packages < <(sed -nE 's/^([^# ]+-dev) .*/\1/p' cmake/packages.txt cmake/packages_tests.txt | grep -v benchmark)
tests/systems/root.sh build/arm64-root "$codename" arm64 install "libstdc++-$(aarch64-linux-gnu-g++ -dumpversion)-dev" "${packages[@]}"
# As the packages' scripts would do, which are not run: openblas is the BLAS.
cd build/arm64-root/usr/lib/aarch64-linux-gnu
ln -sf openblas-pthread/lib{blas,lapack,openblas}.so* .
