// The formulas of operations: every operation has one, those of elementwise ones are what runs, and the page says them.
#include <xgrad/core/base/formula.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include <xgrad/core/diagram/view/view.h>
#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/equation.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

struct Calls {
  Tensors leaves, results;
};

// A call of every operation that there is.
Calls everything() {
  Tensors leaves;
  const auto numbers = [&](const Shape& shape, std::uint64_t seed = 1) {
    return leaves.emplace_back(variable(normal(shape, seed)));
  };
  const Tensor x = numbers({2, 3}), w = numbers({2, 3}, 2), positive = abs(numbers({2, 3}, 3)) + 0.1;
  Tensors all{exp(x),
              expm1(x),
              log(positive),
              log1p(positive),
              sqrt(positive),
              rsqrt(positive),
              square(x),
              abs(x),
              sign(x),
              sin(x),
              cos(x),
              tanh(x),
              erf(x),
              pow(x, 2),
              sigmoid(x),
              relu(x),
              elu(x),
              softplus(x),
              silu(x),
              gelu(x),
              add(x, w),
              sub(x, w),
              mul(x, w),
              div(x, w),
              neg(x),
              maximum(x, w),
              minimum(x, w),
              where(x < w, x, w),
              clamp(x, {.min = -1, .max = 1}),
              gelu(x, Gelu::tanh),
              hardtanh(x),
              relu6(x),
              pow(positive, w),
              exp2(x),
              log2(positive),
              log10(positive),
              reciprocal(positive),
              logaddexp(x, w),
              lerp(x, w, positive),
              clamp(x, -positive, positive),
              nan_to_num(x),
              binary_cross_entropy_with_logits(x, to_real(w > 0))};
  const auto add_all = [&](const Tensors& more) { all.insert(all.end(), more.begin(), more.end()); };
  const Tensor below_1 = positive / (1 + positive), above_1 = 1 + positive;
  add_all({tan(x), asin(below_1), acos(below_1), atan(x), atan2(x, w), sinh(x), cosh(x), asinh(x), acosh(above_1),
           atanh(below_1), floor(x), ceil(x), round(x), trunc(x), frac(x), remainder(x, w), fmod(x, w)});
  add_all({rrelu(x)});
  add_all({leaky_relu(x), prelu(x, numbers({3})), selu(x), celu(x), mish(x), glu(numbers({2, 4})), softsign(x),
           logsigmoid(x), tanhshrink(x), hardsigmoid(x), hardswish(x)});
  add_all({binary_cross_entropy(below_1, below_1), gaussian_nll_loss(x, w, positive), smooth_l1_loss(x, w),
           huber_loss(x, w), binary_cross_entropy_with_logits(x, below_1, {.pos_weight = positive}),
           ctc_loss(numbers({3, 1, 3}), index({1}), index({3}), index({1}))});
  const Tensor cube = numbers({2, 3, 4}), square_matrix = numbers({3, 3}), row = numbers({3});
  const Index ids({2}, {1, 0});
  add_all({sum(x), mean(x), var(x), max(x), min(x), prod(x), logsumexp(x), cumsum(x, 1)});
  add_all({stddev(x), median(x), cumprod(x, 1), index_add(x, 0, ids, w), unflatten(x, 1, {3, 1}),
           scatter(x, 0, Index({1, 3}, {0, 1, 0}), numbers({1, 3})), unbind(x)[0]});
  add_all({reshape(x, {6}), flatten(x), squeeze(numbers({1, 3})), unsqueeze(x, 0), permute(cube, {2, 0, 1}),
           transpose(x), flip(x, {0}), roll(x, 1, 0), repeat_interleave(x, 2, 0), tile(x, {2, 2}), tril(x), triu(x)});
  add_all({slice(x, {0}), place(row, {0}, {2, 3}), narrow(x, 1, 0, 2), split(x, {1, 2}, 1)[0], chunk(x, 2)[0],
           pad(x, {{1, 0}, {0, 1}}), concat({x, w}), stack({x, w}), broadcast_to(row, {2, 3}), sum_to(x, {3})});
  add_all({embedding(x, ids), index_select(x, 0, ids), gather(x, 0, Index({1, 3}, {0, 1, 0})),
           scatter_add(x, 0, Index({1, 3}, {0, 1, 0}), numbers({1, 3})), masked_fill(x, w > 0, 1),
           masked_select(x, x == x), sort(x).values, topk(x, 2).values, x[ids]});
  add_all({softmax(x), log_softmax(x), masked_softmax(x, Index({2}, {1, 2})), masked_softmax(x, w > 0),
           cross_entropy(x, ids), cross_entropy(x, ids, {.reduction = Reduction::none}), mse_loss(x, w),
           layer_norm(x, row, row), rms_norm(x, row), batch_norm(x, row, row).y, dropout(x, 0.5), alias(x)});
  add_all({matmul(x, square_matrix), linear(x, square_matrix, row), dot(row, row), outer(row, row),
           einsum("ij,kj->ik", {x, w}), rotary(numbers({2, 4}))});
  const Tensor q = numbers({1, 3, 4}), k = numbers({1, 3, 4}, 2), v = numbers({1, 3, 4}, 3);
  add_all({scaled_dot_product_attention(q, k, v), multi_head_attention(q, k, v, 2), attention_weights(q, k, 2),
           weighted_sum(softmax(numbers({1, 3, 3})), v), linear_attention(q, k, v, 2)});
  const Tensor h = numbers({1, 2});
  add_all({rnn(numbers({1, 3, 2}), numbers({2, 2}), h, Squash::tanh).output,
           lstm(numbers({1, 3, 8}), numbers({8, 2}), h, h).output,
           gru(numbers({1, 3, 6}), numbers({6, 2}), numbers({6}), h).output});
  const Tensor image = numbers({1, 2, 4, 4}), line = numbers({1, 2, 4});
  add_all({conv1d(line, numbers({3, 2, 2})), conv2d(image, numbers({3, 2, 2, 2}), row),
           conv_transpose1d(line, numbers({2, 3, 2})), conv_transpose2d(image, numbers({2, 3, 2, 2})), unfold(image, 2),
           fold(numbers({1, 8, 9}), 4, 2)});
  add_all({max_pool1d(line, 2), max_pool2d(image, 2), avg_pool1d(line, 2), avg_pool2d(image, 2),
           adaptive_max_pool1d(line, 2), adaptive_max_pool2d(image, 2), adaptive_avg_pool1d(line, 2),
           adaptive_avg_pool2d(image, 2), interpolate(image, {.size = 3})});
  const Tensor symmetric = matmul(square_matrix, transpose(square_matrix)) + Tensor(eye(3));
  const linalg::Qr qr = linalg::qr(square_matrix);
  const linalg::Eigh eigh = linalg::eigh(symmetric);
  const linalg::Svd svd = linalg::svd(x, {.full_matrices = false});
  add_all({linalg::solve(square_matrix, row),
           linalg::solve_triangular(square_matrix, transpose(x)),
           linalg::inv(square_matrix),
           linalg::det(square_matrix),
           linalg::slogdet(square_matrix).logabsdet,
           linalg::cholesky(symmetric),
           qr.q,
           qr.r,
           eigh.eigenvalues,
           eigh.eigenvectors,
           svd.u,
           svd.s,
           svd.vh,
           linalg::norm(x),
           linalg::vector_norm(x, {.ord = 3}),
           linalg::diagonal(square_matrix),
           linalg::diag_embed(row),
           linalg::trace(square_matrix)});
  return {leaves, all};
}

// The names of the operations in the graphs of these tensors.
std::set<std::string> names_in(const Tensors& results) {
  std::set<std::string> names;
  const GraphOptions all{.depth = 99, .roll_up = false, .formulas = true, .max_nodes = 1 << 20};
  for (const GraphVertex& vertex : GraphView::of(results, all).vertices) {
    if (is_operation(vertex)) names.insert(vertex.op);
  }
  return names;
}

// Quoted texts in the sources after one of these words and a parenthesis or brace. (Operations on whole numbers are not
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

// All operations that the library records.
const std::set<std::string>& operations() {
  static const std::set<std::string> all = [] {
    manual_seed(1);
    const Calls calls = everything();
    std::set<std::string> names = names_in(calls.results);
    for (const Tensor& y : calls.results) {
      names.merge(names_in(grad(sum(y), calls.leaves, {.create_graph = true, .unused = Unused::zeros})));
    }
    names.merge(names_in_sources(
        "record|record_fused|elementwise|record_map|slice_part|slice_axis|reshape_as|resample|extreme|take_rows"));
    return names;
  }();
  return all;
}

// And with settings that change their formulas: "matmul transpose_b".
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
      "The names are those that diagrams, timers and errors use. x, a, b, ... are the inputs, y the result, gy the\n"
      "gradient of the result, ^T transposes. Elementwise operations print what their lambdas compute, the others what\n"
      "stands beside them in `ops/`: see [adding an operation](adding_an_operation.md). Diagrams show both\n"
      "([diagrams](diagrams.md)), programs ask `formula_of(\"tanh\")` (`core/base/formula.h`). The rows between them are\n"
      "written and held true by `tests/ops/elementwise/formula_test.cpp`.\n\n"
      "| operation | formula | gradient |\n|---|---|---|\n";
  const auto cell = [](std::string equation) {
    for (std::size_t at = 0; (at = equation.find('|', at)) != equation.npos; at += 2) equation.insert(at, "\\");
    return equation.empty() ? std::string() : cat('`', equation, '`');
  };
  for (const std::string& name : with_settings()) {
    const Formula formula = formula_of(name).value_or(Formula());
    append(text, cat("| ", name, " | ", cell(formula.value), " | ", cell(formula.derivative), " |\n"));
  }
  return text + "\n## Digits\n\n"
      "Elementwise results are within 4 units of the last place of the exact ones, slopes that are formulas of the\n"
      "rounded y or of several rounded factors within 6 (`tests/ops/elementwise/numerics_test.cpp`, in double and in float), with\n"
      "these exceptions:\n\n"
      "- The slopes of tanh and sigmoid are made of y, which is kept anyway. Where y comes near 1 they lose digits, and\n"
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

TEST_CASE("every operation has a formula, also those that only gradients consist of, and every formula an operation") {
  CHECK(operations().size() > 110);
  for (const std::string& name : operations()) {
    const std::optional<Formula> formula = formula_of(name);
    CHECK_MESSAGE((formula && !formula->value.empty()), name);
  }
  const std::set<std::string> lines = names_in_sources("XGRAD_FORMULA \\w+");
  CHECK(lines.size() > 80);
  for (const std::string& name : lines) CHECK_MESSAGE(operations().contains(name.substr(0, name.find(' '))), name);
}

TEST_CASE("a setting that is on may change the formula: a product of transposed factors") {
  const auto of = [](std::vector<std::string_view> settings) { return formula_of("matmul", settings).value(); };
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
      std::vector<std::string_view> settings;
      if (ta) settings.push_back("transpose_a");
      if (tb) settings.push_back("transpose_b");
      const Formula formula = of(settings);
      CAPTURE(formula.value);
      const std::map<std::string, Tensor> letters{{"a", a}, {"b", b}, {"gy", gy}};
      const Tensors gradients = grad(y, {a, b}, {.seed = gy});
      check_close(product(side_of(formula.value, "y = "), letters), y.value(), 1e-12);
      check_close(product(side_of(formula.derivative, "dL/da = "), letters), gradients[0].value(), 1e-12);
      check_close(product(side_of(formula.derivative, "dL/db = "), letters), gradients[1].value(), 1e-12);
    }
  }
}

TEST_CASE("docs/operations.md has the formulas of all operations") {
  const char* const file = "docs/operations.md";
  if (std::getenv("XGRAD_WRITE_PAGES")) std::ofstream(file) << page();
  CHECK_MESSAGE(read_text(file) == page(), "the page is stale: run this test with XGRAD_WRITE_PAGES=1");
}

struct Printed {
  const char* op;
  Tensor (*f)(const Tensor&);
  const char* value;
  const char* derivative;
  std::map<std::string, double> letters = {};
};

const std::vector<Printed> of_one_number{
    {"exp", exp, "y = e^x", "dy/dx = y"},
    {"expm1", expm1, "y = e^x - 1", "dy/dx = e^x"},
    {"log", log, "y = ln x", "dy/dx = 1/x"},
    {"log1p", log1p, "y = ln(1 + x)", "dy/dx = 1/(1 + x)"},
    {"sqrt", sqrt, "y = sqrt x", "dy/dx = 0.5/y"},
    {"rsqrt", rsqrt, "y = 1/sqrt x", "dy/dx = -0.5 y^3"},
    {"square", square, "y = x^2", "dy/dx = 2 x"},
    {"abs", abs, "y = |x|", "dy/dx = sign x"},
    {"sign", sign, "y = sign x", "dy/dx = 0"},
    {"sin", sin, "y = sin x", "dy/dx = cos x"},
    {"cos", cos, "y = cos x", "dy/dx = -sin x"},
    {"tanh", tanh, "y = tanh x", "dy/dx = 1 - y^2"},
    {"erf", erf, "y = erf x", "dy/dx = (2/sqrt pi) e^(-x^2)"},
    {"sigmoid", sigmoid, "y = sigmoid x", "dy/dx = y (1 - y)"},
    {"relu", relu, "y = max(x, 0)", "dy/dx = 0 if y <= 0, else 1"},
    {"softplus", softplus, "y = ln(1 + e^x)", "dy/dx = sigmoid x"},
    {"silu", silu, "y = x sigmoid x", "dy/dx = s (1 + x (1 - s)) with s = sigmoid x"},
    {"gelu", [](const Tensor& x) { return gelu(x); }, "y = x normal_cdf x",
     "dy/dx = x normal_pdf x + normal_cdf x"},
    {"gelu_tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); },
     "y = x sigmoid(2 sqrt(2/pi) x (1 + 0.044715 x^2))",
     "dy/dx = s + 2 sqrt(2/pi) x s (1 - s) (1 + 0.134145 x^2) with s = sigmoid(2 sqrt(2/pi) x (1 + 0.044715 x^2))"},
    {"exp2", exp2, "y = 2^x", "dy/dx = ln(2) y"},
    {"log2", log2, "y = ln(x)/ln 2", "dy/dx = (1/ln(2))/x"},
    {"log10", log10, "y = ln(x)/ln 10", "dy/dx = (1/ln(10))/x"},
    {"reciprocal", reciprocal, "y = 1/x", "dy/dx = -y^2"},
    {"tan", tan, "y = tan x", "dy/dx = 1 + y^2"},
    {"asin", asin, "y = asin x", "dy/dx = 1/sqrt((1 - x) (1 + x))"},
    {"acos", acos, "y = acos x", "dy/dx = -1/sqrt((1 - x) (1 + x))"},
    {"atan", atan, "y = atan x", "dy/dx = 1/(1 + x^2)"},
    {"sinh", sinh, "y = sinh x", "dy/dx = cosh x"},
    {"cosh", cosh, "y = cosh x", "dy/dx = sinh x"},
    {"asinh", asinh, "y = asinh x", "dy/dx = 1/sqrt(1 + x^2)"},
    {"acosh", acosh, "y = acosh x", "dy/dx = 1/(sqrt(x - 1) sqrt(x + 1))"},
    {"atanh", atanh, "y = atanh x", "dy/dx = 1/((1 - x) (1 + x))"},
    {"floor", floor, "y = floor x", "dy/dx = 0"},
    {"ceil", ceil, "y = ceil x", "dy/dx = 0"},
    {"round", round, "y = round x", "dy/dx = 0"},
    {"trunc", trunc, "y = trunc x", "dy/dx = 0"},
    {"frac", frac, "y = x - trunc x", "dy/dx = 1"},
    {"softsign", softsign, "y = x/(1 + |x|)", "dy/dx = 1/(1 + |x|)^2"},
    {"logsigmoid", logsigmoid, "y = -ln(1 + e^-x)", "dy/dx = sigmoid(-x)"},
    {"tanhshrink", tanhshrink, "y = x - tanh x", "dy/dx = tanh(x)^2"},
    {"hardsigmoid", hardsigmoid, "y = min(max(x + 3, 0), 6)/6",
     "dy/dx = 0.16666666666666666 if x > -3 and x < 3, else 0"},
    {"hardswish", hardswish, "y = 0 if x <= -3, x if x >= 3, else x (x + 3)/6",
     "dy/dx = 0 if x <= -3, 1 if x >= 3, else x/3 + 0.5"},
    {"leaky_relu",
     [](const Tensor& x) { return leaky_relu(x, {.negative_slope = 0.2}); },
     "y = x if x > 0, else slope x",
     "dy/dx = 1 if x > 0, else slope",
     {{"slope", 0.2}}},
    {"celu",
     [](const Tensor& x) { return celu(x, 0.7); },
     "y = x if x > 0, else alpha (e^(x/alpha) - 1)",
     "dy/dx = 1 if x > 0, else e^(x/alpha)",
     {{"alpha", 0.7}}},
    {"smooth_l1",
     [](const Tensor& x) { return smooth_l1_loss(x, Tensor(0), {.beta = 0.4}); },
     "y = x^2/(2 beta) if |x| < beta, else |x| - beta/2",
     "dy/dx = x/beta if |x| < beta, else sign x",
     {{"beta", 0.4}}},
    {"huber",
     [](const Tensor& x) { return huber_loss(x, Tensor(0), {.delta = 0.6}); },
     "y = x^2/2 if |x| < delta, else delta (|x| - delta/2)",
     "dy/dx = x if |x| < delta, else delta sign x",
     {{"delta", 0.6}}},
    {"neg", neg, "y = -x", "dy/dx = -1"},
    {"elu",
     [](const Tensor& x) { return elu(x, 0.7); },
     "y = x if x > 0, else alpha (e^x - 1)",
     "dy/dx = 1 if x > 0, else alpha e^x",
     {{"alpha", 0.7}}},
    {"clamp",
     [](const Tensor& x) { return clamp(x, {.min = 0.25, .max = 0.6}); },
     "y = max(min(x, high), low)",
     "dy/dx = 1 if x > low and x < high, else 0",
     {{"low", 0.25}, {"high", 0.6}}}};

TEST_CASE("an elementwise operation prints its formula and its derivative, which give its numbers and its gradient") {
  for (const auto& [name, f, value, derivative, letters] : of_one_number) {
    const std::string op = name;
    CAPTURE(op);
    for (const double x : {-2.3, -0.4, 0.3, 0.5, 1.7}) {
      if (x < 0 && std::set<std::string>{"log", "log1p", "log2", "log10", "sqrt", "rsqrt"}.contains(op)) continue;
      if (std::abs(x) > 1 && std::set<std::string>{"asin", "acos", "atanh"}.contains(op)) continue;
      if (x < 1 && std::string(op) == "acosh") continue;
      const Tensor input = variable(Real(x));
      const Tensor y = f(input);
      std::map<std::string, double> all = letters;
      all["x"] = x;
      all["y"] = y.item();
      CHECK(value_of(side_of(value, "y = "), all) == doctest::Approx(y.item()).epsilon(1e-12));
      CHECK(value_of(side_of(derivative, "dy/dx = "), all) ==
            doctest::Approx(grad(y, {input})[0].item()).epsilon(1e-12));
    }
    const Formula formula = formula_of(op).value_or(Formula());
    CHECK(formula.value == value);
    CHECK(formula.derivative == derivative);
  }
}

TEST_CASE("an operation of two numbers prints a derivative for each") {
  const std::vector<std::pair<std::string, Tensor (*)(const Tensor&, const Tensor&)>> functions{
      {"add", add},
      {"sub", sub},
      {"mul", mul},
      {"div", div},
      {"maximum", maximum},
      {"minimum", minimum},
      {"pow", pow},
      {"logaddexp", logaddexp},
      {"remainder", remainder},
      {"fmod", fmod}};
  for (const auto& [name, f] : functions) {
    const std::string& op = name;
    CAPTURE(op);
    for (const auto& [p, q] : {std::pair{0.7, 1.9}, {2.5, 0.4}, {1.5, 1.5}}) {
      const Tensor a = variable(Real(p)), b = variable(Real(q));
      const Tensor y = f(a, b);
      const Tensors gradients = grad(y, {a, b});
      const std::map<std::string, double> letters{{"a", p}, {"b", q}, {"y", y.item()}};
      const Formula formula = formula_of(op).value();
      CHECK(value_of(side_of(formula.value, "y = "), letters) == doctest::Approx(y.item()).epsilon(1e-12));
      CHECK(value_of(side_of(formula.derivative, "dy/da = "), letters) ==
            doctest::Approx(gradients[0].item()).epsilon(1e-12));
      CHECK(value_of(side_of(formula.derivative, "dy/db = "), letters) ==
            doctest::Approx(gradients[1].item()).epsilon(1e-12));
    }
  }
  CHECK(formula_of("div") == Formula{"y = a/b", "dy/da = 1/b; dy/db = -y/b"});
  CHECK(formula_of("maximum") == Formula{"y = max(a, b)",
                                         "dy/da = 0 if a < b, 0.5 if a = b, else 1; "
                                         "dy/db = 0 if b < a, 0.5 if a = b, else 1"});
  binary_cross_entropy_with_logits(Tensor(-1.5), Tensor(0.25));
  CHECK(formula_of("binary_cross_entropy_with_logits") ==
        Formula{"y = (1 - b) a + ln(1 + e^-a)", "dy/da = sigmoid a - b; dy/db = -a"});
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
