// Diagrams as text: Graphviz's language, and a table.
#include "formats.h"

#include <algorithm>
#include <array>

#include "../../base/text.h"
#include "../layout/dot.h"
#include "../view/labels.h"

namespace xgrad {

using namespace detail;

std::string to_dot(const GraphView& view, const GraphOptions& options) {
  return in_dot(view, options, DotFor::readers);
}

std::string to_text(const GraphView& view) {
  std::vector<std::array<std::string, 4>> rows{{"", "op", "name", "shape"}};
  std::vector<std::string> inputs{"inputs"};
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    const GraphVertex& vertex = view.vertices[v];
    const std::string count = vertex.times > 1 ? cat(" x", vertex.times) : std::string();
    rows.push_back({cat('n', v), printable(is_operation(vertex) ? vertex.op : cat(role_name(vertex.role), count)),
                    printable(vertex.number ? rounded(*vertex.number) : full_name(vertex)),
                    vertex.shape ? cat(*vertex.shape) : std::string()});
    inputs.push_back(vertex.note);
  }
  for (const GraphEdge& edge : view.edges) {
    std::string& text = inputs[edge.to + 1];
    append(text, cat(text.empty() ? "" : " ", 'n', edge.from));
  }
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    std::string& text = inputs[v + 1];
    for (const std::string& remark : view.vertices[v].remarks) {
      append(text, cat(text.empty() ? "" : "  ", "(", printable(remark), ")"));
    }
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
