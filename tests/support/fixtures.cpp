// Reading the stored files, and the comparison.
#include "support/fixtures.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include <xgrad/core/base/from_text.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/shape/join.h>
#include <xgrad/ops/shape/shape.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/reduce/reduce.h>

#include "support/check.h"

namespace xgrad::testing {
namespace {

std::vector<std::string> pieces(const std::string& text, char separator) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string piece; std::getline(stream, piece, separator);) result.push_back(piece);
  return result;
}

constexpr bool in_float = sizeof(Real) == sizeof(float);

/// The number given for this case, or for its operation.
double of_case(const std::map<std::string, double>& said, const Case& c, double otherwise) {
  for (const std::string& name : {c.name(), c.op()}) {
    if (const auto found = said.find(name); found != said.end()) return found->second;
  }
  return otherwise;
}

/// The tolerances of check_close for the arrays of a case.
struct Allowed {
  double tolerance, terms;
};

void check_values(const Results::Result& result, const AnyArray& expected, const Allowed& allowed) {
  if (const Tensor* y = std::get_if<Tensor>(&result)) {
    REQUIRE(std::holds_alternative<Array>(expected));
    check_close(y->value(), std::get<Array>(expected), allowed.tolerance, allowed.terms);
  } else if (const Index* ids = std::get_if<Index>(&result)) {
    REQUIRE(std::holds_alternative<Index>(expected));
    CHECK_MESSAGE(equal(*ids, std::get<Index>(expected)), to_string(*ids));
  } else {
    REQUIRE(std::holds_alternative<Mask>(expected));
    CHECK(equal(std::get<Mask>(result), std::get<Mask>(expected)));
  }
}

/// All numbers of the arrays from `first` on as the last array, a list.
void join_from(std::size_t first, std::vector<Array>& arrays) {
  std::vector<Array> lists;
  for (std::size_t i = first; i < arrays.size(); ++i) lists.push_back(arrays[i].reshaped({-1}));
  arrays.resize(first);
  arrays.push_back(concat(lists));
}

/// The gradients of the sum of all <gy, y>.
std::vector<Array> gradients(const Results& results, const Case& c) {
  Tensors leaves = results.leaves.empty() ? c.xs() : results.leaves;
  if (!results.parameters.empty()) leaves.pop_back();
  const std::size_t single = leaves.size();
  leaves.insert(leaves.end(), results.parameters.begin(), results.parameters.end());
  std::vector<Array> sums;
  for (int i = 0; i < std::ssize(results.all); ++i) {
    const AnyArray* gy = c.stored("gy", i);
    if (!gy) continue;
    const Tensor& y = std::get<Tensor>(results.all[static_cast<std::size_t>(i)]);
    const Tensors found =
        grad(y, leaves, {.seed = std::get<Array>(*gy), .retain_graph = true, .unused = Unused::zeros});
    sums.resize(found.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      if (sums[k].shape() != found[k].shape()) sums[k] = Array(found[k].shape(), Real(0));
      Real* sum = sums[k].mutable_data();
      for (std::int64_t e = 0; e < found[k].size(); ++e) sum[e] += found[k].value().data()[e];
    }
  }
  if (!results.parameters.empty() && !sums.empty()) join_from(single, sums);
  return sums;
}

/// The gradients of the sum of all <vx, gx>, where gx are those of <gy, y>, against the stored ones.
void check_second(const Case& c, const Tensor& y, const Allowed& allowed) {
  const Array& gy = std::get<Array>(*c.stored("gy", 0));
  const Tensors gradients = grad(y, c.xs(), {.seed = gy, .create_graph = true, .unused = Unused::zeros});
  Tensor total = 0;
  std::size_t next = 0;
  for (const auto& [i, x] : c.tensors()) {
    const Tensor& gx = gradients.at(next++);
    if (const AnyArray* vx = c.stored("vx", i)) total = total + sum(gx * std::get<Array>(*vx));
  }
  Tensors found;
  if (total.requires_grad()) found = grad(total, c.xs(), {.unused = Unused::zeros});
  next = 0;
  for (const auto& [i, x] : c.tensors()) {
    const Array hx = found.empty() ? Array(x.shape(), Real(0)) : found.at(next++).value();
    if (const AnyArray* expected = c.stored("hx", i)) check_values(Tensor(hx), *expected, allowed);
  }
}

void check_case(const Case& c, const Results& results, const Allowed& allowed) {
  REQUIRE(!results.all.empty());
  for (int i = 0; i < std::ssize(results.all); ++i) {
    CAPTURE(i);
    REQUIRE(c.stored("y", i));
    check_values(results.all[static_cast<std::size_t>(i)], *c.stored("y", i), allowed);
  }
  CHECK(!c.stored("y", static_cast<int>(results.all.size())));

  const std::vector<Array> found = gradients(results, c);
  std::size_t next = 0;
  for (const auto& input : c.tensors()) {
    const int i = input.first;
    CAPTURE(i);
    const std::size_t position = next++;
    if (const AnyArray* gx = c.stored("gx", i)) check_values(Tensor(found.at(position)), *gx, allowed);
  }
  if (c.stored("vx", 0)) check_second(c, std::get<Tensor>(results.all.at(0)), allowed);
}

/// The results that have a gradient, one after the other.
Tensor joined(const Results& results, const Case& c) {
  Tensors parts;
  for (int i = 0; i < std::ssize(results.all); ++i) {
    if (c.stored("gy", i)) parts.push_back(std::get<Tensor>(results.all[static_cast<std::size_t>(i)]));
  }
  if (parts.size() == 1) return parts[0];
  for (Tensor& part : parts) part = reshape(part, {-1});
  return concat(parts);
}

/// Whether finite differences can resolve changes of the elements: they are neither infinite nor NaN nor huge.
bool moderate(const Array& a) {
  return std::all_of(a.data(), a.data() + a.size(), [](Real element) { return std::abs(element) < Real(1e30); });
}

bool is_zero(const Array& a) {
  return std::all_of(a.data(), a.data() + a.size(), [](Real element) { return element == Real(0); });
}

/// The gradients with respect to the inputs that have a stored one are those of finite differences.
void check_derivatives(const Case& c, const std::function<Results(const Case&)>& operation) {
  std::vector<int> positions;
  std::vector<Array> values;
  bool zero = true;
  for (const auto& [i, x] : c.tensors()) {
    if (!c.stored("gx", i) || x.size() == 0) continue;
    const Array& gx = std::get<Array>(*c.stored("gx", i));
    if (!moderate(x.value()) || !moderate(gx)) return;
    zero = zero && is_zero(gx);
    positions.push_back(i);
    values.push_back(x.value());
  }
  if (values.empty() || !moderate(joined(operation(c), c).value())) return;
  const auto f = [&](const Tensors& x) {
    std::map<int, Tensor> inputs;
    for (std::size_t k = 0; k < x.size(); ++k) inputs[positions[k]] = x[k];
    const Case moved = c.with(inputs);
    return joined(operation(moved), moved);
  };
  check_gradients(f, values, {.zero = zero});
}

}  // namespace

std::string fixture_path(std::string_view name) { return str(XGRAD_TESTS_DIR "/fixtures/", name); }

Case::Case(const StateFile& file, const std::string& line) : file_(file), line_(line) {
  const std::vector<std::string> words = pieces(line, ' ');
  name_ = words.at(0);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    options_[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  for (int i = 0; stored("x", i); ++i) {
    if (const Array* value = std::get_if<Array>(stored("x", i))) {
      xs_.push_back(variable(*value));
      by_position_[i] = xs_.back();
    }
  }
}

Case Case::with(const std::map<int, Tensor>& inputs) const {
  Case moved = *this;
  moved.xs_.clear();
  for (auto& [i, x] : moved.by_position_) {
    if (const auto found = inputs.find(i); found != inputs.end()) x = found->second;
    moved.xs_.push_back(x);
  }
  return moved;
}

Tensor Case::x(int i) const {
  const auto found = by_position_.find(i);
  return found == by_position_.end() ? Tensor() : found->second;
}

const AnyArray* Case::stored(std::string_view what, int i) const {
  const auto found = file_.arrays.find(key(what, i));
  return found == file_.arrays.end() ? nullptr : &found->second;
}

std::vector<std::string> Case::texts(const std::string& option) const { return pieces(text(option), ','); }

double Case::number(const std::string& option, double otherwise) const {
  return has(option) ? reals(option).at(0) : otherwise;
}

std::vector<double> Case::reals(const std::string& option) const {
  std::vector<double> result;
  for (const std::string& digits : texts(option)) {
    const auto end = xgrad::detail::from_text(digits.data(), digits.data() + digits.size(), result.emplace_back()).ptr;
    REQUIRE(end == digits.data() + digits.size());
  }
  return result;
}

std::vector<std::int64_t> Case::numbers(const std::string& option) const {
  const std::vector<double> values = reals(option);
  return {values.begin(), values.end()};
}

Reduction Case::reduction() const {
  if (!has("reduction") || text("reduction") == "mean") return Reduction::mean;
  return text("reduction") == "none" ? Reduction::none : Reduction::sum;
}

Axes Case::axes(const std::string& option) const {
  Axes result;
  for (const std::int64_t axis : numbers(option)) result.push_back(static_cast<int>(axis));
  return result;
}

void check_fixtures(std::string_view family, const Operations& operations, const Nearness& nearness) {
  const StateFile file = load_safetensors(fixture_path(str(family, ".safetensors")));
  std::set<std::string> used;
  for (const std::string& line : pieces(file.text("cases"), '\n')) {
    const Case c(file, line);
    INFO(c.line());
    const auto operation = operations.find(c.op());
    if (operation == operations.end()) {
      FAIL_CHECK("no operation for this case");
      continue;
    }
    used.insert(c.op());
    if (in_float && c.flag("wide")) continue;
    const double ulps = of_case(nearness.ulps_of, c, nearness.ulps);
    const Allowed allowed{in_float ? std::ldexp(ulps, -24) : nearness.tolerance, of_case(nearness.terms, c, 0)};
    CHECK_NOTHROW(check_case(c, operation->second(c), allowed));
    if (in_float || !c.stored("gy", 0) || nearness.kinks.contains(c.name()) || nearness.kinks.contains(c.op())) continue;
    const Results results = operation->second(c);
    if (!results.leaves.empty() || !results.parameters.empty()) continue;  // of a module: f does not take its parameters
    CHECK_NOTHROW(check_derivatives(c, operation->second));
  }
  for (const auto& operation : operations)
    CHECK_MESSAGE(used.contains(operation.first), "no case of ", operation.first);
}

}  // namespace xgrad::testing
