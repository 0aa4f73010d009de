#!/usr/bin/env bash
# Each picture of docs is drawn by a command of docs/tools/pictures.tsv and shows the words and numbers that stand there, and a page
# shows it and names the command.
source "$(dirname "${BASH_SOURCE[0]}")/../support/script.sh"

"$root/docs/tools/pictures.py"

# It sees a picture without a row, a page without its command, a row without a picture or without words, and pictures of untrained
# models: other words, weights, losses and pixels.
mkdir "$sandbox/copy"
cp -r "$root/docs" "$root/examples" "$root/tests" "$root/README.md" "$sandbox/copy"
cd "$sandbox/copy/docs"
cp pictures/lora.svg pictures/new.svg
sed -i 's|tools/run windows|tools/run doors|' topics/vision.md
rm pictures/zero_or_identity.svg
sed -i '/^pictures.lora/s/\t[^\t]*$/\t/' tools/pictures.tsv
sed -i 's|>suis<|>.<|g; s|suis →|. →|g; s|chez → home  0\.[0-9]*|chez → home  0.25|' pictures/annotated/attention.svg
sed -i 's|of 5 seeds|of 1 seeds|; s|layer norm  100: [0-9.]*|layer norm  100: 4.6|' pictures/claims_norms.svg
noise=$(grep -om 1 '<image[^>]*>' pictures/gallery/f1.svg)  # a third of this patch is black
python3 -c 'import re, sys; f = "pictures/vae_plane.svg"; s = open(f).read(); open(f, "w").write(re.sub("<image[^>]*>", sys.argv[1], s))' "$noise"
if tools/pictures.py 2>"$sandbox/wrong"; then exit 1; fi
for message in 'pictures/new.svg: 0 commands' 'vision_shifted.svg: no page that shows it names' 'there is no pictures/zero_or_identity.svg' \
  'pictures/lora.svg has nothing that it must show' 'annotated/attention.svg: does not show suis' \
  'annotated/attention.svg: does not show chez → home > 0.7' 'claims_norms.svg: does not show mean of 5 seeds' \
  'claims_norms.svg: does not show layer norm 100 < 0.2' 'vae_plane.svg: does not show black pixels > 0.4'; do
  grep -qF "$message" "$sandbox/wrong" || { echo "not seen: $message"; exit 1; }
done
