// Writing SVG elements; numbers never pass through a locale.
#include <xgrad/kit/draw/svg.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include <xgrad/core/diagram/render/program.h>
#include <xgrad/core/diagram/view/labels.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/unicode/unicode.h>

namespace xgrad::kit {
namespace {

std::string pixels(double value) {
  std::string text = fixed(value, 2);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string hex(std::uint32_t colour) {
  std::string text;
  for (int shift = 20; shift >= 0; shift -= 4) text += "0123456789abcdef"[colour >> shift & 15];
  return text;
}

double width_of(std::u32string_view text, double font_size, bool bold = false) {
  const auto weight = bold ? xgrad::detail::FontWeight::bold : xgrad::detail::FontWeight::regular;
  return xgrad::detail::text_width(encode_utf8(text), font_size, weight);
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string result;
  for (const char32_t c : decode_utf8(text)) {
    const bool allowed = (c >= 0x20 && c != 0xFFFE && c != 0xFFFF) || c == U'\t' || c == U'\n';
    result += c == U'&'    ? "&amp;"
              : c == U'<'  ? "&lt;"
              : c == U'>'  ? "&gt;"
              : c == U'"'  ? "&quot;"
              : c == U'\'' ? "&#39;"
                           : encode_utf8(std::u32string(1, allowed ? c : U'\uFFFD'));
  }
  return result;
}

double text_width(std::string_view text, double font_size) { return width_of(decode_utf8(text), font_size); }

double bold_width(std::string_view text, double font_size) { return width_of(decode_utf8(text), font_size, true); }

double widest(const std::vector<std::string>& texts, double font_size) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text, font_size));
  return width;
}

std::string fit_width(std::string_view text, double font_size, double width) {
  std::u32string characters = decode_utf8(text);
  if (width_of(characters, font_size) <= width + 0.01) return std::string(text);  // a width is often a sum with it
  while (!characters.empty() && width_of(characters + U'…', font_size) > width) characters.pop_back();
  return encode_utf8(characters + U'…');
}

std::vector<std::string> wrap_width(std::string_view text, double font_size, double width, bool bold) {
  const auto fits = [&](std::u32string_view line) { return width_of(line, font_size, bold) <= width + 0.01; };
  std::vector<std::string> lines;
  std::u32string rest = decode_utf8(text);
  while (!rest.empty() && !fits(rest)) {
    std::size_t end = 1;  // a line has one character at least
    while (fits(std::u32string_view(rest).substr(0, end + 1))) ++end;
    const std::size_t space = rest.rfind(U' ', end);
    const bool between_words = space != rest.npos && space > 0;
    lines.push_back(encode_utf8(rest.substr(0, between_words ? space : end)));
    rest.erase(0, between_words ? space + 1 : end);
  }
  if (!rest.empty()) lines.push_back(encode_utf8(rest));
  return lines;
}

double heading_height(std::string_view text, double font_size, double width) {
  return lines_height(wrap_width(text, font_size, width, true), font_size);
}

Ink mixed(double place, std::span<const Ink> stops) {
  place *= static_cast<double>(stops.size() - 1);
  const std::size_t stop = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const auto between = [&](std::uint32_t from, std::uint32_t to) {
    std::uint32_t colour = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {  // red, green, blue
      const double part = std::lerp(from >> shift & 255, to >> shift & 255, place - static_cast<double>(stop));
      colour = colour << 8 | static_cast<std::uint32_t>(std::lround(part));
    }
    return colour;
  };
  return {between(stops[stop].light, stops[stop + 1].light), between(stops[stop].dark, stops[stop + 1].dark)};
}

Attribute::Attribute(std::string_view key, double number) : name(key), value(pixels(number)) {}

Svg::Svg(double width, double height, std::string_view title) {
  const std::string size = pixels(width) + " " + pixels(height);
  tag("svg",
      {{"xmlns", "http://www.w3.org/2000/svg"},
       {"width", width},
       {"height", height},
       {"viewBox", "0 0 " + size},
       {"role", "img"},
       {"aria-label", title},
       {"font-family", "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"},
       {"font-size", 12},
       {"fill", text_ink}},
      ">\n");
  head_.swap(body_);
  element("rect", {}, {{"width", width}, {"height", height}, {"fill", ground_ink}}, {});
}

std::string Svg::str() const {
  std::string style;
  for (const std::string& rule : dark_rules_) style += rule;
  if (!style.empty()) style = "<style>@media (prefers-color-scheme:dark){" + style + "}</style>\n";
  return head_ + style + body_ + "</svg>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, Attributes attributes, std::string_view hover) {
  element("line", {{"x1", x1}, {"y1", y1}, {"x2", x2}, {"y2", y2}}, attributes, hover);
}

void Svg::rect(double x, double y, double width, double height, Attributes attributes, std::string_view hover) {
  element("rect", {{"x", x}, {"y", y}, {"width", width}, {"height", height}}, attributes, hover);
}

void Svg::circle(double x, double y, double radius, Attributes attributes, std::string_view hover) {
  element("circle", {{"cx", x}, {"cy", y}, {"r", radius}}, attributes, hover);
}

void Svg::path(std::string_view d, Attributes attributes, std::string_view hover) {
  element("path", {{"d", d}}, attributes, hover);
}

void Svg::image(double x, double y, double width, double height, std::string_view address, std::string_view hover) {
  element("image", {{"x", x}, {"y", y}, {"width", width}, {"height", height}},
          {{"preserveAspectRatio", "none"}, {"style", "image-rendering:pixelated"}, {"href", address}}, hover);
}

void Svg::text(double x, double y, std::string_view text, Attributes attributes) {
  text_element({{"x", x}, {"y", y}}, attributes, text);
}

void Svg::lines(double x, double y, const std::vector<std::string>& lines, double font_size, Attributes attributes) {
  for (const std::string& line : lines) {
    text_element({{"x", x}, {"y", y}, {"font-size", font_size}}, attributes, line);
    y += line_height(font_size);
  }
}

void Svg::heading(double x, double y, std::string_view text, double font_size, double width) {
  lines(x, y, wrap_width(text, font_size, width, true), font_size, {{"font-weight", "bold"}});
}

void Svg::open(std::string_view name, Attributes attributes) { tag(name, attributes, ">\n"); }

void Svg::close(std::string_view name) { body_ += "</" + std::string(name) + ">\n"; }

void Svg::style(std::string_view css) { body_ += "<style>" + xml_escaped(css) + "</style>\n"; }

void Svg::tag(std::string_view name, Attributes attributes, std::string_view end) {
  body_ += "<" + std::string(name);
  write(attributes);
  body_ += end;
}

void Svg::element(std::string_view name, Attributes place, Attributes attributes, std::string_view hover) {
  tag(name, place, "");
  write(attributes);
  body_ += hover.empty() ? "/>\n" : "><title>" + xml_escaped(hover) + "</title></" + std::string(name) + ">\n";
}

void Svg::text_element(Attributes place, Attributes attributes, std::string_view text) {
  tag("text", place, "");
  write(attributes);
  body_ += ">" + xml_escaped(text) + "</text>\n";
}

void Svg::write(Attributes attributes) {
  std::string classes;
  for (const auto& [name, value, ink] : attributes) {
    const std::string text = ink ? "#" + hex(ink->light) : xml_escaped(value);
    body_ += " " + std::string(name) + "=\"" + text + '"';
    if (!ink) continue;
    const std::string one = std::string(name) + hex(ink->light) + hex(ink->dark);
    dark_rules_.insert("." + one + "{" + std::string(name) + ":#" + hex(ink->dark) + "}");
    classes += (classes.empty() ? "" : " ") + one;
  }
  if (!classes.empty()) body_ += " class=\"" + classes + '"';
}

Sheet::Sheet(std::string title, double content_width) : title_(std::move(title)) {
  width_ = 2 * margin + content_width;
  width_ = std::max(width_, std::min(2 * margin + bold_width(title_, title_size), 640.0));
  title_height_ = title_.empty() ? 0 : heading_height(title_, title_size, inner()) + 9;
}

Svg Sheet::svg(double content_height) const {
  Svg svg(width_, top() + content_height + margin, title_);
  svg.heading(margin, margin + title_size - 3, title_, title_size, inner());
  return svg;
}

void save(const std::filesystem::path& path, std::string_view picture) {
  constexpr const char* op = "save";
  const std::string extension = path.extension().string();
  if (extension == ".svg") return save_text(path, picture);
  if (extension != ".pdf" && extension != ".png") {
    fail<ValueError>(op, "the extension of '", path.string(), "' is none of .svg, .pdf, .png");
  }
  std::vector<std::string> command{"rsvg-convert", "--format", extension.substr(1)};
  if (extension == ".png") command.insert(command.end(), {"--zoom", "2"});  // for sharp screens and paper
  save_text(path,
            xgrad::detail::run_program(command, picture, op, ": install the package librsvg2-bin, or save as .svg"));
}

}  // namespace xgrad::kit
