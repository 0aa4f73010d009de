#!/usr/bin/env bash
# Unpacks packages of another Debian into a folder of this tree. Takes no rights, and installs nothing.
#   tests/systems/root.sh FOLDER SUITE ARCHITECTURE install PACKAGE...    with all that these depend on
#   tests/systems/root.sh FOLDER SUITE ARCHITECTURE download PACKAGE...   these alone
set -euo pipefail

folder=$1 suite=$2 architecture=$3 way=$4
shift 4
mkdir -p "$folder"
cd "$folder"
folder=$PWD
[ "$(cat packages 2>/dev/null)" != "$suite $*" ] || exit 0  # it is there
rm -rf state cache debs usr lib etc
mkdir -p state/lists/partial cache/archives/partial debs
touch state/status
mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' | sed -n 's/^Debian //p' | head -n 1)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >state/sources.list
apt() {
  apt-get -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" -o Dir::State="$folder/state" \
    -o Dir::State::status="$folder/state/status" -o Dir::Cache="$folder/cache" -o Dir::Etc::sourcelist="$folder/state/sources.list" \
    -o Dir::Etc::sourceparts=/dev/null -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@"
}
apt update
if [ "$way" = install ]; then
  apt install --download-only -y --no-install-recommends "$@"
  mv cache/archives/*.deb debs
else
  (cd debs && apt download "$@")
fi
for package in debs/*.deb; do dpkg -x "$package" .; done
rm -rf debs cache state
echo "$suite $*" >packages
