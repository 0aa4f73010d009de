// The similarity of vertices and modules of a view.
#include "alike.h"

#include <algorithm>

#include "../../base/text.h"
#include "order.h"

namespace xgrad::detail {
namespace {

// Whether an attribute says where a part begins, or which random numbers are drawn.
bool is_of_place(std::string_view attribute) { return attribute == "start" || attribute == "key"; }

}  // namespace

Inputs::Inputs(const GraphView& view) : view_(view), ranges_(view.vertices.size()) {
  for (std::size_t e = 0; e < view.edges.size(); ++e) {
    auto& [first, last] = ranges_[view.edges[e].to];
    if (last == 0) first = e;
    last = e + 1;
  }
}

std::string kind_of(const GraphVertex& vertex) {
  std::string text =
      cat(static_cast<int>(vertex.role), '\0', vertex.op, '\0', vertex.shape ? cat(*vertex.shape) : std::string(), '\0',
          vertex.number ? cat(*vertex.number) : std::string());
  for (const auto& [name, value] : vertex.attributes) {
    append(text, cat('\0', name, ' ', is_of_place(name) ? std::string() : value));
  }
  return text;
}

void forget_place(GraphVertex& vertex) {
  std::erase_if(vertex.attributes, [](const auto& attribute) { return is_of_place(attribute.first); });
}

bool alike_but_for_places(const GraphVertex& a, const GraphVertex& b) {
  return a.role == b.role && a.op == b.op && a.shape == b.shape && a.number == b.number &&
         std::ranges::equal(a.attributes, b.attributes, {}, &std::pair<std::string, std::string>::first,
                            &std::pair<std::string, std::string>::first);
}

Numbered numbered(std::string_view title) {
  const bool is_call = title.ends_with(')');
  const std::string_view whole = title.substr(0, title.size() - is_call);
  const std::size_t end = whole.find_last_not_of("0123456789") + 1;  // 0 if there are only digits
  if (end == 0 || end == whole.size() || (is_call && !whole.substr(0, end).ends_with(" ("))) return {};
  return {whole.substr(0, end), whole.substr(end)};
}

std::vector<int> blocks_at(const GraphView& view, int level) {
  std::vector<int> blocks;
  for (std::size_t c = 0; c < view.frames.size(); ++c) {
    const GraphFrame& frame = view.frames[c];
    blocks.push_back(frame.level < level ? nothing : frame.level == level ? static_cast<int>(c) : blocks[frame.parent]);
  }
  return blocks;
}

}  // namespace xgrad::detail
