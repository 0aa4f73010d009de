// A cell of a notebook in parts: declarations, statements, and a last expression. Private.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xgrad::notebook {

/// One part of a cell, which is compiled alone and run alone.
struct Part {
  enum class Kind {
    declaration,  ///< of names that a later cell may declare again
    global,       ///< stands at the top level: #include, using namespace, a namespace
    member,       ///< a definition outside of its class
    statement,
    expression  ///< the last part, without a semicolon: its value is shown
  };

  Kind kind = Kind::statement;
  std::string text = {};
  int line = 1;  ///< of the cell, where the part begins
};

/// The parts in order. The rules look at words and brackets alone. Where a type is not one of C++, two names in a row
/// declare something: `Tensor x`, `nn::Linear layer{...}`. A lambda outside of functions captures nothing, since
/// everything around it is global; `[&]` becomes `[]` there.
std::vector<Part> split_cell(std::string_view cell);

/// The bracket that nothing closes, or that closes nothing, with its line; empty if there is none.
std::string open_bracket(std::string_view cell);

}  // namespace xgrad::notebook
