#include <optional>
#include <sstream>

#include <xgrad/ops/ops.h>

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

template <class T>
Results all_of(const Unique<T>& found) {
  Results results(found.inverse);
  if constexpr (std::same_as<T, Real>) {
    results.all = {Tensor(found.values), found.inverse, found.counts};
  } else {
    results.all = {found.values, found.inverse, found.counts};
  }
  return results;
}

Results places(const Case& c) {
  const AnyArray& x = *c.stored("x", 0);
  if (const Array* reals = std::get_if<Array>(&x)) return nonzero(Tensor(*reals));
  if (const Mask* mask = std::get_if<Mask>(&x)) return nonzero(*mask);
  return nonzero(std::get<Index>(x));
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

TEST_CASE("arranging elements, and the gradients, equal PyTorch's") {
  check_fixtures("arranging",
                 {
                     {"unbind", [](const Case& c) { return unbind(c.x(), c.integer("axis")); }},
                     {"split_size",
                      [](const Case& c) { return split(c.x(), std::int64_t{c.integer("length")}, c.integer("axis")); }},
                     {"movedim", [](const Case& c) { return movedim(c.x(), c.axes("start"), c.axes("end")); }},
                     {"unflatten", [](const Case& c) { return unflatten(c.x(), c.integer("axis"), c.shape("sizes")); }},
                     {"meshgrid",
                      [](const Case& c) {
                        return meshgrid(c.xs(), {c.text("indexing") == "ij" ? MeshIndexing::ij : MeshIndexing::xy});
                      }},
                     {"diagonal", [](const Case& c) { return diagonal(c.x(), c.integer("offset")); }},
                     {"diag_embed", [](const Case& c) { return diag_embed(c.x(), c.integer("offset")); }},
                     {"diag", [](const Case& c) { return diag(c.x(), c.integer("offset")); }},
                 });
}

TEST_CASE("choosing and sorting elements, and the gradients, equal PyTorch's") {
  const auto both = [](const Sorted& sorted) { return Results(sorted.values, sorted.indices); };
  check_fixtures(
      "index",
      {
          {"embedding", [](const Case& c) { return embedding(c.x(0), c.index(1)); }},
          {"index_select", [](const Case& c) { return index_select(c.x(0), c.integer("axis"), c.index(1)); }},
          {"gather", [](const Case& c) { return gather(c.x(0), c.integer("axis"), c.index(1)); }},
          {"scatter_add", [](const Case& c) { return scatter_add(c.x(0), c.integer("axis"), c.index(1), c.x(2)); }},
          {"one_hot", [](const Case& c) { return Tensor(one_hot(c.index(0), c.integer("classes"))); }},
          {"masked_fill", [](const Case& c) { return masked_fill(c.x(0), c.mask(1), c.number("value")); }},
          {"masked_select", [](const Case& c) { return masked_select(c.x(0), c.mask(1)); }},
          {"topk",
           [&](const Case& c) {
             return both(topk(c.x(), c.integer("k"), c.integer("axis"), {.largest = c.flag("largest")}));
           }},
          {"sort",
           [&](const Case& c) {
             return both(sort(c.x(), c.integer("axis"), {.descending = c.flag("descending")}));
           }},
      },
      {.kinks = {"sort/5", "sort/6"}});  // equal numbers
}

TEST_CASE("writing and counting, and the gradients, equal PyTorch's") {
  check_fixtures(
      "choosing",
      {
          {"scatter", [](const Case& c) { return scatter(c.x(0), c.integer("axis"), c.index(1), c.x(2)); }},
          {"scatter_value",
           [](const Case& c) { return scatter(c.x(0), c.integer("axis"), c.index(1), c.number("value")); }},
          {"index_add", [](const Case& c) { return index_add(c.x(0), c.integer("axis"), c.index(1), c.x(2)); }},
          {"repeat_interleave", [](const Case& c) { return repeat_interleave(c.x(0), c.index(1), c.integer("axis")); }},
          {"sorted_along", [](const Case& c) { return take_along_dim(c.x(0), c.index(1), c.integer("axis")); }},
          {"take_along_dim", [](const Case& c) { return take_along_dim(c.x(0), c.index(1)); }},
          {"unique", [](const Case& c) { return all_of(unique(c.x())); }},
          {"unique_index", [](const Case& c) { return all_of(unique(c.index(0))); }},
          {"bincount", [](const Case& c) { return bincount(c.index(0), {.minlength = c.integer("minlength")}); }},
          {"bincount_weights",
           [](const Case& c) { return bincount(c.index(0), c.x(1), {.minlength = c.integer("minlength")}); }},
          {"nonzero", places},
      });
}

}  // namespace xgrad::testing
