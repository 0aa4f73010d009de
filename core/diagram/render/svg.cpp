// Diagrams as SVG.
#include "svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "../../base/text.h"
#include "../layout/layout.h"
#include "../view/colours.h"
#include "../view/labels.h"
#include "../view/topology.h"
#include "motion.h"

namespace xgrad {
namespace detail {
namespace {

constexpr double margin = 18;
constexpr std::string_view font_family = "Helvetica,Arial,sans-serif";

// Positions on a page need no more than a tenth of a pixel.
std::string px(double value) { return str(std::round(value * 10) / 10 + 0.0); }

std::string attribute(std::string_view name, double value) { return str(' ', name, "=\"", px(value), '"'); }

GraphPoint moved(const GraphPoint& point, double x, double y) { return {point.x + x, point.y + y}; }

// ---- Colours --------------------------------------------------------------------------------------------------------

// Every selector begins with the class of the picture, so that pictures with different colours can be in one page.
std::string colours(std::string_view scope, const Palette& palette, bool scaled) {
  std::string css;
  const auto style = [&](std::string_view what, std::string_view property, std::string_view colour) {
    append(css, str(scope, ' ', what, '{', property, ':', colour, "}\n"));
  };
  style(".page", "fill", palette.background);
  style("text", "fill", palette.text);
  style(".frame", "fill", palette.frame);
  style(".frame", "stroke", palette.frame_line);
  style(".line", "stroke", palette.edge);
  style(".head", "fill", palette.edge);
  style(".gradient .line", "stroke", palette.gradient_edge);
  style(".gradient .head", "fill", palette.background);
  style(".gradient .head", "stroke", palette.gradient_edge);
  style(".borrowed .line", "stroke", palette.borrowed_edge);
  style(".borrowed .head", "fill", palette.borrowed_edge);
  for (const Look& look : looks) {
    const auto& [fill, line, text] = palette.*look.paint;
    const std::string as = str(scope, " .as-", look.name);
    append(css, str(as, " .box{fill:", fill, ";stroke:", line, "}\n", as, " .mark{fill:", line, ";stroke:", line, "}\n",
                    as, " text{fill:", text, "}\n"));
  }
  style(".token", "fill", palette.edge);
  style(".gradient .token", "fill", palette.gradient_edge);
  style(".token.back", "fill", palette.gradient_edge);
  style(".ground", "fill", palette.background);
  style(".cells rect", "stroke", palette.frame_line);
  style(".plus", "fill", palette.plus);
  style(".minus", "fill", palette.minus);
  style(".bad", "fill", palette.error.fill);
  style(".cells text", "fill", palette.text);
  style(".bars", "fill", palette.edge);
  style(".axis", "stroke", palette.edge);
  style(".frame-title .detail", "fill", palette.faint);
  if (!scaled) return css;
  style(".cold .box", "fill", palette.background);
  for (std::size_t shade = 0; shade < palette.heat.size(); ++shade) {
    style(str(".heat-", shade, " .box"), "fill", palette.heat[shade].fill);
    style(str(".heat-", shade, " text"), "fill", palette.heat[shade].text);
    style(str(".heat-", shade, " .detail"), "fill-opacity", "1");
  }
  style(".scale .box", "stroke", palette.frame_line);
  return css;
}

std::string letters_and_colours(std::string_view scope, Theme theme, bool scaled) {
  static constexpr std::array<std::string_view, 18> letters_and_lines{
      "text{font-size:11px;text-anchor:middle}",
      ".headline{font-size:13px;font-weight:bold}",
      ".plain{font-size:13px}",
      ".name{font-style:italic}",
      ".title{font-size:18px;font-weight:bold}",
      ".vertex .detail{fill-opacity:0.85}",
      ".start{text-anchor:start}",
      ".end{text-anchor:end}",
      ".box{stroke-width:1.1}",
      ".asked .box{stroke-width:2.2}",
      ".as-error .box{stroke-width:2.2}",
      ".script{font-size:75%}",
      ".cells rect{stroke-width:0.6}",
      ".cells text{font-size:9px}",
      ".line{fill:none}",
      ".borrowed .line{stroke-dasharray:4 3}",
      ".indices .line{stroke-dasharray:0.1 4;stroke-linecap:round;stroke-width:1.7}",
      ".mask .line{stroke-dasharray:0.1 4;stroke-linecap:round;stroke-width:1.7}"};
  std::string css;
  for (const std::string_view rule : letters_and_lines) append(css, str(scope, ' ', rule, '\n'));
  append(css, colours(scope, palette_of(theme), scaled));
  return css;
}

// Dark where the reader's screen is.
std::string style_sheet(bool scaled) {
  return str(letters_and_colours(".graph-light", Theme::light, scaled), "@media (prefers-color-scheme:dark){\n",
             colours(".graph-light", palette_of(Theme::dark), scaled), "}\n");
}

enum class Document { file, element };  // of a page

// ---- Numbers --------------------------------------------------------------------------------------------------------

std::string cells(const NumbersSummary& summary, const NumberPicture& picture, double left, double top) {
  const double width = picture.cell_width, height = picture.cell_height;
  double most = 0;
  for (const Real number : summary.numbers) {
    if (std::isfinite(number)) most = std::max(most, std::abs(double(number)));
  }
  std::string svg = str("<g class=\"cells\"><rect class=\"ground\" x=\"", px(left), "\" y=\"", px(top), "\" width=\"",
                        px(picture.width()), "\" height=\"", px(picture.height()), "\"/>");
  for (int i = 0; i < picture.rows * picture.columns; ++i) {
    const auto number = static_cast<double>(summary.numbers[static_cast<std::size_t>(i)]);
    const int row = i / picture.columns, column = i % picture.columns;
    const double x = left + column * width, y = top + row * height;
    const bool finite = std::isfinite(number);
    append(svg, str("<rect class=\"",
                    !finite      ? "bad"
                    : number < 0 ? "minus"
                                 : "plus",
                    "\" x=\"", px(x), "\" y=\"", px(y), "\" width=\"", px(width), "\" height=\"", px(height), '"'));
    if (finite)
      append(svg, str(" fill-opacity=\"", most > 0 ? std::round(90 * std::abs(number) / most) / 100 : 0, '"'));
    append(svg, "/>");
    if (!picture.has_digits && finite) continue;
    const std::string text = cell_text(number, picture.decimals);
    append(svg, str("<text x=\"", px(x + width / 2), "\" y=\"", px(y + height / 2 + 3.2), "\">", text, "</text>"));
  }
  return svg + "</g>";
}

// The outline of the bars, and a line at 0 if it is among them.
std::string bars(const NumbersSummary& summary, const NumberPicture& picture, double left, double top) {
  const double bottom = top + picture.height(), most = static_cast<double>(std::ranges::max(summary.histogram));
  std::string svg = str("<path class=\"bars\" d=\"M", px(left), ',', px(bottom));
  for (std::size_t i = 0; i < summary.histogram.size(); ++i) {
    const auto count = static_cast<double>(summary.histogram[i]);
    const double height = count > 0 ? std::max(picture.height() * count / most, 1.0) : 0;
    append(svg, str('V', px(bottom - height), 'H', px(left + static_cast<double>(i + 1) * picture.cell_width)));
  }
  append(svg,
         str('V', px(bottom), "Z\"/><path class=\"axis\" d=\"M", px(left), ',', px(bottom), 'h', px(picture.width())));
  if (summary.least < 0 && summary.greatest > 0) {
    const double zero = left - picture.width() * summary.least / (summary.greatest - summary.least);
    append(svg, str('M', px(zero), ',', px(top), 'V', px(bottom + 2)));
  }
  return svg + "\"/>";
}

// The cells or the histogram of a summary, centred at a point.
std::string numbers_in_svg(const NumbersSummary& summary, const GraphPoint& middle) {
  const NumberPicture picture = picture_of(summary);
  const double left = middle.x - picture.width() / 2, top = middle.y - picture.height() / 2;
  return picture.kind == NumberPicture::cells ? cells(summary, picture, left, top) : bars(summary, picture, left, top);
}

// ---- The picture ----------------------------------------------------------------------------------------------------

class SvgWriter {
 public:
  SvgWriter(const GraphView& view, const GraphOptions& options, Document document)
      : view_(view), layout_(GraphLayout::of(view, options)), options_(options), document_(document) {
    if (options.animate && document == Document::file) times_ = timetable_of(view);
    if (view.scale && options.legend) scale_ = words_of_scale(view);
    width_ = std::max(
        {layout_.width, text_width(printable(options.title), 18, FontWeight::bold), scale_ ? scale_width() : 0});
    if (options.legend) make_legend();
    width_ += 2 * margin;
    heading_ = (options.title.empty() ? 0 : title_height) +
               (legend_.empty() ? 0 : legend_height + legend_row * static_cast<double>(legend_.size() - 1)) +
               (scale_ ? scale_height : 0);
    height_ = layout_.height + heading_ + 2 * margin;
    left_ = (width_ - layout_.width) / 2;
    top_ = margin + heading_;
  }

  std::string write() && {
    begin();
    for (int c = 0; c < view_.frames.count(); ++c) write_frame(c);
    for (int e = 0; e < view_.edges.count(); ++e) write_edge(e);
    for (int c = 0; c < view_.frames.count(); ++c) write_title(c);
    for (int v = 0; v < view_.vertices.count(); ++v) write_vertex(v);
    write_heading();
    append(out_, "</svg>\n");
    return std::move(out_);
  }

 private:
  static constexpr double title_height = 30, legend_height = 32, scale_height = 28;
  static constexpr double legend_gap = 8, legend_row = 25, legend_line = 30, narrowest_legend = 360;
  static constexpr double heat_width = 18;
  static constexpr double title_inset = 5;

  // An entry of the legend: a box, or an arrow with its classes.
  struct Key {
    std::string_view text;
    std::optional<Look> look = {};
    std::string_view line = {};
    double width = 0;
  };

  // In rows no wider than the picture, unless that is small.
  void make_legend() {
    Indexed<Key> keys;
    for (const Look& look : legend_of(view_)) keys.push_back({.text = look.in_legend, .look = look});
    const auto add_line = [&](std::string_view text, std::string_view line, auto is_there) {
      if (std::ranges::any_of(view_.edges, is_there)) keys.push_back({.text = text, .line = line});
    };
    const auto of_kind = [this](EdgeKind kind) {
      return [this, kind](const GraphEdge& edge) { return kind_of(view_, edge) == kind; };
    };
    add_line("no gradient", "value indices", [](const GraphEdge& edge) { return edge.flow != GraphFlow::numbers; });
    add_line("saved value", "borrowed", of_kind(EdgeKind::borrowed));
    add_line("gradient", "gradient", of_kind(EdgeKind::gradient));
    const double widest = std::max(width_, narrowest_legend);
    double row = 0;
    for (Key& key : keys) {
      key.width = width_of(std::string(key.text)) + (key.look ? legend_padding(*key.look) : legend_line + 6);
      if (legend_.empty() || row + key.width > widest) {
        legend_.emplace_back();
        row = 0;
      }
      row += key.width + legend_gap;
      width_ = std::max(width_, row - legend_gap);
      legend_.back().push_back(key);
    }
  }
  // Space for outlines and marks.
  static double legend_padding(const Look& look) {
    const bool plain = look.role == GraphRole::operation || look.role == GraphRole::constant;
    return look.order > 0 ? 28 : plain ? 14 : 24;
  }
  static double width_of(const std::string& words) { return line_width({{words, LetterStyle::detail}}); }
  double scale_width() const {
    return width_of(scale_->first) + width_of(scale_->second) + 2 * legend_gap +
           heat_width * static_cast<double>(palette_of(Theme::light).heat.size());
  }

  template <class... Parts>
  void add(const Parts&... parts) {
    (append(out_, parts), ...);
  }

  // The text that a screen reader says in place of the picture.
  std::string name() const {
    if (!options_.title.empty()) return options_.title;
    std::string text = "The graph of";
    for (const GraphVertex& vertex : view_.vertices) {
      if (vertex.is_result) append(text, str(text.ends_with("of") ? " " : ", ", headline_of(vertex)));
    }
    return text;
  }

  void begin() {
    const bool alone = document_ == Document::file;
    if (alone) add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph-light\" role=\"img\" aria-label=\"",
        xml_escaped(name()), '"', attribute("width", width_), attribute("height", height_), " viewBox=\"0 0 ",
        px(width_), ' ', px(height_), "\" font-family=\"", font_family, "\" xml:space=\"preserve\">\n<title>",
        xml_escaped(name()), "</title>\n<desc>", view_.vertices.count(), " vertices, ", view_.edges.count(),
        " arrows, ", view_.frames.count(), " frames</desc>\n");
    if (alone) {
      add("<style>\n", style_sheet(view_.scale.has_value()), times_ ? motion_style(".graph-light") : "", "</style>\n");
    }
    add("<rect class=\"page\"", attribute("width", width_), attribute("height", height_), "/>\n");
  }

  GraphBox on_page(const GraphBox& box) const { return {box.left + left_, box.top + top_, box.width, box.height}; }

  void write_box(std::string_view kind, const GraphBox& box, double corner) {
    add("<rect class=\"", kind, '"', attribute("x", box.left), attribute("y", box.top), attribute("width", box.width),
        attribute("height", box.height), attribute("rx", corner), "/>");
  }

  // Lines below each other, with the middle of all of them at a point, or their start or end by an anchor's class.
  void write_lines(const std::vector<LabelLine>& lines, const GraphPoint& middle, std::string_view anchor = {}) {
    static constexpr std::array<std::string_view, 5> styles{"headline", "plain", "name", "number", "detail"};
    double y = middle.y;
    for (const LabelLine& line : lines) y -= line_height(line) / 2;
    for (const LabelLine& line : lines) {
      const double height = line_height(line);
      if (line[0].numbers) {
        add(numbers_in_svg(*line[0].numbers, {middle.x, y + height / 2}));
        y += height;
        continue;
      }
      add(anchor.empty() ? "<text" : str("<text class=\"", anchor, '"'), attribute("x", middle.x),
          attribute("y", y + height / 2 + 0.36 * (height - 3)), '>');
      double below = 0;  // the baseline of the last letters
      for (const LabelSpan& span : line) {
        const double shift = script_shift * letters_of({{}, span.style}).size;
        const double wanted = span.script == Script::below ? shift : span.script == Script::above ? -1.2 * shift : 0;
        add("<tspan class=\"", styles[static_cast<std::size_t>(span.style)], '"');
        if (wanted != below) add(attribute("dy", wanted - std::exchange(below, wanted)));
        const bool is_script = span.script != Script::none;
        add('>', is_script ? "<tspan class=\"script\">" : "", xml_escaped(span.text), is_script ? "</tspan>" : "",
            "</tspan>");
      }
      add("</text>");
      y += height;
    }
  }

  void write_frame(int c) {
    const GraphFrame& frame = view_.frames[c];
    add("<g id=\"c", c, "\"><title>", xml_escaped(frame.path), "</title>");
    write_box("frame", on_page(layout_.frames[c]), 9);
    add("</g>\n");
  }

  void write_title(int c) {
    const GraphBox box = on_page(layout_.titles[c]);
    add("<g id=\"t", c, "\" class=\"frame-title\">");
    write_lines({title_of(view_.frames[c])}, {box.left + title_inset, box.center().y}, "start");
    add("</g>\n");
  }

  void write_edge(int e) {
    const GraphEdge& edge = view_.edges[e];
    const GraphCurve& curve = layout_.edges[e];
    static constexpr std::array<std::string_view, 3> kinds{"value", "gradient", "borrowed"};
    static constexpr std::array<std::string_view, 3> flows{"", " indices", " mask"};
    add("<g id=\"e", e, "\" class=\"edge ", kinds[static_cast<std::size_t>(kind_of(view_, edge))],
        flows[static_cast<std::size_t>(edge.flow)]);
    std::string line;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const GraphPoint point = moved(curve.points[i], left_, top_);
      append(line, str(i == 0 ? "M" : i == 1 ? "C" : " ", px(point.x), ',', px(point.y)));
    }
    add("\" data-from=\"n", edge.from, "\" data-to=\"n", edge.to, "\"><title>", shape_text(edge.shape),
        "</title><path class=\"line\" d=\"", line);
    // The head: as long as from the end of the curve to the tip, and a third of that to each side.
    const GraphPoint base = moved(curve.points.empty() ? curve.tip : curve.points.back(), left_, top_),
                     tip = moved(curve.tip, left_, top_);
    const double x = (tip.x - base.x) / 2.6, y = (tip.y - base.y) / 2.6;
    add("\"/><path class=\"head\" d=\"M", px(tip.x), ',', px(tip.y), 'L', px(base.x - y), ',', px(base.y + x), ' ',
        px(base.x + y), ',', px(base.y - x), "Z\"/>");
    if (times_) {
      write_token("token", times_->values[edge.to] - times_->interval, line);
      const bool returns = edge.flow == GraphFlow::numbers && times_->gradients[edge.to] >= 0;
      if (returns) write_token("token back", times_->gradients[edge.from] - times_->interval, line);
    }
    add("</g>\n");
  }

  // The classes and the times of a moving vertex, within the attribute that has the other classes.
  void write_times(double value, double gradient) {
    if (value <= 0 && gradient < 0) return;
    add(value > 0 ? " moves" : "", gradient >= 0 ? " returns" : "", "\" style=\"");
    if (value > 0) add("--v:", hundredths(value), "s;");
    if (gradient >= 0) add("--g:", hundredths(gradient), "s;");
  }
  // The token that runs along an arrow.
  void write_token(std::string_view kind, double begin, std::string_view line) {
    if (begin < 0) return;
    add("<path class=\"", kind,
        "\" opacity=\"0\" d=\"M-4,0a4,4 0 1 1 8,0a4,4 0 1 1 -8,0Z\" style=\"--t:", hundredths(begin),
        "s;--d:", hundredths(times_->interval), "s;offset-path:path('", line, "')\"/>");
  }
  static std::string hundredths(double seconds) { return str(std::round(100 * seconds) / 100 + 0.0); }

  void write_vertex(int v) {
    const GraphVertex& vertex = view_.vertices[v];
    const GraphBox box = on_page(layout_.vertices[v]);
    add("<g id=\"n", v, "\" class=\"vertex ", role_name(vertex.role), " as-", look_of(vertex).name,
        vertex.is_result ? " asked" : "", heat_class(vertex));
    if (times_) write_times(times_->values[v], times_->gradients[v]);
    add("\"><title>");
    std::string_view separator;
    for (const std::string& line : tooltip_of(vertex)) add(std::exchange(separator, "\n"), xml_escaped(line));
    add("</title>");
    write_shape(vertex.constant ? GraphRole::constant : vertex.role, vertex.order, box);
    write_lines(label_of(vertex, options_), box.center());
    add("</g>\n");
  }

  // The outline of a role, and marks in it: roles can be told apart without colours.
  void write_shape(GraphRole role, int order, const GraphBox& box) {
    if (role == GraphRole::input) {
      add("<ellipse class=\"box\"", attribute("cx", box.center().x), attribute("cy", box.center().y),
          attribute("rx", box.width / 2), attribute("ry", box.height / 2), "/>");
      return;
    }
    const double pill = std::min(box.width, box.height) / 2;
    write_box("box", box, role == GraphRole::parameter ? 0 : role == GraphRole::constant ? pill : 7);
    std::string marks;
    if (role == GraphRole::parameter) {  // a filled corner
      append(marks, str('M', px(box.right() - 8), ',', px(box.top), "h8v8Z"));
    } else if (role == GraphRole::module) {  // double sides
      append(marks, str('M', px(box.left + 4), ',', px(box.top), 'v', px(box.height), 'M', px(box.right() - 4), ',',
                        px(box.top), 'v', px(box.height)));
    }
    for (int i = 0; role > GraphRole::constant && i < std::min(order, 2); ++i) {  // nablas
      append(marks, str('M', px(box.left + marks_inset(role)), ',', px(box.top + 4.5 + 7 * i), "h6l-3,5Z"));
    }
    if (!marks.empty()) add("<path class=\"mark\" d=\"", marks, "\"/>");
  }

  std::string heat_class(const GraphVertex& vertex) const {
    if (!view_.scale) return {};
    return vertex.totals.overlay ? str(" heat-", heat_of(*view_.scale, *vertex.totals.overlay)) : " cold";
  }

  void write_heading() {
    if (!options_.title.empty()) {
      add("<text", attribute("x", width_ / 2), attribute("y", margin + 14), "><tspan class=\"title\">",
          xml_escaped(options_.title), "</tspan></text>\n");
    }
    double top = margin + (options_.title.empty() ? 0 : title_height);
    for (const Indexed<Key>& row : legend_) {
      double width = -legend_gap;
      for (const Key& key : row) width += key.width + legend_gap;
      GraphBox box{(width_ - width) / 2, top, 0, 19};
      for (const Key& key : row) {
        box.width = key.width;
        key.look ? write_key(*key.look, box) : write_line_key(key, box);
        box.left = box.right() + legend_gap;
      }
      top += &row == &legend_.back() ? legend_height - 4 : legend_row;
    }
    if (scale_) write_scale(top);
  }

  // Has the colour of its text, not of details.
  void write_key(const Look& look, const GraphBox& box) {
    add("<g class=\"legend as-", look.name, look.paint == &Palette::result ? " asked" : "", view_.scale ? " cold" : "",
        "\">");
    write_shape(look.role, look.order, box);
    add("<text", attribute("x", box.center().x + (look.order > 0 ? 4 : 0)), attribute("y", box.center().y + 4), '>',
        look.in_legend, "</text></g>\n");
  }
  void write_line_key(const Key& key, const GraphBox& box) {
    const double y = box.center().y, end = box.left + legend_line - 6;
    add("<g class=\"legend edge ", key.line, "\"><path class=\"line\" d=\"M", px(box.left), ',', px(y), 'H',
        px(end - 6), "\"/><path class=\"head\" d=\"M", px(end), ',', px(y), "l-6,-2.4v4.8Z\"/><text class=\"start\"",
        attribute("x", end + 6), attribute("y", y + 4), '>', key.text, "</text></g>\n");
  }

  void write_scale(double top) {
    const double middle = top + 8;
    double left = (width_ - scale_width()) / 2 + width_of(scale_->first);
    write_lines({{{scale_->first, LetterStyle::detail}}}, {left, middle}, "end");
    left += legend_gap;
    for (std::size_t shade = 0; shade < palette_of(Theme::light).heat.size(); ++shade) {
      add("<g class=\"scale heat-", shade, "\">");
      write_box("box", {left, top, heat_width, 15}, 0);
      add("</g>\n");
      left += heat_width;
    }
    write_lines({{{scale_->second, LetterStyle::detail}}}, {left + legend_gap, middle}, "start");
  }

  const GraphView& view_;
  const GraphLayout layout_;
  const GraphOptions& options_;
  const Document document_;
  Indexed<Indexed<Key>> legend_;                              // in rows
  std::optional<std::pair<std::string, std::string>> scale_;  // the words around it
  std::optional<Timetable> times_;                            // of pictures that move
  double heading_ = 0;
  double width_ = 0, height_ = 0, left_ = 0, top_ = 0;  // of the page, and the position of the layout on it
  std::string out_;
};

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string shown = printable(text);
  if (shown.find_first_of("&<>\"'") == shown.npos) return shown;
  std::string result;
  for (const char c : shown) {
    append(result, c == '&'    ? "&amp;"
                   : c == '<'  ? "&lt;"
                   : c == '>'  ? "&gt;"
                   : c == '"'  ? "&quot;"
                   : c == '\'' ? "&#39;"
                               : std::string_view(&c, 1));
  }
  return result;
}

std::string svg_element(const GraphView& view, GraphOptions options) {
  options.title.clear();
  return SvgWriter(view, options, Document::element).write();
}

std::string svg_style() {
  return str(letters_and_colours(".graph-light", Theme::light, true),
             letters_and_colours(".graph-dark", Theme::dark, true));
}

}  // namespace detail

std::string to_svg(const GraphView& view, const GraphOptions& options) {
  return detail::SvgWriter(view, options, detail::Document::file).write();
}

}  // namespace xgrad
