#!/usr/bin/env bash
# Each picture of docs is drawn by a command of docs/tools/pictures.tsv and has the words that stand there, and a page shows it and
# names the command.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/docs/tools/pictures.py"

# It sees a picture without a row, a page without its command, a row without a picture, and a picture of an untrained model.
mkdir "$sandbox/copy"
cp -r "$root/docs" "$root/examples" "$root/tests" "$root/README.md" "$sandbox/copy"
cd "$sandbox/copy/docs"
cp pictures/lora.svg pictures/new.svg
sed -i 's|tools/run windows|tools/run doors|' topics/vision.md
rm pictures/zero_or_identity.svg
sed -i 's|>suis<|>.<|g; s|suis →|. →|g' pictures/annotated/attention.svg
if tools/pictures.py 2>"$sandbox/wrong"; then exit 1; fi
for message in 'pictures/new.svg: 0 commands' 'vision_shifted.svg: no page that shows it names' 'there is no pictures/zero_or_identity.svg' \
  'annotated/attention.svg: does not say suis'; do
  grep -qF "$message" "$sandbox/wrong" || { echo "not seen: $message"; exit 1; }
done
