// Diagrams as SVG.
#include "svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "../../base/error.h"
#include "../layout/arrangement.h"
#include "../view/label_size.h"
#include "../view/palette.h"

namespace xgrad {
namespace {

using namespace detail;

constexpr double margin = 18;

// Places on a page need no more than a tenth of a pixel.
std::string px(double value) { return cat(std::round(value * 10) / 10 + 0.0); }

std::string attribute(std::string_view name, double value) { return cat(' ', name, "=\"", px(value), '"'); }

GraphPoint moved(const GraphPoint& point, double x, double y) { return {point.x + x, point.y + y}; }

// ---- Colours --------------------------------------------------------------------------------------------------------

struct PaintClass {
  const char* name;
  PaintOf paint;
};
constexpr std::array<PaintClass, 12> paint_classes{{{"input", &Palette::input},
                                                    {"parameter", &Palette::parameter},
                                                    {"constant", &Palette::constant},
                                                    {"operation", &Palette::operation},
                                                    {"module", &Palette::module},
                                                    {"gradient", &Palette::gradient},
                                                    {"higher", &Palette::higher_gradient},
                                                    {"result", &Palette::result},
                                                    {"same", &Palette::same},
                                                    {"added", &Palette::added},
                                                    {"removed", &Palette::removed},
                                                    {"changed", &Palette::changed}}};

std::string_view class_of(PaintOf paint) { return std::ranges::find(paint_classes, paint, &PaintClass::paint)->name; }

// Every rule begins with a class of its own, so that pictures with different colours can stand in one page.
std::string colours(std::string_view scope, const Palette& palette, bool scaled) {
  std::string css;
  const auto rule = [&](std::string_view what, std::string_view property, std::string_view colour) {
    append(css, cat(scope, ' ', what, '{', property, ':', colour, "}\n"));
  };
  rule(".page", "fill", palette.background);
  rule("text", "fill", palette.text);
  rule(".frame", "fill", palette.frame);
  rule(".frame", "stroke", palette.frame_line);
  rule(".behind", "fill", palette.frame);
  rule(".line", "stroke", palette.edge);
  rule(".head", "fill", palette.edge);
  rule(".gradient .line", "stroke", palette.gradient_edge);
  rule(".gradient .head", "fill", palette.gradient_edge);
  rule(".borrowed .line", "stroke", palette.borrowed_edge);
  rule(".borrowed .head", "fill", palette.borrowed_edge);
  for (const auto& [name, paint] : paint_classes) {
    append(css, cat(scope, " .as-", name, " .box{fill:", (palette.*paint).fill, ";stroke:", (palette.*paint).line,
                    "}\n", scope, " .as-", name, " text{fill:", (palette.*paint).text, "}\n"));
  }
  rule(".edge .detail", "fill", palette.faint);
  rule(".frame-title .detail", "fill", palette.faint);
  rule(".added .line", "stroke", palette.added.line);
  rule(".added .head", "fill", palette.added.line);
  rule(".removed .line", "stroke", palette.removed.line);
  rule(".removed .head", "fill", palette.removed.line);
  if (!scaled) return css;
  rule(".cold .box", "fill", palette.background);
  for (std::size_t step = 0; step < palette.heat.size(); ++step) {
    rule(cat(".heat-", step, " .box"), "fill", palette.heat[step].fill);
    rule(cat(".heat-", step, " text"), "fill", palette.heat[step].text);
    rule(cat(".heat-", step, " .detail"), "fill-opacity", "1");
  }
  rule(".scale .box", "stroke", palette.frame_line);
  return css;
}

std::string letters_and_colours(Theme theme, bool scaled) {
  static constexpr std::array<std::string_view, 18> letters_and_lines{"text{font-size:11px;text-anchor:middle}",
                                                                      ".headline{font-size:13px;font-weight:bold}",
                                                                      ".plain{font-size:13px}",
                                                                      ".name{font-style:italic}",
                                                                      ".title{font-size:18px;font-weight:bold}",
                                                                      ".vertex .detail{fill-opacity:0.75}",
                                                                      ".start{text-anchor:start}",
                                                                      ".end{text-anchor:end}",
                                                                      ".box{stroke-width:1.1}",
                                                                      ".asked .box{stroke-width:2.2}",
                                                                      ".line{fill:none}",
                                                                      ".borrowed .line{stroke-dasharray:4 3}",
                                                                      ".indices .line{stroke-dasharray:1 3}",
                                                                      ".mask .line{stroke-dasharray:1 3}",
                                                                      ".dimmed{opacity:0.25}",
                                                                      ".as-added .box{stroke-width:2.2}",
                                                                      ".as-removed .box{stroke-dasharray:4 3}",
                                                                      ".removed .line{stroke-dasharray:4 3}"};
  const std::string scope = cat(".graph-", theme_name(theme));
  std::string css;
  for (const std::string_view rule : letters_and_lines) append(css, cat(scope, ' ', rule, '\n'));
  append(css, colours(scope, palette_of(theme), scaled));
  return css;
}

std::string style_sheet(Theme theme, bool scaled) {
  std::string css = letters_and_colours(theme, scaled);
  if (theme == Theme::light) {
    append(css, cat("@media (prefers-color-scheme:dark){\n", colours(".graph-light", palette_of(Theme::dark), scaled),
                    "}\n"));
  }
  return css;
}

enum class Standing { alone, in_page };

// ---- The picture ----------------------------------------------------------------------------------------------------

class SvgWriter {
 public:
  SvgWriter(const GraphView& view, const GraphLayout& layout, const GraphOptions& options, Standing standing)
      : view_(view),
        layout_(layout),
        options_(options),
        standing_(standing),
        arrangement_(view),
        legend_(legend_of(view)) {
    if (!options.legend) legend_.clear();
    title_width_ = text_width(printable(options.title), 18, FontWeight::bold);
    double legend_width = 0;
    for (const LegendEntry& entry : legend_) legend_width += width_of(entry) + legend_gap;
    legend_width_ = legend_width;
    if (view.scale && options.legend) scale_ = words_of_scale(view);
    heading_ = (options.title.empty() ? 0 : title_height) + (view.remark.empty() ? 0 : remark_height) +
               (legend_.empty() ? 0 : legend_height) + (scale_ ? scale_height : 0);
    width_ = std::max({layout.width, title_width_, legend_width_,
                       text_width(printable(view.remark), 13, FontWeight::regular), scale_ ? scale_width() : 0}) +
             2 * margin;
    height_ = layout.height + heading_ + 2 * margin;
    left_ = (width_ - layout.width) / 2;
    top_ = margin + heading_;
  }

  std::string write() && {
    begin();
    for (std::size_t c = 0; c < view_.frames.size(); ++c) write_frame(c);
    for (std::size_t e = 0; e < view_.edges.size(); ++e) write_edge(e);
    for (std::size_t c = 0; c < view_.frames.size(); ++c) write_title(c);
    for (std::size_t v = 0; v < view_.vertices.size(); ++v) write_vertex(v);
    write_heading();
    append(out_, "</svg>\n");
    return std::move(out_);
  }

 private:
  static constexpr double title_height = 30, remark_height = 22, legend_height = 32, scale_height = 28;
  static constexpr double legend_gap = 8;
  static constexpr double heat_width = 18;
  static constexpr double title_inset = 5;

  static LabelLine words(const LegendEntry& entry) { return {{std::string(entry.text), LetterStyle::detail}}; }
  static double width_of(const LegendEntry& entry) { return line_width(words(entry)) + 14; }
  static double width_of(const std::string& words) { return line_width({{words, LetterStyle::detail}}); }
  double scale_width() const {
    return width_of(scale_->before) + width_of(scale_->behind) + 2 * legend_gap +
           heat_width * static_cast<double>(palette_of(options_.theme).heat.size());
  }

  template <class... Parts>
  void add(const Parts&... parts) {
    (append(out_, parts), ...);
  }

  // What a screen reader says in place of the picture.
  std::string name() const {
    if (!options_.title.empty()) return options_.title;
    std::string text = "The graph of";
    for (const GraphVertex& vertex : view_.vertices) {
      if (vertex.is_result) append(text, cat(text.ends_with("of") ? " " : ", ", label_of(vertex, options_)[0][0].text));
    }
    return text;
  }
  std::string description() const {
    return cat(view_.vertices.size(), " vertices, ", view_.edges.size(), " arrows, ", view_.frames.size(), " frames",
               view_.remark.empty() ? "" : "; ", xml_escaped(view_.remark));
  }

  void begin() {
    const bool alone = standing_ == Standing::alone;
    if (alone) add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"graph-", theme_name(options_.theme),
        "\" role=\"img\" aria-label=\"", xml_escaped(name()), '"', attribute("width", width_),
        attribute("height", height_), " viewBox=\"0 0 ", px(width_), ' ', px(height_), "\" font-family=\"",
        xml_escaped(options_.font), "\" xml:space=\"preserve\">\n<title>", xml_escaped(name()), "</title>\n<desc>",
        description(), "</desc>\n");
    if (alone) add("<style>\n", style_sheet(options_.theme, view_.scale.has_value()), "</style>\n");
    add("<rect class=\"page\"", attribute("width", width_), attribute("height", height_), "/>\n");
  }

  GraphBox placed(const GraphBox& box) const { return {box.left + left_, box.top + top_, box.width, box.height}; }

  void write_box(std::string_view kind, const GraphBox& box, double corner, std::string_view style = {}) {
    add("<rect class=\"", kind, '"', style, attribute("x", box.left), attribute("y", box.top),
        attribute("width", box.width), attribute("height", box.height), attribute("rx", corner), "/>");
  }

  // Lines below each other, the middle of all of them at a point, or their beginning or end by an anchor's class; in a
  // colour of their own, or in that of what they belong to.
  void write_lines(const std::vector<LabelLine>& lines, const GraphPoint& middle, std::string_view anchor = {},
                   const std::optional<Rgb>& colour = {}) {
    double y = middle.y;
    for (const LabelLine& line : lines) y -= line_height(line) / 2;
    for (const LabelLine& line : lines) {
      const double height = line_height(line);
      add(anchor.empty() ? "<text" : cat("<text class=\"", anchor, '"'), attribute("x", middle.x),
          attribute("y", y + height / 2 + 0.36 * (height - 3)), colour ? cat(" style=\"fill:", hex(*colour), '"') : "",
          '>');
      for (const LabelRun& run : line) {
        add("<tspan class=\"", style_name(run.style), "\">", xml_escaped(run.text), "</tspan>");
      }
      add("</text>");
      y += height;
    }
  }

  void write_frame(std::size_t c) {
    const GraphFrame& frame = view_.frames[c];
    add("<g id=\"c", c, "\"><title>", xml_escaped(frame.path), "</title>");
    write_box("frame", placed(layout_.frames[c]), 9);
    add("</g>\n");
  }

  // At the left or the right end of the frame's upper side, where fewer arrows pass; those that do pass behind it.
  void write_title(std::size_t c) {
    const GraphBox& frame = layout_.frames[c];
    const GraphBox& room = layout_.titles[c];
    const GraphBox left{frame.left + 6, room.top, room.width, room.height};
    const GraphBox right{frame.right() - room.width - 6, room.top, room.width, room.height};
    const std::size_t on_the_left = passing(left), on_the_right = passing(right);
    const bool is_left = on_the_left <= on_the_right;
    const GraphBox box = placed(is_left ? left : right);
    add("<g id=\"t", c, "\" class=\"frame-title\">");
    if (std::min(on_the_left, on_the_right) > 0) write_box("behind", box, 4);
    const GraphPoint at{is_left ? box.left + title_inset : box.right() - title_inset, box.center().y};
    write_lines({title_of(view_.frames[c])}, at, is_left ? "start" : "end");
    add("</g>\n");
  }

  // Points of arrows within a box.
  std::size_t passing(const GraphBox& box) const {
    const auto inside = [&](double x, double y) {
      return x > box.left - 3 && x < box.right() + 3 && y > box.top && y < box.bottom();
    };
    std::size_t count = 0;
    for (const GraphCurve& curve : layout_.edges) {
      const std::vector<GraphPoint>& p = curve.points;
      count += inside(curve.tip.x, curve.tip.y);
      for (std::size_t i = 0; i + 3 < p.size(); i += 3) {
        const auto [low, high] = std::minmax({p[i].y, p[i + 1].y, p[i + 2].y, p[i + 3].y});
        if (low > box.bottom() || high < box.top) continue;
        constexpr int steps = 16;
        for (int k = 0; k <= steps; ++k) {
          const double t = double(k) / steps, s = 1 - t;
          const double a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
          count += inside(a * p[i].x + b * p[i + 1].x + c * p[i + 2].x + d * p[i + 3].x,
                          a * p[i].y + b * p[i + 1].y + c * p[i + 2].y + d * p[i + 3].y);
        }
      }
    }
    return count;
  }

  void write_edge(std::size_t e) {
    const GraphEdge& edge = view_.edges[e];
    const GraphCurve& curve = layout_.edges[e];
    static constexpr std::array<std::string_view, 3> kinds{"value", "gradient", "borrowed"};
    static constexpr std::array<std::string_view, 3> flows{"", " indices", " mask"};
    add("<g id=\"e", e, "\" class=\"edge ", kinds[static_cast<int>(arrangement_.kind_of(edge))],
        flows[static_cast<int>(edge.flow)], edge.dimmed ? " dimmed" : "",
        edge.change == GraphChange::added     ? " added"
        : edge.change == GraphChange::removed ? " removed"
                                              : "",
        "\" data-from=\"n", edge.from, "\" data-to=\"n", edge.to, "\"><title>", shape_text(edge.shape),
        "</title><path class=\"line\" d=\"");
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const GraphPoint point = moved(curve.points[i], left_, top_);
      add(i == 0 ? "M" : i == 1 ? "C" : " ", px(point.x), ',', px(point.y));
    }
    // The head: as long as from the end of the curve to the tip, and a third of that to each side.
    const GraphPoint base = moved(curve.points.empty() ? curve.tip : curve.points.back(), left_, top_),
                     tip = moved(curve.tip, left_, top_);
    const double x = (tip.x - base.x) / 2.6, y = (tip.y - base.y) / 2.6;
    add("\"/><path class=\"head\" d=\"M", px(tip.x), ',', px(tip.y), 'L', px(base.x - y), ',', px(base.y + x), ' ',
        px(base.x + y), ',', px(base.y - x), "Z\"/>");
    if (options_.edge_shapes) {
      write_lines({{{shape_text(edge.shape), LetterStyle::detail}}}, moved(curve.label, left_, top_));
    }
    add("</g>\n");
  }

  void write_vertex(std::size_t v) {
    const GraphVertex& vertex = view_.vertices[v];
    const GraphBox box = placed(layout_.vertices[v]);
    add("<g id=\"n", v, "\" class=\"vertex ", role_name(vertex.role), " as-", class_of(paint_of(vertex)),
        vertex.is_result ? " asked" : "", vertex.dimmed ? " dimmed" : "", heat_class(vertex), "\"><title>",
        xml_escaped(tooltip_of(vertex)));
    for (const std::string* equation : {&vertex.formula, &vertex.derivative}) {
      if (!equation->empty()) add('\n', xml_escaped(*equation));
    }
    add("</title>");
    const std::string style = style_of(vertex.colours);
    if (vertex.role == GraphRole::input) {
      add("<ellipse class=\"box\"", style, attribute("cx", box.center().x), attribute("cy", box.center().y),
          attribute("rx", box.width / 2), attribute("ry", box.height / 2), "/>");
    } else {
      write_box("box", box, vertex.number ? 5 : 7, style);
    }
    write_lines(label_of(vertex, options_), box.center(), {}, vertex.colours.text);
    add("</g>\n");
  }

  std::string heat_class(const GraphVertex& vertex) const {
    if (!view_.scale) return {};
    return vertex.overlay ? cat(" heat-", heat_of(*view_.scale, *vertex.overlay)) : " cold";
  }
  static std::string style_of(const ChosenColours& colours) {
    std::string css;
    if (colours.fill) append(css, cat("fill:", hex(*colours.fill), ';'));
    if (colours.line) append(css, cat("stroke:", hex(*colours.line), ';'));
    return css.empty() ? css : cat(" style=\"", css, '"');
  }

  void write_heading() {
    if (!options_.title.empty()) {
      add("<text", attribute("x", width_ / 2), attribute("y", margin + 14), "><tspan class=\"title\">",
          xml_escaped(options_.title), "</tspan></text>\n");
    }
    double top = margin + (options_.title.empty() ? 0 : title_height);
    if (!view_.remark.empty()) {
      write_lines({{{view_.remark, LetterStyle::plain}}}, {width_ / 2, top + remark_height / 2 - 4});
      top += remark_height;
    }
    GraphBox box{(width_ - legend_width_ + legend_gap) / 2, top, 0, 19};
    for (const LegendEntry& entry : legend_) {
      box.width = width_of(entry);
      add("<g class=\"legend as-", class_of(entry.paint), view_.scale ? " cold" : "", "\">");
      write_box("box", box, 6);
      // The colour of its text, not of details.
      add("<text", attribute("x", box.center().x), attribute("y", box.center().y + 4), '>', entry.text,
          "</text></g>\n");
      box.left = box.right() + legend_gap;
    }
    if (scale_) write_scale(legend_.empty() ? top : top + legend_height - 4);
  }

  void write_scale(double top) {
    const double middle = top + 8;
    double left = (width_ - scale_width()) / 2 + width_of(scale_->before);
    write_lines({{{scale_->before, LetterStyle::detail}}}, {left, middle}, "end");
    left += legend_gap;
    for (std::size_t step = 0; step < palette_of(options_.theme).heat.size(); ++step) {
      add("<g class=\"scale heat-", step, "\">");
      write_box("box", {left, top, heat_width, 15}, 0);
      add("</g>\n");
      left += heat_width;
    }
    write_lines({{{scale_->behind, LetterStyle::detail}}}, {left + legend_gap, middle}, "start");
  }

  const GraphView& view_;
  const GraphLayout& layout_;
  const GraphOptions& options_;
  const Standing standing_;
  const Arrangement arrangement_;
  std::vector<LegendEntry> legend_;
  std::optional<ScaleWords> scale_;
  double title_width_ = 0, legend_width_ = 0, heading_ = 0;
  double width_ = 0, height_ = 0, left_ = 0, top_ = 0;  // of the page, and where the layout lies on it
  std::string out_;
};

std::string svg_of(const GraphView& view, const GraphLayout& layout, const GraphOptions& options, Standing standing) {
  const auto needs = [](std::string_view what, std::size_t in_layout, std::size_t in_view) {
    if (in_layout == in_view) return;
    fail<ValueError>("to_svg", "the layout is of another view: it has ", in_layout, ' ', what, ", the view has ",
                     in_view);
  };
  needs("vertices", layout.vertices.size(), view.vertices.size());
  needs("edges", layout.edges.size(), view.edges.size());
  needs("frames", layout.frames.size(), view.frames.size());
  needs("titles", layout.titles.size(), view.frames.size());
  return SvgWriter(view, layout, options, standing).write();
}

}  // namespace

std::string to_svg(const GraphView& view, const GraphLayout& layout, const GraphOptions& options) {
  return svg_of(view, layout, options, Standing::alone);
}

std::string detail::svg_element(const GraphView& view, const GraphLayout& layout, GraphOptions options) {
  options.title.clear();
  return svg_of(view, layout, options, Standing::in_page);
}

std::string detail::svg_style(Theme theme) { return letters_and_colours(theme, true); }

}  // namespace xgrad
