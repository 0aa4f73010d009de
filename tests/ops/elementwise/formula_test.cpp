// The formulas of operations: every operation has one, those of elementwise ones are what runs, and the page says them.
#include <xgrad/core/base/formula.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/ops.h>

#include "support/catalogue.h"
#include "support/check.h"
#include "support/equation.h"
#include "support/files.h"
#include "support/fused.h"

namespace xgrad::testing {
namespace {

// Quoted texts in the sources after one of these words and a parenthesis or brace. (Operations on integers are not
// recorded.)
std::set<std::string> names_in_sources(const std::string& words) {
  std::set<std::string> names;
  const std::regex named("(?:" + words + ")[({]\\s*\"([\\w ]+)\"");
  for (const char* folder : {"core", "ops", "nn", "optim"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".cpp" || entry.path().stem() == "integer") continue;
      const std::string text = read_text(entry.path());
      for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at) names.insert((*at)[1]);
    }
  }
  return names;
}

// The operations that rows of the catalogue run, and those of their gradients.
const std::set<std::string>& operations_of_rows() {
  static const std::set<std::string> all = [] {
    std::set<std::string> names;
    for (const Call& call : all_calls(2, 3)) {
      const Tensors leaves = call.leaves();
      const Tensor y = call.run(leaves);
      Tensors results = grad(sum(y), leaves, {.create_graph = true, .unused = Unused::zeros});
      results.push_back(y);
      for (const std::string& name : operations_in(results)) names.insert(name);
    }
    return names;
  }();
  return all;
}

const std::set<std::string>& operations_in_sources() {
  static const std::set<std::string> all = names_in_sources(
      "record|record_fused|elementwise|record_map|slice_part|slice_axis|place_part|reshape_as|resample|extreme|take_rows");
  return all;
}

// All operations that the library records.
const std::set<std::string>& operations() {
  static const std::set<std::string> all = [] {
    std::set<std::string> names = operations_of_rows();
    names.insert(operations_in_sources().begin(), operations_in_sources().end());
    return names;
  }();
  return all;
}

// And with attributes that change their formulas: "matmul transpose_b".
std::set<std::string> with_settings() {
  std::set<std::string> names = names_in_sources("XGRAD_FORMULA \\w+");
  std::erase_if(names, [](const std::string& name) { return name.find(' ') == name.npos; });
  names.insert(operations().begin(), operations().end());
  return names;
}

// A line of the page for each.
std::string page() {
  std::string text =
      "# Operations and their formulas\n\n"
      "Find the formula and the gradient of an operation, by the name that diagrams, timers and errors use. x, a, b, ... are\n"
      "the inputs, y is the result, gy the gradient of the result; ^T transposes. The formula of an elementwise operation is what\n"
      "its lambda computes; other operations have theirs in `ops/` ([adding an operation](../inside/adding_an_operation.md)).\n"
      "[Diagrams](../guide/diagrams.md) show formulas, and `formula_of(\"tanh\")` returns them (`core/base/formula.h`).\n"
      "`tests/ops/elementwise/formula_test.cpp` writes this page and checks the formulas of elementwise operations.\n\n"
      "| operation | formula | gradient |\n|---|---|---|\n";
  const auto cell = [](std::string equation) {
    for (std::size_t at = 0; (at = equation.find('|', at)) != equation.npos; at += 2) equation.insert(at, "\\");
    return equation.empty() ? std::string() : str('`', equation, '`');
  };
  for (const std::string& name : with_settings()) {
    const Formula formula = formula_of(name).value_or(Formula());
    append(text, str("| ", name, " | ", cell(formula.value), " | ", cell(formula.derivative), " |\n"));
  }
  return text + "\n## Digits\n\n"
      "Elementwise results differ from the exact results by at most 4 units in the last place. Slopes that are computed from\n"
      "the rounded y, or from several rounded factors, differ by at most 6 (`tests/ops/elementwise/numerics_test.cpp`, in double\n"
      "and in float). The exceptions are:\n\n"
      "- The slopes of tanh and sigmoid are computed from y, which is saved for backward. Where y comes near 1 they lose digits, and\n"
      "  where it is rounded to 1, in float beyond 9 and 17, they are 0.\n"
      "- GELU by erf and mish take 5 units.\n"
      "- Where a factor is subnormal, digits of GELU (in float below -12.9) and mish (below -87) are lost; SiLU is 0 where\n"
      "  e^-x is infinite (below -88).\n"
      "- tanhshrink is off by 3 units of x, which near 0 is much larger than y.\n"
      "- GELU by tanh rounds the argument of its sigmoid, which counts the more the larger that is: 10 units from -2 on,\n"
      "  up to 200 in float at -10, where y is 1e-38.\n"
      "- Where two terms cancel, as in the slopes of GELU, SiLU and mish at their zeros, in logaddexp near 0, the\n"
      "  error is one unit of the terms.\n";
}

// The right-hand side of the one equation among "dy/da = ...; dy/db = ..." that begins so.
std::string side_of(std::string_view equations, std::string_view beginning) {
  const std::size_t at = equations.find(beginning);
  REQUIRE_MESSAGE(at != equations.npos, beginning, " in ", equations);
  const std::string_view rest = equations.substr(at + beginning.size());
  return std::string(rest.substr(0, rest.find("; ")));
}

TEST_CASE("every operation has a row in the catalogue, or is a part of one that has") {
  for (const std::string& name : operations_in_sources()) {
    if (name == "take_places") continue;  // of the second gradient of max_pool2d
    CHECK_MESSAGE(operations_of_rows().contains(name), "no row of tests/support/catalogue.cpp runs ", name);
  }
}

TEST_CASE("every operation has a formula, also those that only gradients consist of, and every formula an operation") {
  CHECK(operations().size() > 110);
  for (const std::string& name : operations()) {
    const std::optional<Formula> formula = formula_of(name);
    CHECK_MESSAGE((formula && !formula->value.empty()), name, " has none: write an XGRAD_FORMULA, if its lambda gives none");
  }
  const std::set<std::string> lines = names_in_sources("XGRAD_FORMULA \\w+");
  CHECK(lines.size() > 80);
  for (const std::string& name : lines) CHECK_MESSAGE(operations().contains(name.substr(0, name.find(' '))), name);
}

TEST_CASE("an attribute that is on may change the formula: a product of transposed factors") {
  const auto of = [](std::vector<std::string_view> attributes) { return formula_of("matmul", attributes).value(); };
  CHECK(of({}) == formula_of("matmul"));
  CHECK(of({"other"}) == formula_of("matmul"));
  CHECK(!formula_of("no_operation", std::vector<std::string_view>{"transpose_b"}));
  // Each side is the formula's text, run as a product: "gy^T a" is gy, transposed, times a.
  const auto product = [](std::string text, const std::map<std::string, Tensor>& letters) {
    const std::size_t space = text.find(' ');
    const auto factor = [&](std::string name) {
      const bool transposed = name.ends_with("^T");
      return std::pair(letters.at(name.substr(0, name.size() - 2 * transposed)), transposed);
    };
    const auto [left, left_transposed] = factor(text.substr(0, space));
    const auto [right, right_transposed] = factor(text.substr(space + 1));
    return matmul(left_transposed ? transpose(left) : left, right_transposed ? transpose(right) : right).value();
  };
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const Tensor a = variable(normal(ta ? Shape{3, 2} : Shape{2, 3}));
      const Tensor b = variable(normal(tb ? Shape{4, 3} : Shape{3, 4}));
      const Tensor y = matmul(a, b, {.transpose_a = ta, .transpose_b = tb}), gy = normal({2, 4});
      std::vector<std::string_view> attributes;
      if (ta) attributes.push_back("transpose_a");
      if (tb) attributes.push_back("transpose_b");
      const Formula formula = of(attributes);
      CAPTURE(formula.value);
      const std::map<std::string, Tensor> letters{{"a", a}, {"b", b}, {"gy", gy}};
      const Tensors gradients = grad(y, {a, b}, {.seed = gy});
      check_close(product(side_of(formula.value, "y = "), letters), y.value(), 1e-12);
      check_close(product(side_of(formula.derivative, "dL/da = "), letters), gradients[0].value(), 1e-12);
      check_close(product(side_of(formula.derivative, "dL/db = "), letters), gradients[1].value(), 1e-12);
    }
  }
}

TEST_CASE("docs/look_up/operations.md has the formulas of all operations") {
  const char* const file = "docs/look_up/operations.md";
  if (std::getenv("XGRAD_WRITE_PAGES")) std::ofstream(file) << page();
  CHECK_MESSAGE(read_text(file) == page(), "the page is stale: run docs/tools/run lists");
}

TEST_CASE("an elementwise operation prints its formula and its derivatives, which give its numbers and its gradients") {
  std::vector<Call> calls = elementwise_calls({9});
  for (const Call& call : loss_calls({1, 9})) {
    if (call.name == call.op() + ", none") calls.push_back({call.op(), call.inputs, call.result, call.run});
  }
  const std::set<std::string> in_words{"atan2", "nan_to_num", "binary_cross_entropy"};
  int checked = 0;
  for (const Call& call : calls) {
    const std::string& op = call.name;
    CAPTURE(op);
    std::vector<Array> numbers = call.numbers();
    if (numbers.size() > 1) numbers[0].mutable_data()[0] = numbers[1].mutable_data()[0] = 0.5;  // a tie
    const Tensors xs = variables(numbers);
    const Tensor y = call.run(xs);  // which makes its formula known
    const Formula formula = formula_of(op).value_or(Formula());
    if (!formula.derivative.starts_with("dy/d") || in_words.contains(op)) continue;
    ++checked;
    const Tensors gradients = grad(sum(y), xs);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      std::map<std::string, double> letters = call.letters;
      letters["y"] = y.value().data()[i];
      const auto letter = [&](std::size_t k) { return std::string(1, xs.size() == 1 ? 'x' : "abc"[k]); };
      for (std::size_t k = 0; k < xs.size(); ++k) letters[letter(k)] = xs[k].value().data()[i];
      CHECK(value_of(side_of(formula.value, "y = "), letters) == doctest::Approx(letters["y"]).epsilon(1e-12));
      for (std::size_t k = 0; k < xs.size(); ++k) {
        CHECK(value_of(side_of(formula.derivative, str("dy/d", letter(k), " = ")), letters) ==
              doctest::Approx(gradients[k].value().data()[i]).epsilon(1e-12));
      }
    }
  }
  CHECK(checked >= 68);
}

TEST_CASE("a lambda of a program has a formula from its first run on, three inputs included") {
  const auto blend = [](const Tensor& a, const Tensor& b, const Tensor& c) {
    return elementwise(
        "formula_test_blend", a, b, c, [](auto p, auto q, auto r) { return p * r + q * (1 - r); },
        [](auto, auto, auto r, auto) { return r; }, [](auto, auto, auto r, auto) { return 1 - r; },
        [](auto p, auto q, auto, auto) { return p - q; });
  };
  CHECK(!formula_of("formula_test_blend"));
  {
    const NoGrad off;
    blend(Tensor(1), Tensor(2), Tensor(3));
  }
  CHECK(formula_of("formula_test_blend") == Formula{"y = a c + b (1 - c)", "dy/da = c; dy/db = 1 - c; dy/dc = a - b"});
}

TEST_CASE("there is no formula of what is not known, nor where two operations have one name") {
  CHECK(!formula_of("formula_test_none"));
  CHECK(!formula_of(""));
  const auto slope = [](auto, auto) { return 1; };
  elementwise(
      "formula_test_twice", Tensor(1), [](auto v) { return v + 1; }, slope);
  CHECK(formula_of("formula_test_twice").has_value());
  elementwise(
      "formula_test_twice", Tensor(1), [](auto v) { return v + 2; }, slope);
  CHECK(!formula_of("formula_test_twice"));
}

}  // namespace
}  // namespace xgrad::testing
