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
          {"reshape", OF_CASE(reshape(c.x(), c.shape("shape")))},
          {"flatten", OF_CASE(flatten(c.x(), c.integer("first"), c.integer("last")))},
          {"squeeze", OF_CASE(c.has("axes") ? squeeze(c.x(), c.axes("axes")) : squeeze(c.x()))},
          {"unsqueeze", OF_CASE(unsqueeze(c.x(), c.integer("axis")))},
          {"transpose", OF_CASE(transpose(c.x(), c.axes("axes")[0], c.axes("axes")[1]))},
          {"permute", OF_CASE(permute(c.x(), c.axes("axes")))},
          {"slice", OF_CASE(slice(c.x(), slices_of(c.text("slices"))))},
          {"narrow", OF_CASE(narrow(c.x(), c.integer("axis"), c.integer("start"), c.integer("length")))},
          {"concat", OF_CASE(concat(c.xs(), c.integer("axis")))},
          {"stack", OF_CASE(stack(c.xs(), c.integer("axis")))},
          {"split", OF_CASE(split(c.x(), c.numbers("lengths"), c.integer("axis")))},
          {"chunk", OF_CASE(chunk(c.x(), c.integer("count"), c.integer("axis")))},
          {"pad", OF_CASE(pad(c.x(), paddings_of(c), c.number("value")))},
          {"flip", OF_CASE(flip(c.x(), c.axes("axes")))},
          {"roll", OF_CASE(roll(c.x(), c.shape("shifts"), c.axes("axes")))},
          {"repeat_interleave", OF_CASE(repeat_interleave(c.x(), c.integer("count"), c.integer("axis")))},
          {"tile", OF_CASE(tile(c.x(), c.shape("counts")))},
          {"broadcast_to", OF_CASE(broadcast_to(c.x(), c.shape("shape")))},
          {"tril", OF_CASE(tril(c.x(), c.integer("offset")))},
          {"triu", OF_CASE(triu(c.x(), c.integer("offset")))},
      });
}

TEST_CASE("arranging elements, and the gradients, equal PyTorch's") {
  check_fixtures("arranging",
                 {
                     {"unbind", OF_CASE(unbind(c.x(), c.integer("axis")))},
                     {"split_size", OF_CASE(split(c.x(), std::int64_t{c.integer("length")}, c.integer("axis")))},
                     {"movedim", OF_CASE(movedim(c.x(), c.axes("start"), c.axes("end")))},
                     {"unflatten", OF_CASE(unflatten(c.x(), c.integer("axis"), c.shape("sizes")))},
                     {"meshgrid",
                      OF_CASE(meshgrid(c.xs(), {c.text("indexing") == "ij" ? MeshIndexing::ij : MeshIndexing::xy}))},
                     {"diagonal", OF_CASE(diagonal(c.x(), c.integer("offset")))},
                     {"diag_embed", OF_CASE(diag_embed(c.x(), c.integer("offset")))},
                     {"diag", OF_CASE(diag(c.x(), c.integer("offset")))},
                 });
}

TEST_CASE("choosing and sorting elements, and the gradients, equal PyTorch's") {
  check_fixtures(
      "index",
      {
          {"embedding", OF_CASE(embedding(c.x(0), c.index(1)))},
          {"index_select", OF_CASE(index_select(c.x(0), c.integer("axis"), c.index(1)))},
          {"gather", OF_CASE(gather(c.x(0), c.integer("axis"), c.index(1)))},
          {"scatter_add", OF_CASE(scatter_add(c.x(0), c.integer("axis"), c.index(1), c.x(2)))},
          {"one_hot", OF_CASE(Tensor(one_hot(c.index(0), c.integer("classes"))))},
          {"masked_fill", OF_CASE(masked_fill(c.x(0), c.mask(1), c.number("value")))},
          {"masked_select", OF_CASE(masked_select(c.x(0), c.mask(1)))},
          {"topk", OF_CASE(both(topk(c.x(), c.integer("k"), c.integer("axis"), {.largest = c.flag("largest")})))},
          {"sort", OF_CASE(both(sort(c.x(), c.integer("axis"), {.descending = c.flag("descending")})))},
      },
      {.kinks = {"sort/5", "sort/6"}});  // equal numbers
}

TEST_CASE("writing and counting, and the gradients, equal PyTorch's") {
  check_fixtures(
      "choosing",
      {
          {"scatter", OF_CASE(scatter(c.x(0), c.integer("axis"), c.index(1), c.x(2)))},
          {"scatter_value", OF_CASE(scatter(c.x(0), c.integer("axis"), c.index(1), c.number("value")))},
          {"index_add", OF_CASE(index_add(c.x(0), c.integer("axis"), c.index(1), c.x(2)))},
          {"repeat_interleave", OF_CASE(repeat_interleave(c.x(0), c.index(1), c.integer("axis")))},
          {"sorted_along", OF_CASE(take_along_dim(c.x(0), c.index(1), c.integer("axis")))},
          {"take_along_dim", OF_CASE(take_along_dim(c.x(0), c.index(1)))},
          {"unique", OF_CASE(all_of(unique(c.x())))},
          {"unique_index", OF_CASE(all_of(unique(c.index(0))))},
          {"bincount", OF_CASE(bincount(c.index(0), {.minlength = c.integer("minlength")}))},
          {"bincount_weights", OF_CASE(bincount(c.index(0), c.x(1), {.minlength = c.integer("minlength")}))},
          {"nonzero", places},
      });
}

}  // namespace xgrad::testing
