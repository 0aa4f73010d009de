// What is built alike, drawn once.
#pragma once

#include "view.h"

namespace xgrad::detail {

/// Neighbours that are built alike, at each level, as the first of them, with their number: modules (blocks.0,
/// blocks.1,
/// ...), calls of one module that follow each other, and operations that do so. What each of them has of its own from
/// outside, x0, x1, ..., is one vertex, too. What would close a cycle stays as it is.
GraphView rolled_up(GraphView view);

/// "blocks" and 3 for "blocks.3", "block" and 11 for "block11", "cell" and 2 for "cell (2)", the second call of a
/// module; no stem if there is no number.
struct Numbered {
  std::string_view stem, number;
  bool is_call() const { return stem.ends_with('('); }
  bool is_listed() const { return stem.ends_with('.'); }
  bool is_numbered() const { return stem.ends_with('_'); }  ///< "layer_0"
};
Numbered numbered(std::string_view title);

}  // namespace xgrad::detail
