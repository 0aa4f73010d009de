#include <xgrad/ops/arrange/broadcast.h>
#include <xgrad/ops/arrange/join.h>
#include <xgrad/ops/arrange/shape.h>
#include <xgrad/ops/arrange/slice.h>

#include <optional>
#include <sstream>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

/// numpy's notation: "1:5:2,...,-1"; "new" for a new axis.
Slices slices_of(const std::string& notation) {
  Slices result;
  std::istringstream entries(notation);
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (entry == "...") {
      result.push_back(ellipsis);
    } else if (entry == "new") {
      result.push_back(new_axis);
    } else if (entry.find(':') == std::string::npos) {
      result.push_back(std::stoll(entry));
    } else {
      Slice::Bound parts[3];
      std::istringstream numbers(entry);
      std::string number;
      for (int i = 0; std::getline(numbers, number, ':'); ++i) {
        if (!number.empty()) parts[i] = std::stoll(number);
      }
      result.push_back(Slice(parts[0], parts[1], parts[2].value_or(1)));
    }
  }
  return result;
}

ShortList<Padding> paddings_of(const Case& c) {
  const std::vector<std::int64_t> numbers = c.numbers("paddings");
  ShortList<Padding> result;
  for (std::size_t i = 0; i < numbers.size(); i += 2) result.push_back({numbers[i], numbers[i + 1]});
  return result;
}

}  // namespace

TEST_CASE("changes of shape and their gradients equal PyTorch's") {
  check_fixtures(
      "shape",
      {
          {"reshape", [](const Case& c) { return reshape(c.x(), c.shape("shape")); }},
          {"flatten", [](const Case& c) { return flatten(c.x(), c.integer("first"), c.integer("last")); }},
          {"squeeze", [](const Case& c) { return c.has("axes") ? squeeze(c.x(), c.axes("axes")) : squeeze(c.x()); }},
          {"unsqueeze", [](const Case& c) { return unsqueeze(c.x(), c.integer("axis")); }},
          {"transpose", [](const Case& c) { return transpose(c.x(), c.axes("axes")[0], c.axes("axes")[1]); }},
          {"permute", [](const Case& c) { return permute(c.x(), c.axes("axes")); }},
          {"slice", [](const Case& c) { return slice(c.x(), slices_of(c.text("slices"))); }},
          {"narrow",
           [](const Case& c) { return narrow(c.x(), c.integer("axis"), c.integer("start"), c.integer("length")); }},
          {"concat", [](const Case& c) { return concat(c.xs(), c.integer("axis")); }},
          {"stack", [](const Case& c) { return stack(c.xs(), c.integer("axis")); }},
          {"split", [](const Case& c) { return split(c.x(), c.numbers("lengths"), c.integer("axis")); }},
          {"chunk", [](const Case& c) { return chunk(c.x(), c.integer("count"), c.integer("axis")); }},
          {"pad", [](const Case& c) { return pad(c.x(), paddings_of(c), c.number("value")); }},
          {"flip", [](const Case& c) { return flip(c.x(), c.axes("axes")); }},
          {"roll", [](const Case& c) { return roll(c.x(), c.shape("shifts"), c.axes("axes")); }},
          {"repeat_interleave",
           [](const Case& c) { return repeat_interleave(c.x(), c.integer("count"), c.integer("axis")); }},
          {"tile", [](const Case& c) { return tile(c.x(), c.shape("counts")); }},
          {"broadcast_to", [](const Case& c) { return broadcast_to(c.x(), c.shape("shape")); }},
          {"tril", [](const Case& c) { return tril(c.x(), c.integer("offset")); }},
          {"triu", [](const Case& c) { return triu(c.x(), c.integer("offset")); }},
      });
}

}  // namespace xgrad::testing
