// The visible part, as a picture that stands alone.

// The text of an SVG file.
function pictureInSight(picture, camera) {
  const {left, right, top, bottom} = camera.sight(), {width, height} = camera.size;
  const place = {x: left, y: top, width: right - left, height: bottom - top};
  const copy = filled(picture.cloneNode(true), {width, height, viewBox: Object.values(place).join(" ")});
  copy.removeAttribute("style");
  const scopes = [...picture.classList].map((name) => `.${name} `);
  const rules = [...document.styleSheets[0].cssRules].filter(
      ({selectorText}) => scopes.some((scope) => selectorText?.startsWith(scope)));
  copy.prepend(
      svg("style", {}, rules.map((rule) => rule.cssText).join("\n")), svg("rect", {class: "page", ...place}));
  return new XMLSerializer().serializeToString(copy);
}

function save(blob, extension) {
  const link = html("a", {href: URL.createObjectURL(blob), download: `${document.title}.${extension}`});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function saveAsSvg(text) { save(new Blob([text], {type: "image/svg+xml"}), "svg"); }

// With two pixels for each pixel of the screen.
async function saveAsPng(text, {width, height}) {
  const image = new Image(2 * width, 2 * height);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = html("canvas", {width: 2 * width, height: 2 * height});
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  canvas.toBlob((blob) => save(blob, "png"));
}
