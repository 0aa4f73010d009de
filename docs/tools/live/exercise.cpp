// Exercises in the page: a task is drawn by its number, and an answer is compared with what the engine computes. A
// wrong answer is compared with what mistakes give, so that the reply names the mistake.
#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <utility>

#include "live.h"

namespace live {
namespace {

using namespace xgrad;

// A mistake: what it gives, and the reply.
template <class Result>
using Mistakes = std::vector<std::pair<Result, std::string>>;

Json reply(bool right, const std::string& why) { return {{"right", right}, {"why", why}}; }

// The reply for the first mistake that fits.
template <class Result>
std::string reason(const Result& given, const Mistakes<Result>& mistakes) {
  for (const auto& [result, why] : mistakes) {
    if (result == given) return why;
  }
  return {};
}

// The same numbers with every compiler.
class Draw {
 public:
  explicit Draw(std::int64_t number) : random_(static_cast<unsigned>(number) + 1) {}
  std::int64_t from(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(most - least + 1));
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::int64_t i = std::ssize(list) - 1; i > 0; --i)
      std::swap(list[static_cast<std::size_t>(i)], list[static_cast<std::size_t>(from(0, i))]);
  }

 private:
  std::mt19937 random_;
};

// -- the graph of an expression ---------------------------------------------------------------------------------------

using Arrows = std::set<std::pair<std::string, std::string>>;

const std::vector<std::string> graphs{"w * x + b",        "tanh(w * x + b)",    "x * x + x",
                                      "(w * x - t) ** 2", "exp(x) / (1 + x)",   "sum(softmax(s) * v)",
                                      "a * sin(a) - b",   "log(a + exp(b)) * a"};

bool leads(const Arrows& arrows, const std::string& from, const std::string& to) {
  return std::ranges::any_of(arrows, [&](const auto& arrow) {
    return arrow.first == from && (arrow.second == to || leads(arrows, arrow.second, to));
  });
}

std::string why_not(const Arrows& given, const Arrows& right, const std::set<std::string>& leaves) {
  const auto inputs = [&right](const std::string& box) {
    return std::ranges::count(right, box, &Arrows::value_type::second);
  };
  for (const auto& [from, to] : given) {
    if (right.contains({from, to})) continue;
    if (right.contains({to, from}))
      return str("the arrow between ", from, " and ", to, " points backwards: values flow from inputs to results");
    if (from == to) return str(from, " cannot read its own result: a graph has no cycles");
    if (leaves.contains(to)) return str(to, " is given, not computed: no arrow ends at it");
    if (leads(right, from, to)) {
      return str(to, " does not read ", from, " itself: it reads a value that was computed from ", from,
                 ", and the path through that box is enough");
    }
    if (leads(right, to, from)) return str(from, " is computed after ", to, ", which cannot read it");
    return str(to, " does not read ", from, ": look which operation has ", from, " as its operand");
  }
  for (const auto& [from, to] : right) {
    if (given.contains({from, to})) continue;
    if (std::ranges::find(given, from, &Arrows::value_type::first) != given.end()) {
      return str(from, " is used more than once: one box, and one arrow for each operation that reads it");
    }
    return str("an arrow is missing: ", to, " reads ", inputs(to), inputs(to) == 1 ? " box" : " boxes");
  }
  return {};
}

Json graph_exercise(std::int64_t number, const Json& request) {
  const std::string text = graphs[static_cast<std::size_t>(number) % graphs.size()];
  const Json graph = expression({{"text", text}, {"numbers", {{"s", {1, 2}}, {"v", {3, 4}}}}}).at("graph");
  std::map<std::string, std::string> names;
  std::vector<std::string> boxes;
  std::set<std::string> leaves;
  for (const Json& vertex : graph.at("vertices")) {
    std::string name = vertex.at("op");
    if (name == "leaf") {
      name = vertex.at("name");
      if (name.empty()) name = vertex.at("number").dump();
      leaves.insert(name);
    }
    names[vertex.at("id")] = name;
    boxes.push_back(name);
  }
  Draw(number).shuffle(boxes);
  Arrows right;
  for (const Json& edge : graph.at("edges")) right.emplace(names.at(edge.at("from")), names.at(edge.at("to")));
  if (request.contains("answer")) {
    Arrows given;
    for (const Json& arrow : request.at("answer")) given.emplace(arrow.at(0), arrow.at(1));
    const std::string why = why_not(given, right, leaves);
    return reply(why.empty(),
                 why.empty() ? "every operation reads its operands, and the result is read by nothing" : why);
  }
  Json solution = Json::array();
  for (const auto& [from, to] : right) solution.push_back({from, to});
  return {{"text", "y = " + text}, {"boxes", boxes}, {"solution", solution}};
}

// -- the shape of a result --------------------------------------------------------------------------------------------

struct ShapeTask {
  std::string text;
  std::vector<std::pair<std::string, Shape>> given;
  std::function<Tensor(const Tensors&)> result;
  Mistakes<Shape> mistakes;
};

ShapeTask shape_task(std::int64_t number) {
  Draw draw(number);
  std::vector<std::int64_t> sizes{2, 3, 4, 5, 6};
  draw.shuffle(sizes);
  const std::int64_t p = sizes[0], q = sizes[1], r = sizes[2], s = sizes[3];
  const std::string right_aligned = "axes are matched from the last one backwards, not from the first";
  switch (number % 11) {
    case 0:
      return {"a + b",
              {{"a", {p, 1, q}}, {"b", {r, 1}}},
              [](const Tensors& x) { return x[0] + x[1]; },
              {{{p, 1, q}, "the axis of size 1 is broadcast: it takes the size of the other operand"},
               {{p, r, 1}, "the last axis of b has size 1, and is broadcast to that of a"},
               {{r, 1, q}, right_aligned}}};
    case 1:
      return {"matmul(a, b)",
              {{"a", {p, q, r}}, {"b", {r, s}}},
              [](const Tensors& x) { return matmul(x[0], x[1]); },
              {{{p, s, q}, "transposed: rows of the result are rows of a, columns are columns of b"},
               {{q, s}, "the leading axis of a is a batch: each of its matrices is multiplied by b"},
               {{p, q, r}, "the inner axis is summed over: the last axis is that of b"},
               {{p, q, r, s}, "the inner axis is summed over, and does not stay"}}};
    case 2:
      return {"a + b",
              {{"a", {p, q}}, {"b", {p}}},
              [](const Tensors& x) { return x[0] + x[1]; },
              {{{p, q}, "b has one axis, which is matched with the last of a: " + right_aligned},
               {{p, p}, str("sizes ", q, " and ", p, " are matched, and none of them is 1")}}};
    case 3:
      return {"sum(a, axis 1)",
              {{"a", {p, q, r}}},
              [](const Tensors& x) { return sum(x[0], 1); },
              {{{p, 1, r}, "the axis disappears: only with keepdim it stays, with size 1"},
               {{q, r}, "this is the sum over axis 0: axes count from 0"},
               {{p, q}, "this is the sum over axis 2: axes count from 0"},
               {{q}, "axis 1 is summed over; the others stay"},
               {{}, "only axis 1 is summed over; the others stay"}}};
    case 4:
      return {"matmul(q, transpose(k, 1, 2))",
              {{"q", {p, q, r}}, {"k", {p, s, r}}},
              [](const Tensors& x) { return matmul(x[0], transpose(x[1], 1, 2)); },
              {{{p, s, q}, "transposed: a row for each query, a column for each key"},
               {{p, r, r}, "the last axis of q is summed over, that of the channels"},
               {{q, s}, "axis 0 is a batch, of heads for example: each has scores of its own"},
               {{p, q, r}, "k is transposed: its keys become the columns"}}};
    case 5:
      return {"mean(a, axis 0, keepdim)",
              {{"a", {p, q}}},
              [](const Tensors& x) { return mean(x[0], 0, {.keepdim = true}); },
              {{{q}, "keepdim: the axis stays, with size 1"},
               {{p, 1}, "this is the mean over axis 1: axes count from 0"},
               {{1, 1}, "only axis 0 is averaged over"}}};
    case 6:
      return {"permute(a, {2, 0, 1})",
              {{"a", {p, q, r}}},
              [](const Tensors& x) {
                return permute(x[0], {2, 0, 1});
              },
              {{{q, r, p}, "the inverse permutation: axis i of the result is axis {2, 0, 1}[i] of a"},
               {{r, q, p}, "this turns the axes around: axis 0 of the result is axis 2 of a, then come 0 and 1"}}};
    case 7:
      return {"concat({a, b}, axis 1)",
              {{"a", {p, q}}, {"b", {p, r}}},
              [](const Tensors& x) { return concat(x, 1); },
              {{{2, p, q}, "this is what stack does, a new axis; concat joins along one that is there"},
               {{2 * p, q + r}, "only axis 1 grows"},
               {{p + p, q}, "this joins along axis 0"}}};
    case 8:
      return {"reshape(a, {-1, " + std::to_string(r) + "})",
              {{"a", {p, q, r}}},
              [r](const Tensors& x) {
                return reshape(x[0], {-1, r});
              },
              {{{p + q, r}, "sizes are multiplied, not added: the number of elements stays"},
               {{p, r}, "the number of elements stays: -1 stands for all that is left"}}};
    case 9:
      return {"matmul(a, b)",
              {{"a", {p, q}}, {"b", {p, r}}},
              [](const Tensors& x) { return matmul(x[0], x[1]); },
              {{{q, r}, "this is the product of the transposed a and b: the last axis of a must fit the first of b"},
               {{p, r}, str("the last axis of a has ", q, " elements, the first of b has ", p, ": they do not fit")}}};
    default:
      return {"stack({a, b}, axis 0)",
              {{"a", {p, q}}, {"b", {p, q}}},
              [](const Tensors& x) { return stack(x, 0); },
              {{{2 * p, q}, "this is what concat does; stack makes a new axis"},
               {{p, q, 2}, "the new axis is axis 0, the first"},
               {{p, 2 * q}, "this is what concat does along axis 1; stack makes a new axis"}}};
  }
}

Json shape_exercise(std::int64_t number, const Json& request) {
  const ShapeTask task = shape_task(number);
  Tensors inputs;
  Json given = Json::array();
  for (const auto& [name, shape] : task.given) {
    inputs.push_back(Tensor(Array(shape, Real(0))));
    given.push_back({{"name", name}, {"shape", std::vector<std::int64_t>(shape.begin(), shape.end())}});
  }
  std::string refused;
  Shape right;
  try {
    right = task.result(inputs).shape();
  } catch (const ShapeError& error) {
    refused = error.what();
  }
  const Json solution = refused.empty() ? Json(std::vector<std::int64_t>(right.begin(), right.end())) : Json();
  if (!request.contains("answer")) return {{"text", task.text}, {"given", given}, {"solution", solution}};
  const Json& answer = request.at("answer");
  if (answer.is_null()) {
    if (!refused.empty()) return reply(true, "the engine says: " + refused);
    return reply(false,
                 str("the engine takes these shapes",
                     task.text == "a + b" ? ": an axis of size 1, or one that is missing, fits every size" : ""));
  }
  const auto sizes = answer.get<std::vector<std::int64_t>>();
  const Shape shape(std::span<const std::int64_t>{sizes});
  if (refused.empty() && shape == right) return reply(true, str("the result has shape ", right));
  std::string why = reason(shape, task.mistakes);
  if (why.empty() && !refused.empty()) why = "no: do these shapes fit at all?";
  if (why.empty()) {
    Shape in_order = shape, right_in_order = right;
    std::ranges::sort(in_order);
    std::ranges::sort(right_in_order);
    if (in_order == right_in_order) {
      why = "the sizes are right, their order is not: transposed";
    } else if (shape.size() != right.size()) {
      why = str("the result has ", right.size(), " axes, not ", shape.size());
    } else {
      const auto at = std::ranges::mismatch(shape, right).in1 - shape.begin();
      why = str("axis ", at, " does not have ", shape[static_cast<std::size_t>(at)], " elements");
    }
  }
  return reply(false, why);
}

// -- the mask of attention --------------------------------------------------------------------------------------------

using Cells = std::vector<bool>;  // true: hidden

struct MaskTask {
  std::string text;
  std::int64_t rows, columns;
  std::function<bool(std::int64_t i, std::int64_t j)> hides;
  std::vector<std::pair<std::function<bool(std::int64_t, std::int64_t)>, std::string>> mistakes;
};

MaskTask mask_task(std::int64_t number) {
  Draw draw(number);
  const std::int64_t T = draw.from(4, 5), length = draw.from(2, T - 1), before = draw.from(1, 2),
                     past = draw.from(1, 3);
  const auto of = [](const Mask& mask) { return [mask](std::int64_t i, std::int64_t j) { return mask.at({i, j}); }; };
  const auto padding = [&](std::int64_t rows) {
    Mask all(Shape{rows, T}, false);
    return all || nn::padding_mask(Index({1}, {length}), T);
  };
  const auto causal = nn::causal_mask(T);
  const std::string own = "a position may attend to itself: the diagonal is not hidden";
  switch (number % 5) {
    case 0:
      return {"The causal mask of a decoder: no position may attend to a later one.",
              T,
              T,
              of(causal),
              {{[](auto i, auto j) { return j >= i; }, own},
               {[](auto i, auto j) { return j > i + 1; }, "shifted by one: the next position is hidden, too"}}};
    case 1:
      return {str("The padding mask of a sentence of ", length, " tokens, padded to ", T, "."),
              T,
              T,
              of(padding(T)),
              {{[length](auto i, auto) { return i >= length; },
                "these are the rows of the padding: keys are hidden, which are columns"},
               {[length](auto i, auto j) { return i >= length || j >= length; },
                "rows of padding stay as they are, nobody reads their results: only columns are hidden"},
               {[length](auto, auto j) { return j > length; }, "shifted by one: positions count from 0"}}};
    case 2:
      return {str("A window: each position attends to ", before, " before it, to itself, and to 1 after it."),
              T,
              T,
              of(nn::window_mask(T, {.before = before, .after = 1})),
              {{[before](auto i, auto j) { return i - j > 1 || j - i > before; },
                "before and after are exchanged: keys before are left of the diagonal"},
               {[before](auto i, auto j) { return i - j > before || j > i; }, "the one after it is missing"},
               {[before](auto i, auto j) { return i - j > before || j - i > 1 || i == j; }, own},
               {[before](auto i, auto j) { return i - j >= before || j - i > 1; }, "the window begins one too late"}}};
    case 3:
      return {str("Both masks at once: causal, and a sentence of ", length, " tokens padded to ", T, "."),
              T,
              T,
              of(causal || nn::padding_mask(Index({1}, {length}), T)),
              {{of(causal), "the padding is forgotten: its columns are hidden for every position"},
               {of(padding(T)), "the causal mask is forgotten: later keys are hidden, too"},
               {[length](auto i, auto j) { return j > i && j >= length; },
                "a key is hidden if one of the masks hides it, not only if both do"}}};
    default:
      return {
          str("Causal, with a cache: ", T - 1, " new positions after ", past, " earlier ones, whose keys come first."),
          T - 1,
          past + T - 1,
          of(nn::causal_mask(T - 1, past)),
          {{[](auto i, auto j) { return j > i; },
            str("the ", past, " earlier keys are forgotten: every new position may attend to them")},
           {[past](auto i, auto j) { return j >= i + past; }, own}}};
  }
}

Json mask_exercise(std::int64_t number, const Json& request) {
  const MaskTask task = mask_task(number);
  const auto cells = [&task](const auto& hides) {
    Cells all;
    for (std::int64_t i = 0; i < task.rows; ++i) {
      for (std::int64_t j = 0; j < task.columns; ++j) all.push_back(hides(i, j));
    }
    return all;
  };
  const Cells right = cells(task.hides);
  if (!request.contains("answer"))
    return {{"text", task.text}, {"rows", task.rows}, {"columns", task.columns}, {"solution", right}};
  const auto given = request.at("answer").get<Cells>();
  if (given.size() != right.size())
    fail<ValueError>("mask", given.size(), " cells for ", task.rows, " x ", task.columns);
  if (given == right) return reply(true, "rows are queries, columns are keys, and each row keeps a key");
  Mistakes<Cells> mistakes;
  for (const auto& [hides, why] : task.mistakes) mistakes.emplace_back(cells(hides), why);
  mistakes.emplace_back(cells([&](auto i, auto j) { return !task.hides(i, j); }),
                        "inverted: marked cells are hidden, and you marked those that may be seen");
  if (task.rows == task.columns) {
    mistakes.emplace_back(cells([&](auto i, auto j) { return task.hides(j, i); }),
                          "transposed: rows are queries, columns are keys");
  }
  std::string why = reason(given, mistakes);
  if (why.empty()) {
    const auto at = std::ranges::mismatch(given, right).in1 - given.begin();
    why = str("query ", at / task.columns, given[static_cast<std::size_t>(at)] ? " may" : " may not", " attend to key ",
              at % task.columns);
  }
  return reply(false, why);
}

// -- gradients --------------------------------------------------------------------------------------------------------

struct GradientTask {
  std::string text;
  std::string inner;  // a part of the text, to find a forgotten chain rule
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> letters;
};

GradientTask gradient_task(std::int64_t number) {
  Draw draw(number);
  const auto one = [&draw](std::int64_t least, std::int64_t most) { return std::vector{draw.from(least, most)}; };
  const auto list = [&draw] { return std::vector{draw.from(-3, 0), draw.from(1, 2), draw.from(3, 5)}; };
  switch (number % 7) {
    case 0:
      return {"w * x + b", "", {{"w", one(2, 4)}, {"x", one(5, 8)}, {"b", one(1, 3)}}};
    case 1:
      return {"(w * x - t) ** 2", "w * x - t", {{"w", one(2, 3)}, {"x", one(4, 6)}, {"t", one(1, 5)}}};
    case 2:
      return {"x * x + a * x", "", {{"x", one(3, 6)}, {"a", one(7, 9)}}};
    case 3:
      return {"sum(a * v)", "", {{"a", one(2, 5)}, {"v", list()}}};
    case 4:
      return {"relu(a - b) * c", "", {{"a", one(5, 7)}, {"b", one(1, 3)}, {"c", one(8, 9)}}};
    case 5:
      return {"sum((v + b) ** 2)", "v + b", {{"v", list()}, {"b", one(1, 3)}}};
    default:
      return {"(a + b) * (a - c)", "", {{"a", one(6, 9)}, {"b", one(1, 2)}, {"c", one(3, 5)}}};
  }
}

bool is_letter_at(const std::string& text, std::size_t at, const std::string& name) {
  const auto in_word = [&text](std::size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i]));
  };
  return text.compare(at, name.size(), name) == 0 && !in_word(at + name.size()) && (at == 0 || !in_word(at - 1));
}

std::vector<double> gradient_of(const std::string& text, const Json& given, const std::string& name) {
  const Json answer = expression({{"text", text}, {"numbers", given}, {"only", "gradients"}});
  for (const Json& letter : answer.at("letters")) {
    if (letter.at("name") == name && letter.contains("gradient"))
      return letter.at("gradient").get<std::vector<double>>();
  }
  return {};
}

bool near(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b,
                            [](double x, double y) { return std::abs(x - y) <= 1e-3 * std::max(1.0, std::abs(y)); });
}
std::vector<double> list_of(const Json& number) {
  return number.is_array() ? number.get<std::vector<double>>() : std::vector{number.get<double>()};
}
std::vector<double> times(std::vector<double> list, double factor) {
  for (double& each : list) each *= factor;
  return list;
}

// Why a gradient of a letter is wrong.
std::string why_not(const GradientTask& task, const Json& numbers, const std::string& name,
                    const std::vector<double>& given, const std::vector<double>& right) {
  // One path at a time: each use of the letter is a letter of its own.
  std::vector<std::vector<double>> paths;
  for (std::size_t at = 0; at < task.text.size(); ++at) {
    if (!is_letter_at(task.text, at, name)) continue;
    Json more = numbers;
    more["other"] = numbers.at(name);
    paths.push_back(gradient_of(std::string(task.text).replace(at, name.size(), "other"), more, "other"));
  }
  const std::size_t all = (std::size_t{1} << paths.size()) - 1;
  for (std::size_t some = 1; some < all; ++some) {
    std::vector<double> sum(right.size(), 0);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      for (std::size_t j = 0; j < sum.size() && (some >> i & 1) != 0; ++j) sum[j] += paths[i][j];
    }
    if (near(given, sum))
      return str(name, " is used ", paths.size(), " times, and you counted ", std::popcount(some),
                 ": the gradients of all uses are added");
  }
  if (near(given, times(right, -1))) return "the sign is wrong";
  if (right.size() == 1) {  // broadcast over the elements of another letter
    for (const auto& [other, value] : task.letters) {
      if (value.size() == 1) continue;
      Json more = numbers;
      more[name] = std::vector<double>(value.size(), numbers.at(name).get<double>());
      const std::vector<double> each = gradient_of(task.text, more, name);
      const std::string summed =
          str(name, " is broadcast over ", value.size(), " elements: its gradient is the sum over this axis");
      if (given.size() == each.size()) return summed + ", one number";
      if (std::ranges::any_of(each, [&](double number) { return near(given, {number}); })) return summed;
      if (near(given, times(right, 1.0 / static_cast<double>(value.size())))) return summed + ", not the mean";
    }
  } else if (given.size() == 1) {
    return str("the gradient has the shape of ", name, ": ", right.size(), " numbers");
  }
  if (!task.inner.empty()) {
    std::string outer = task.text;
    outer.replace(outer.find(task.inner), task.inner.size(), "inner");
    Json more = numbers;
    const Json value = expression({{"text", task.inner}, {"numbers", numbers}, {"only", "value"}}).at("value");
    more["inner"] = value.size() == 1 ? value.at(0) : value;
    if (near(given, gradient_of("sum(" + task.inner + ")", numbers, name)))
      return str("this is the gradient of ", task.inner,
                 ": the chain rule multiplies by the derivative of what is around it");
    const std::vector<double> around = gradient_of(outer, more, "inner");
    if (near(given, around) && !near(around, right))
      return str("this is the derivative by ", task.inner, ": the chain rule multiplies by its gradient by ", name);
  }
  if (task.text.find("**") != std::string::npos && near(given, times(right, 0.5)))
    return "half of it: the power gives a factor of 2";
  for (const auto& [other, value] : task.letters) {
    if (other != name && near(given, gradient_of(task.text, numbers, other)))
      return str("this is the gradient of ", other);
  }
  if (near(given, list_of(numbers.at(name)))) return str("this is the value of ", name, ", not its gradient");
  return str("this does not fit: let ", name, " grow by 0.01, and divide what y grows by 0.01");
}

Json gradient_exercise(std::int64_t number, const Json& request) {
  const GradientTask task = gradient_task(number);
  Json given, letters = Json::array(), solution;
  for (const auto& [name, value] : task.letters) given[name] = value.size() == 1 ? Json(value[0]) : Json(value);
  for (const auto& [name, value] : task.letters) {
    letters.push_back({{"name", name}, {"value", value}});
    solution[name] = gradient_of(task.text, given, name);
  }
  if (!request.contains("answer")) return {{"text", "y = " + task.text}, {"letters", letters}, {"solution", solution}};
  for (const auto& [name, right] : solution.items()) {
    const auto numbers = request.at("answer").at(name).get<std::vector<double>>();
    const auto known = right.get<std::vector<double>>();
    if (!near(numbers, known) || numbers.size() != known.size())
      return reply(false, str("gradient of ", name, ": ", why_not(task, given, name, numbers, known)));
  }
  return reply(true, "all gradients are those of the engine");
}

}  // namespace

Json exercise(const Json& request) {
  const std::string task = request.at("task");
  const std::int64_t number = request.value("number", 0);
  if (number < 0) fail<ValueError>("exercise", "there is no exercise ", number);
  if (task == "graph") return graph_exercise(number, request);
  if (task == "shape") return shape_exercise(number, request);
  if (task == "mask") return mask_exercise(number, request);
  if (task == "gradient") return gradient_exercise(number, request);
  fail<ValueError>("exercise", "there is no task \"", task, '"');
}

}  // namespace live
