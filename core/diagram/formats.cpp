// Diagrams as text: Graphviz's language, and a table.
#include "formats.h"

#include <array>
#include <charconv>

namespace xgrad {
namespace {

// ---- Text from outside ----------------------------------------------------------------------------------------------

// The length of the well-formed UTF-8 sequence at the beginning of `text`; 0 if there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool outside = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
  const bool no_character = lead == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE;
  return overlong || outside || no_character ? 0 : length;
}

using detail::printable;

// Both kinds of labels read &...; as a character.
std::string escaped(std::string_view text, std::string_view with_backslash) {
  std::string result;
  for (const char c : printable(text)) {
    if (with_backslash.find(c) != with_backslash.npos) result += '\\';
    append(result, c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string_view(&c, 1));
  }
  return result;
}
std::string in_quotes(std::string_view text) { return cat('"', escaped(text, "\"\\"), '"'); }
std::string in_html(std::string_view text) { return text.empty() ? "&#160;" : escaped(text, ""); }

// ---- What is written at a vertex ------------------------------------------------------------------------------------

std::string short_number(double value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 6).ptr};
}

std::string with_commas(std::int64_t count) {
  std::string digits = cat(count);
  for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3) digits.insert(digits.begin() + i, ',');
  return digits;
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
  return cat(short_number(amount), ' ', units[unit]);
}

std::string counted(std::int64_t count, std::string_view noun) {
  return cat(with_commas(count), ' ', noun, count == 1 ? "" : "s");
}

std::string shape_text(const Shape& shape) { return shape.rank() == 0 ? "scalar" : cat(shape); }

std::string_view role_name(GraphRole role) {
  static constexpr std::array<std::string_view, 7> names{"input",    "parameter", "constant", "operation",
                                                         "gradient", "seed",      "module"};
  return names[static_cast<int>(role)];
}

std::string full_name(const GraphVertex& vertex) {
  return cat(vertex.path, vertex.path.empty() || vertex.name.empty() ? "" : ".", vertex.name);
}

// What the vertex is called, in large letters.
std::string headline(const GraphVertex& vertex) {
  if (is_operation(vertex) || vertex.role == GraphRole::module) return vertex.op;
  if (vertex.number) return short_number(*vertex.number);
  return vertex.name.empty() ? std::string(role_name(vertex.role)) : vertex.name;
}

// The smaller lines below it.
std::vector<std::string> details(const GraphVertex& vertex, const GraphOptions& options) {
  std::vector<std::string> lines;
  std::string said;
  for (const auto& [name, value] : vertex.attributes) {
    append(said, cat(said.empty() ? "" : ", ", name, value.empty() ? "" : " ", value));
  }
  if (!said.empty()) lines.push_back(said);
  if (vertex.role == GraphRole::module) {
    if (!vertex.what.empty()) lines.push_back(vertex.what);
    const std::string_view each = vertex.times > 1 ? " each" : "";
    lines.push_back(cat(counted(vertex.operations, "operation"), each));
    if (vertex.parameters > 0) lines.push_back(cat(counted(vertex.parameters, "parameter"), each));
    if (vertex.order > 0 && vertex.results > 0) lines.push_back(cat(counted(vertex.results, "gradient"), each));
  }
  if (options.shapes && vertex.shape && !vertex.number) lines.push_back(shape_text(*vertex.shape));
  if (options.kept_memory && vertex.kept_bytes > 0) lines.push_back(cat("keeps ", bytes_text(vertex.kept_bytes)));
  if (!vertex.note.empty()) lines.push_back(vertex.note);
  return lines;
}

// ---- Graphviz's language --------------------------------------------------------------------------------------------

struct Paint {
  const char* fill;
  const char* line;
  const char* text;
};

struct Palette {
  const char* background;
  const char* text;
  const char* faint;  ///< details, edges
  const char* frame;
  const char* frame_line;
  Paint input, parameter, constant, operation, gradient, higher_gradient, result, module;
  const char* edge;
  const char* gradient_edge;
  const char* borrowed_edge;  ///< from a pass to a later one that uses its values
};

const Palette& palette_of(Theme theme) {
  static constexpr Palette light{.background = "#ffffff",
                                 .text = "#0f172a",
                                 .faint = "#64748b",
                                 .frame = "#f8fafc",
                                 .frame_line = "#cbd5e1",
                                 .input = {"#dbeafe", "#60a5fa", "#1e3a8a"},
                                 .parameter = {"#fef3c7", "#f0b429", "#78350f"},
                                 .constant = {"#f1f5f9", "#cbd5e1", "#475569"},
                                 .operation = {"#ffffff", "#94a3b8", "#0f172a"},
                                 .gradient = {"#ffe4e6", "#fb7185", "#881337"},
                                 .higher_gradient = {"#f3e8ff", "#c084fc", "#581c87"},
                                 .result = {"#dcfce7", "#22a55b", "#14532d"},
                                 .module = {"#e0e7ff", "#818cf8", "#312e81"},
                                 .edge = "#64748b",
                                 .gradient_edge = "#e0566f",
                                 .borrowed_edge = "#eb9cab"};
  static constexpr Palette dark{.background = "#0f172a",
                                .text = "#f1f5f9",
                                .faint = "#94a3b8",
                                .frame = "#162033",
                                .frame_line = "#334155",
                                .input = {"#1e3a8a", "#60a5fa", "#dbeafe"},
                                .parameter = {"#5b3a0c", "#f0b429", "#fef3c7"},
                                .constant = {"#1e293b", "#475569", "#cbd5e1"},
                                .operation = {"#1e293b", "#64748b", "#f1f5f9"},
                                .gradient = {"#701a35", "#fb7185", "#ffe4e6"},
                                .higher_gradient = {"#4c1d7c", "#c084fc", "#f3e8ff"},
                                .result = {"#14532d", "#4ade80", "#dcfce7"},
                                .module = {"#312e81", "#818cf8", "#e0e7ff"},
                                .edge = "#94a3b8",
                                .gradient_edge = "#fb7185",
                                .borrowed_edge = "#a34a60"};
  static constexpr Palette mono{.background = "#ffffff",
                                .text = "#000000",
                                .faint = "#444444",
                                .frame = "#ffffff",
                                .frame_line = "#888888",
                                .input = {"#ffffff", "#000000", "#000000"},
                                .parameter = {"#dddddd", "#000000", "#000000"},
                                .constant = {"#ffffff", "#888888", "#000000"},
                                .operation = {"#ffffff", "#000000", "#000000"},
                                .gradient = {"#f2f2f2", "#000000", "#000000"},
                                .higher_gradient = {"#e6e6e6", "#000000", "#000000"},
                                .result = {"#ffffff", "#000000", "#000000"},
                                .module = {"#eeeeee", "#000000", "#000000"},
                                .edge = "#444444",
                                .gradient_edge = "#444444",
                                .borrowed_edge = "#777777"};
  return theme == Theme::dark ? dark : theme == Theme::mono ? mono : light;
}

class DotWriter {
 public:
  DotWriter(const GraphView& view, const GraphOptions& options)
      : view_(view), options_(options), palette_(palette_of(options.theme)), contents_(view.clusters.size() + 1) {
    for (std::size_t v = 0; v < view.vertices.size(); ++v) {
      highest_order_ = std::max(highest_order_, view.vertices[v].order);
      contents_[view.vertices[v].cluster + 1].vertices.push_back(v);
    }
    for (std::size_t c = 0; c < view.clusters.size(); ++c) {
      contents_[view.clusters[c].parent + 1].clusters.push_back(static_cast<int>(c));
    }
  }

  std::string write() && {
    begin();
    content_of(-1, 1);
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

  const Paint& paint_of(const GraphVertex& vertex) const {
    static constexpr std::array<Paint Palette::*, 7> paints{
        &Palette::input,    &Palette::parameter, &Palette::constant, &Palette::operation,
        &Palette::gradient, &Palette::gradient,  &Palette::module};
    const bool leaf = vertex.role == GraphRole::parameter || vertex.role == GraphRole::input;
    if (vertex.is_result && !leaf) return palette_.result;
    if (vertex.order > 0 &&
        (is_operation(vertex) || vertex.role == GraphRole::module || vertex.role == GraphRole::seed)) {
      return vertex.order > 1 ? palette_.higher_gradient : palette_.gradient;
    }
    return palette_.*paints[static_cast<int>(vertex.role)];
  }

  std::string small(std::string_view html) const {
    return cat("<font point-size=\"9\" color=\"", palette_.faint, "\">", html, "</font>");
  }

  void begin() {
    static constexpr std::array directions{"TB", "LR", "BT", "RL"};
    const std::string font = in_quotes(options_.font);
    line(0, "digraph xgrad {");
    line(1, "graph [rankdir=", directions[static_cast<int>(options_.direction)], ", bgcolor=\"", palette_.background,
         "\", fontname=", font, ", fontsize=12, fontcolor=\"", palette_.text,
         "\", nodesep=0.22, ranksep=0.32, pad=0.3, labelloc=t, newrank=true];");
    line(1, "node [shape=box, style=\"rounded,filled\", fontname=", font,
         ", fontsize=12, margin=\"0.13,0.06\", width=0.4, height=0.3, penwidth=1.1];");
    line(1, "edge [fontname=", font, ", fontsize=8, fontcolor=\"", palette_.faint, "\", color=\"", palette_.edge,
         "\", arrowsize=0.55, penwidth=0.9];");
    const std::string head = heading();
    if (!head.empty()) line(1, "label=<", head, ">;");
  }

  // Title and legend, as the label of the whole drawing, where they cannot disturb the layout.
  std::string heading() const {
    std::string rows;
    if (!options_.title.empty()) {
      append(rows, cat("<tr><td><font point-size=\"17\"><b>", in_html(options_.title), "</b></font></td></tr>"));
    }
    if (options_.legend) append(rows, cat("<tr><td>", legend(), "</td></tr>"));
    if (rows.empty()) return {};
    return cat("<table border=\"0\" cellborder=\"0\" cellspacing=\"6\" cellpadding=\"2\">", rows, "</table>");
  }

  std::string legend() const {
    struct Entry {
      const char* text;
      const Paint& paint;
      bool present = false;
    };
    std::array<Entry, 8> entries{{{"input", palette_.input},
                                  {"parameter", palette_.parameter},
                                  {"constant", palette_.constant},
                                  {"operation", palette_.operation},
                                  {"module", palette_.module},
                                  {"result", palette_.result},
                                  {"gradient", palette_.gradient},
                                  {"higher gradient", palette_.higher_gradient}}};
    for (const GraphVertex& vertex : view_.vertices) {
      for (Entry& entry : entries) entry.present |= &entry.paint == &paint_of(vertex);
    }
    const bool in_modules = std::ranges::any_of(view_.vertices, [](const GraphVertex& vertex) {
      return vertex.role == GraphRole::parameter && !vertex.path.empty();
    });
    if (!in_modules) entries[1].text = "variable";
    std::string cells;
    for (const Entry& entry : entries) {
      if (!entry.present) continue;
      append(cells,
             cat("<td border=\"1\" style=\"rounded\" bgcolor=\"", entry.paint.fill, "\" color=\"", entry.paint.line,
                 "\"><font point-size=\"9\" color=\"", entry.paint.text, "\"> ", entry.text, " </font></td>"));
    }
    return cat("<table border=\"0\" cellborder=\"0\" cellspacing=\"4\" cellpadding=\"3\"><tr>", cells, "</tr></table>");
  }

  void content_of(int cluster, int depth) {
    const Content& content = contents_[cluster + 1];
    for (const std::size_t v : content.vertices) write_vertex(v, depth);
    for (const int c : content.clusters) {
      line(depth, "subgraph cluster_", c, " {");
      line(depth + 1, "graph [style=\"rounded,filled\", fillcolor=\"", palette_.frame, "\", color=\"",
           palette_.frame_line, "\", labeljust=l, fontsize=11, margin=10, label=<", title_of(view_.clusters[c]), ">];");
      content_of(c, depth + 1);
      line(depth, "}");
    }
  }

  std::string title_of(const GraphCluster& cluster) const {
    return cat("<table border=\"0\" cellborder=\"0\" cellpadding=\"2\"><tr><td><b>", in_html(cluster.title), "</b>",
               cluster.times > 1 ? cat(" \u00D7", cluster.times) : std::string(),
               cluster.what.empty() ? std::string() : small(cat(" ", in_html(cluster.what))),
               cluster.order == 0 ? std::string() : small(" gradient"), "</td></tr></table>");
  }

  void write_vertex(std::size_t v, int depth) {
    const GraphVertex& vertex = view_.vertices[v];
    const Paint& paint = paint_of(vertex);
    std::string label = vertex.number ? in_html(headline(vertex)) : cat("<b>", in_html(headline(vertex)), "</b>");
    if (vertex.times > 1) append(label, cat(" \u00D7", vertex.times));
    if (is_operation(vertex) && !vertex.name.empty()) {
      append(label, cat("<br/><font point-size=\"10\"><i>", in_html(vertex.name), "</i></font>"));
    }
    for (const std::string& detail : details(vertex, options_)) append(label, cat("<br/>", small(in_html(detail))));
    line(depth, "n", v, " [id=n", v, ", class=", role_name(vertex.role), ", label=<", label, ">, fillcolor=\"",
         paint.fill, "\", color=\"", paint.line, "\", fontcolor=\"", paint.text, "\"",
         vertex.number ? ", width=0.3, height=0.24, margin=\"0.08,0.02\", fontsize=10" : "",
         vertex.role == GraphRole::input ? ", shape=ellipse" : "", vertex.is_result ? ", penwidth=2" : "",
         ", tooltip=", in_quotes(tooltip(vertex)), "];");
  }

  std::string tooltip(const GraphVertex& vertex) const {
    std::string text(is_operation(vertex) ? vertex.op : role_name(vertex.role));
    if (vertex.shape) append(text, cat(' ', *vertex.shape));
    if (const std::string name = full_name(vertex); !name.empty()) append(text, cat(": ", name));
    if (vertex.kept_bytes > 0) append(text, cat(", keeps ", bytes_text(vertex.kept_bytes)));
    return text;
  }

  // A forward pass runs down the page, and its backward pass beside it up again, each gradient at the height of the
  // values that it is made from. With more than one backward pass everything runs down.
  void write_edge(const GraphEdge& edge) {
    const GraphVertex& from = view_.vertices[edge.from];
    const GraphVertex& to = view_.vertices[edge.to];
    const bool one_pass = highest_order_ == 1;
    const bool upwards = one_pass && from.order == 1 && to.order == 1;
    std::string attributes;
    if (from.order != to.order) {
      append(attributes, cat(", style=dashed, color=\"", palette_.borrowed_edge, one_pass ? "\", minlen=0" : "\""));
    } else if (to.order > 0) {
      append(attributes, cat(", color=\"", palette_.gradient_edge, "\""));
    }
    if (edge.flow != GraphFlow::numbers) append(attributes, ", style=dotted");
    if (upwards) append(attributes, ", dir=back");
    if (options_.edge_shapes) append(attributes, cat(", label=", in_quotes(cat(' ', shape_text(edge.shape)))));
    if (!attributes.empty()) attributes = cat(" [", std::string_view(attributes).substr(2), "]");
    line(1, "n", upwards ? edge.to : edge.from, " -> n", upwards ? edge.from : edge.to, attributes, ";");
  }

  const GraphView& view_;
  const GraphOptions& options_;
  struct Content {
    std::vector<std::size_t> vertices;
    std::vector<int> clusters;
  };
  const Palette& palette_;
  std::vector<Content> contents_;  // by number of the cluster; in front what lies in none
  int highest_order_ = 0;
  std::string out_;
};

}  // namespace

std::string detail::printable(std::string_view text) {
  constexpr std::size_t longest = 200;
  std::string result;
  while (!text.empty()) {
    if (result.size() > longest) return result + "\u2026";
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = utf8_length(text);
    if (first < 0x20 || first == 0x7F) {
      static constexpr char digits[] = "0123456789abcdef";
      append(result, first == '\n' ? "\\n" : cat("\\x", digits[first / 16], digits[first % 16]));
    } else {
      append(result, length == 0 ? std::string_view("\uFFFD") : text.substr(0, length));
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string to_dot(const GraphView& view, const GraphOptions& options) { return DotWriter(view, options).write(); }

std::string to_text(const GraphView& view) {
  std::vector<std::array<std::string, 4>> rows{{"", "op", "name", "shape"}};
  std::vector<std::string> inputs{"inputs"};
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const std::string count = vertex.times > 1 ? cat(" x", vertex.times) : std::string();
    rows.push_back({cat('n', v), printable(is_operation(vertex) ? vertex.op : cat(role_name(vertex.role), count)),
                    printable(vertex.number ? short_number(*vertex.number) : full_name(vertex)),
                    vertex.shape ? cat(*vertex.shape) : std::string()});
    inputs.push_back(vertex.note);
  }
  for (const GraphEdge& edge : view.edges) {
    std::string& text = inputs[edge.to + 1];
    append(text, cat(text.empty() ? "" : " ", 'n', edge.from));
  }
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      append(line, rows[r][i]);
      line.append(widths[i] - rows[r][i].size() + 2, ' ');
    }
    append(line, inputs[r]);
    line.erase(line.find_last_not_of(' ') + 1);
    append(text, cat(line, '\n'));
  }
  return text;
}

}  // namespace xgrad
