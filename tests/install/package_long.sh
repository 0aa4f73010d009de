#!/usr/bin/env bash
# The preset `package`: a Debian package and an archive that have float, double and kit, and nothing that is not theirs. Programs
# compile with what is unpacked of them.
# shellcheck disable=SC2046  # what pkg-config prints are words
source "$(dirname "${BASH_SOURCE[0]}")/installed.sh"

cmake -S "$root" --preset package -B "$sandbox/package" -DCMAKE_CXX_COMPILER="$compiler" >"$sandbox/log"
cmake --build "$sandbox/package" --parallel "$(nproc)" --target xgrad xgrad_f64 xgrad_kit
cd "$sandbox/package"
for generator in DEB TGZ; do cpack -G $generator >"$sandbox/log" || { cat "$sandbox/log"; exit 1; }; done
du -h ./*.deb ./*.tar.gz

dpkg-deb -x ./*.deb "$sandbox/deb"
mkdir "$sandbox/tgz"
tar -x -C "$sandbox/tgz" -f ./*.tar.gz
diff <(cd "$sandbox/deb/usr" && find . -type f | sort) <(cd "$sandbox/tgz" && find . -type f | sort)
grep -qx "libxgrad.a libxgrad_f64.a libxgrad_kit.a" < <(cd "$sandbox/tgz" && find . -name 'lib*.a' | sed 's|.*/||' | sort | paste -sd' ')
if grep -r "$sandbox\|$root" --include='*.cmake' --include='*.pc' "$sandbox/tgz"; then exit 1; fi

PKG_CONFIG_PATH=$(dirname "$(find "$sandbox/deb" -name xgrad.pc)")
export PKG_CONFIG_PATH
for library in xgrad xgrad_f64; do
  "$compiler" -std=c++20 "$root/tests/install/main.cpp" $(pkg-config --cflags --libs $library) -o "$sandbox/$library"
  for level in base v3 v4; do XGRAD_LEVEL=$level "$sandbox/$library"; done
done
"$compiler" -std=c++20 "$root/tests/install/draw.cpp" $(pkg-config --cflags --libs xgrad_kit) -o "$sandbox/draw"
grep -q '^result slope=' < <("$sandbox/draw" --steps 5 --out "$sandbox/drawn")
