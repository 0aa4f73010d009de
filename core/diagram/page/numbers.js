// Writing and drawing numbers: short text, a histogram, a table as a heat map.

// The element, with these attributes and, at its end, these texts and elements. Text is never read as HTML.
function filled(element, attributes = {}, ...content) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...content);
  return element;
}

// New elements.
const html = (tag, ...parts) => filled(document.createElement(tag), ...parts);
const svg = (tag, ...parts) => filled(document.createElementNS("http://www.w3.org/2000/svg", tag), ...parts);

// A list of words and their values, where there is one, each with the class of the value.
function definitions(rows, attributes = {}) {
  const known = rows.filter(([, value]) => value);
  const pair = ([word, value, kind = ""]) => [html("dt", {}, word), html("dd", {class: kind}, String(value))];
  return html("dl", attributes, ...known.flatMap(pair));
}

// Three significant digits. Numbers that are not finite are words in the JSON already: "NaN", "Infinity".
function short(number) {
  if (typeof number !== "number") return String(number).replace("Infinity", "\u221E");
  const size = Math.abs(number);
  if (size >= 1e5 || (size > 0 && size < 1e-3)) return number.toExponential(2).replace("e+", "e");
  return String(Number(number.toPrecision(3)));
}

const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const shapeText = (shape) => (shape.length === 0 ? "scalar" : `[${shape.join(", ")}]`);
const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${short(bytes)} ${units[unit]}`;
}

// Bars over equally wide bins from the least number to the greatest, and where 0 is among them.
function histogram({histogram: bins, least, greatest}) {
  const highest = Math.max(...bins, 1), width = 100 / bins.length;
  const label = `histogram of ${bins.length} bins from ${short(least)} to ${short(greatest)}`;
  const picture =
      svg("svg",
          {class: "histogram", viewBox: "0 0 100 50", preserveAspectRatio: "none", role: "img", "aria-label": label});
  bins.forEach((count, i) => {
    const height = count === 0 ? 0 : Math.max((48 * count) / highest, 0.6);
    const from = least + ((greatest - least) * i) / bins.length,
          to = least + ((greatest - least) * (i + 1)) / bins.length;
    picture.append(
        svg("rect", {x: i * width + width * 0.06, y: 50 - height, width: width * 0.88, height},
            svg("title", {}, `${short(from)} to ${short(to)}: ${count}`)));
  });
  picture.append(svg("line", {x1: 0, y1: 50, x2: 100, y2: 50}));
  if (least < 0 && greatest > 0) {
    const x = (-100 * least) / (greatest - least);
    picture.append(svg("line", {class: "zero", x1: x, y1: 0, x2: x, y2: 50}));
  }
  return [picture, html("div", {class: "ends"}, html("span", {}, short(least)), html("span", {}, short(greatest)))];
}

// One table of rows and columns; blue below 0, orange above, the stronger the farther away.
function table(rows, largest, caption) {
  const cellOf = (number) => {
    const cell = html("td", {title: number}, short(number));
    if (typeof number !== "number")
      cell.className = "bad";
    else if (largest > 0) {
      const colour = number < 0 ? "59 130 246" : "249 115 22";
      cell.style.background = `rgb(${colour} / ${Math.round((75 * Math.abs(number)) / largest)}%)`;
    }
    return cell;
  };
  const lines = rows.map((row) => html("tr", {}, ...row.map(cellOf)));
  return html("table", {}, ...(caption ? [html("caption", {}, caption)] : []), ...lines);
}

// Numbers in row-major order: as a table up to two axes, of more axes a table for each of the last two.
function heatMap({numbers, shape}) {
  const columns = shape.at(-1) ?? 1, rows = shape.at(-2) ?? 1, outer = shape.slice(0, -2);
  const largest = numbers.reduce((most, x) => (typeof x === "number" ? Math.max(most, Math.abs(x)) : most), 0);
  const result = html("div", {class: "numbers"});
  for (let slice = 0; slice * rows * columns < numbers.length; ++slice) {
    const position = [];
    outer.reduceRight((rest, size) => (position.unshift(rest % size), Math.floor(rest / size)), slice);
    const row = (r) => numbers.slice((slice * rows + r) * columns, (slice * rows + r + 1) * columns);
    const caption = outer.length > 0 ? `[${position.join(", ")}, :, :]` : "";
    result.append(table(Array.from({length: rows}, (_, r) => row(r)), largest, caption));
  }
  return result;
}
