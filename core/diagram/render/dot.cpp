// Diagrams in Graphviz's DOT language.
#include "dot.h"

#include <algorithm>
#include <array>
#include <utility>

#include "../../base/error.h"
#include "../view/colours.h"
#include "../view/labels.h"
#include "../view/order.h"
#include "program.h"

namespace xgrad {
namespace detail {
namespace {

// Both kinds of labels read &...; as a character.
std::string dot_escaped(std::string_view text, std::string_view with_backslash) {
  const std::string shown = printable(text);
  if (shown.find_first_of("&<>\"\\") == shown.npos) return shown;
  std::string result;
  for (const char c : shown) {
    if (with_backslash.find(c) != with_backslash.npos) result += '\\';
    append(result, c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string_view(&c, 1));
  }
  return result;
}
std::string in_quotes(std::string_view text) { return str('"', dot_escaped(text, "\"\\"), '"'); }
std::string tooltip_in_quotes(const GraphVertex& vertex) {
  std::string text = str('"', dot_escaped(tooltip_of(vertex), "\"\\"));
  for (const std::string* equation : {&vertex.text.formula, &vertex.text.derivative}) {
    if (equation->empty()) continue;
    text += "\\n";
    text += dot_escaped(*equation, "\"\\");
  }
  text += '"';
  return text;
}
std::string in_html(std::string_view text) {
  if (text.empty()) return "&#160;";
  // After ]] Graphviz expects a >.
  if (text == "]" || text == "]]") return text.size() == 1 ? "&#93;" : "&#93;&#93;";
  return dot_escaped(text, "");
}

class DotWriter {
 public:
  DotWriter(const GraphView& view, const GraphOptions& options)
      : view_(view),
        options_(options),
        palette_(palette_of(Theme::light)),
        runs_up_again_(runs_up_again(view)),
        vertices_in_(view.frames.size() + 1) {
    for (int v = 0; std::cmp_less(v, view.vertices.size()); ++v) {
      vertices_in_[view.vertices[v].frame + 1].push_back(v);
    }
  }

  std::string write() && {
    line(0, "digraph xgrad {");
    begin();
    content_of(nothing, 1);
    for (const GraphEdge& edge : view_.edges) write_edge(edge);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void line(int depth, const Parts&... parts) {
    out_.append(2 * depth, ' ');
    (append(out_, parts), ...);
    out_ += '\n';
  }

  std::string html(const LabelRun& run, std::string_view detail) const {
    const std::string_view tag = run.script == Script::below ? "sub>" : run.script == Script::above ? "sup>" : "";
    const std::string text =
        tag.empty() ? in_html(run.text) : str("<font point-size=\"7\"><", tag, in_html(run.text), "</", tag, "</font>");
    switch (run.style) {
      case LetterStyle::headline:
        return str("<b>", text, "</b>");
      case LetterStyle::name:
        return str("<font point-size=\"10\"><i>", text, "</i></font>");
      case LetterStyle::detail:
        return str("<font point-size=\"9\" color=\"", detail, "\">", text, "</font>");
      default:
        return text;
    }
  }
  std::string html(const LabelLine& line, std::string_view detail) const {
    std::string text;
    for (const LabelRun& run : line) append(text, html(run, detail));
    return text;
  }

  void begin() {
    const std::string font = in_quotes(font_family);
    const bool sideways = options_.direction == Direction::left_to_right;
    line(1, "graph [rankdir=", sideways ? "LR" : "TB", ", bgcolor=\"", palette_.background, "\", fontname=", font,
         ", fontsize=12, fontcolor=\"", palette_.text,
         "\", nodesep=0.22, ranksep=0.32, pad=0.3, labelloc=t, newrank=true];");
    line(1, "node [shape=box, style=\"rounded,filled\", fontname=", font,
         ", fontsize=12, margin=\"0.13,0.06\", width=0.4, height=0.3, penwidth=1.1];");
    line(1, "edge [color=\"", palette_.edge, "\", arrowsize=0.55, penwidth=0.9];");
    const std::string head = heading();
    if (!head.empty()) line(1, "label=<", head, ">;");
  }

  // Title and legend, in the label of the drawing, where they cannot disturb the layout.
  std::string heading() const {
    std::string rows;
    if (!options_.title.empty()) {
      append(rows, str("<tr><td><font point-size=\"17\"><b>", in_html(options_.title), "</b></font></td></tr>"));
    }
    if (options_.legend) append(rows, str("<tr><td>", legend(), "</td></tr>"));
    if (options_.legend && view_.scale) append(rows, str("<tr><td>", scale(), "</td></tr>"));
    if (rows.empty()) return {};
    return str("<table border=\"0\" cellborder=\"0\" cellspacing=\"6\" cellpadding=\"2\">", rows, "</table>");
  }

  std::string legend() const {
    std::string cells;
    for (const LegendEntry& entry : legend_of(view_)) {
      const Paint& paint = palette_.*entry.paint;
      append(cells, str("<td border=\"1\" style=\"rounded\" bgcolor=\"", view_.scale ? palette_.background : paint.fill,
                        "\" color=\"", paint.line, "\"><font point-size=\"9\" color=\"", paint.text, "\"> ", entry.text,
                        " </font></td>"));
    }
    return str("<table border=\"0\" cellborder=\"0\" cellspacing=\"4\" cellpadding=\"3\"><tr>", cells, "</tr></table>");
  }

  std::string scale() const {
    const auto [before, after] = words_of_scale(view_);
    const auto words = [](std::string_view text) {
      return str("<td><font point-size=\"9\">", in_html(text), "</font></td>");
    };
    std::string cells = words(before);
    for (const Paint& heat : palette_.heat) {
      append(cells, str("<td border=\"1\" width=\"16\" bgcolor=\"", heat.fill, "\" color=\"", palette_.frame_line,
                        "\"></td>"));
    }
    return str("<table border=\"0\" cellborder=\"0\" cellspacing=\"1\" cellpadding=\"3\"><tr>", cells, words(after),
               "</tr></table>");
  }

  void content_of(int frame, int depth) {
    for (const int v : vertices_in_[frame + 1]) write_vertex(v, depth);
    for (int c = 0; std::cmp_less(c, view_.frames.size()); ++c) {
      if (view_.frames[c].parent != frame) continue;
      line(depth, "subgraph cluster_", c, " {");
      line(depth + 1, "graph [style=\"rounded,filled\", fillcolor=\"", palette_.frame, "\", color=\"",
           palette_.frame_line, "\", labeljust=l, fontsize=11, margin=10, label=<<table border=\"0\" ",
           "cellborder=\"0\" cellpadding=\"2\"><tr><td>", html(title_of(view_.frames[c]), palette_.faint),
           "</td></tr></table>>];");
      content_of(c, depth + 1);
      line(depth, "}");
    }
  }

  void write_vertex(int v, int depth) {
    const GraphVertex& vertex = view_.vertices[v];
    const Paint& paint = palette_.*paint_of(vertex);
    const bool has_heat = view_.scale && vertex.totals.overlay;  // a number on the scale, which the fill shows
    const Paint& heat = has_heat ? palette_.heat[heat_of(*view_.scale, *vertex.totals.overlay)] : paint;
    std::string label;
    for (const LabelLine& words : label_of(vertex, options_)) {
      append(label, str(label.empty() ? "" : "<br/>", html(words, has_heat ? heat.text : palette_.faint)));
    }
    line(depth, "n", v, " [id=n", v, ", class=", role_name(vertex.role), ", label=<", label, ">, fillcolor=\"",
         view_.scale && !has_heat ? palette_.background : heat.fill, "\", color=\"", paint.line, "\", fontcolor=\"",
         heat.text, "\"", vertex.constant ? ", width=0.3, height=0.24, margin=\"0.08,0.02\", fontsize=10" : "",
         vertex.is_result ? ", penwidth=2" : "", ", tooltip=", tooltip_in_quotes(vertex),
         vertex.role == GraphRole::input ? ", shape=ellipse" : "", "];");
  }

  void write_edge(const GraphEdge& edge) {
    const EdgeKind kind = kind_of(view_, edge);
    const bool upwards = runs_up_again_ && kind == EdgeKind::gradient;
    std::string attributes;
    if (kind == EdgeKind::borrowed) append(attributes, str(", style=dashed, color=\"", palette_.borrowed_edge, "\""));
    if (kind == EdgeKind::gradient) append(attributes, str(", color=\"", palette_.gradient_edge, "\""));
    if (edge.flow != GraphFlow::numbers) append(attributes, ", style=dotted");
    if (upwards) append(attributes, ", dir=back");
    if (runs_up_again_ && kind == EdgeKind::borrowed) {
      append(attributes, view_.vertices[edge.to].rule_of >= 0 ? ", constraint=false" : ", minlen=0");
    }
    if (!attributes.empty()) attributes = str(" [", std::string_view(attributes).substr(2), "]");
    line(1, "n", upwards ? edge.to : edge.from, " -> n", upwards ? edge.from : edge.to, attributes, ";");
  }

  const GraphView& view_;
  const GraphOptions& options_;
  const Palette& palette_;
  const bool runs_up_again_;
  std::vector<std::vector<int>> vertices_in_;  // by number of the frame; at the front those in none
  std::string out_;
};

}  // namespace
}  // namespace detail

std::string to_dot(const GraphView& view, const GraphOptions& options) {
  return detail::DotWriter(view, options).write();
}

std::string detail::drawn_by_graphviz(const GraphView& view, const GraphOptions& options, std::string_view format,
                                      std::string_view caller) {
  static constexpr std::array programs{"dot", "neato", "fdp", "sfdp", "circo", "twopi", "osage", "patchwork"};
  if (std::ranges::find(programs, std::string_view(options.layout)) == programs.end()) {
    fail<ValueError>(caller, "the layout '", printable(options.layout), "' is none of dot, neato, fdp, sfdp, circo, ",
                     "twopi, osage, patchwork, the programs of Graphviz");
  }
  ProgramResult result = run_program({options.layout, str("-T", format)}, to_dot(view, options), caller);
  if (!result.is_there) fail<IoError>(caller, result.failure, ": install the package graphviz, or leave out .layout");
  if (!result.failure.empty()) {
    fail<IoError>(caller, result.failure, " on ", view.vertices.size(), " vertices and ", view.edges.size(), " arrows");
  }
  return std::move(result.output);
}

}  // namespace xgrad
