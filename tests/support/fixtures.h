// Results of PyTorch: the files that tests/fixtures/make_fixtures.py wrote, and the comparison with them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <xgrad/core/files/safetensors.h>
#include <xgrad/core/graph/tensor.h>
#include <xgrad/ops/losses/reduction.h>

namespace xgrad::testing {

/// The path of a file in tests/fixtures.
std::string fixture_path(std::string_view name);

/// One stored case of an operation: inputs, options, and what has to come out.
class Case {
 public:
  /// `line` is the case's line of the metadata: its name and its options.
  Case(const StateFile& file, const std::string& line);
  /// The same case with other tensors as inputs, those at these positions.
  Case with(const std::map<int, Tensor>& inputs) const;

  const std::string& name() const { return name_; }
  /// The name and the options, for messages.
  const std::string& line() const { return line_; }
  /// The word before the slash in the name.
  std::string op() const { return name_.substr(0, name_.find('/')); }

  /// Input i: a leaf that wants a gradient, integers, or booleans. x(i) is undefined when there is none.
  Tensor x(int i = 0) const;
  /// All inputs that are tensors; and by their positions.
  const Tensors& xs() const { return xs_; }
  const std::map<int, Tensor>& tensors() const { return by_position_; }
  Index index(int i) const { return file_.get<Index>(key("x", i)); }
  Mask mask(int i) const { return file_.get<Mask>(key("x", i)); }

  /// An array that the case stored, `name/what`, or nullptr.
  const AnyArray* stored(std::string_view what, int i) const;

  bool has(const std::string& option) const { return options_.contains(option); }
  bool flag(const std::string& option) const { return has(option) && text(option) == "true"; }
  const std::string& text(const std::string& option) const { return options_.at(option); }
  /// The parts of a list.
  std::vector<std::string> texts(const std::string& option) const;
  double number(const std::string& option, double otherwise = 0) const;
  std::vector<double> reals(const std::string& option) const;
  std::vector<std::int64_t> numbers(const std::string& option) const;
  /// One integer, a list of them as axes or as a shape.
  int integer(const std::string& option) const { return static_cast<int>(numbers(option).at(0)); }
  Axes axes(const std::string& option) const;
  Reduction reduction() const;  ///< of a loss: the mean, unless it says another
  Shape shape(const std::string& option) const { return Shape(std::span<const std::int64_t>(numbers(option))); }

 private:
  std::string key(std::string_view what, int i) const { return str(name_, "/", what, i); }

  const StateFile& file_;
  std::string line_;
  std::string name_;
  std::map<std::string, std::string> options_;
  Tensors xs_;
  std::map<int, Tensor> by_position_;
};

/// The results of an operation: one or several.
struct Results {
  using Result = std::variant<Tensor, Index, Mask>;
  std::vector<Result> all;
  /// The leaves to differentiate with respect to, if not the case's inputs themselves: the parameters of a module.
  Tensors leaves = {};
  /// Parameters whose gradients, one after the other as a list, are in place of that of the case's last tensor.
  Tensors parameters = {};

  Results(Tensor y) : all{std::move(y)} {}
  Results(Index y) : all{std::move(y)} {}
  Results(Mask y) : all{std::move(y)} {}
  Results(const Tensors& ys) : all(ys.begin(), ys.end()) {}
};

/// The two members of a result, such as values and indices.
template <class Two>
Results both(const Two& found) {
  const auto& [first, second] = found;
  Results results(first);
  results.all.push_back(second);
  return results;
}

/// How to run the operation of that name.
using Operations = std::map<std::string, std::function<Results(const Case&)>>;

/// A row of such a table: what a call gives, with `c` the case.
#define OF_CASE(...) [&](const xgrad::testing::Case& c) { return __VA_ARGS__; }

/// How near the results have to be, as in check_close: in double, and in float in units of 2^-24, half a rounding of 1.
struct Nearness {
  double tolerance = 1e-12;
  std::map<std::string, double> terms = {};  ///< of an operation or of a single case
  double ulps = 8;
  std::map<std::string, double> ulps_of = {};  ///< of an operation or of a single case
  /// Operations or cases without finite differences: their inputs lie at a kink or a jump, or too near to a pole.
  std::set<std::string> kinks = {};
};

/// Runs every case of the family's file and checks its results, the gradients of <gy, y> with respect to all inputs,
/// and where they are stored the second gradients, against the stored ones. In double, a case with gradients also passes
/// check_gradients at its inputs. A stored case whose operation is not listed fails, and so does a listed operation
/// without a case. In float, cases with inputs beyond its range are left out.
void check_fixtures(std::string_view family, const Operations& operations, const Nearness& nearness = {});

}  // namespace xgrad::testing
