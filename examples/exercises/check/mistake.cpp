#include "mistake.h"

#include <algorithm>
#include <optional>
#include <set>

namespace xgrad::exercises {
namespace {

bool fits(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.size() == 0) return false;
  const double largest = max(abs(b)).item();
  return allclose(a, b, {.rtol = 1e-4, .atol = std::isfinite(largest) ? 2e-5 * largest : 0});
}

// f(), or nothing where the library refuses, for shapes that do not fit, for example.
template <class F>
auto tried(const F& f) -> decltype(f()) {
  try {
    return f();
  } catch (const Error&) {
    return {};
  }
}

// The given arguments with another value of argument i.
Arguments replaced(Arguments given, std::size_t i, const auto& value) {
  given[i].value = value;
  return given;
}

// The given arguments with f of each tensor.
Arguments with_each(Arguments given, const auto& f) {
  for (Given& one : given) {
    if (const auto* x = std::get_if<Tensor>(&one.value)) one.value = f(x->detach());
  }
  return given;
}

// A number by which something may be wrong, and where it comes from.
struct Factor {
  double value;
  std::string origin;
};
std::vector<Factor> factors(const Arguments& given, const Tensor& right) {
  std::vector<Factor> all;
  std::set<std::int64_t> seen;
  const auto add = [&](std::int64_t n, const std::string& origin) {
    if (n < 2 || !seen.insert(n).second) return;
    all.push_back({double(n), origin});
    if (!origin.starts_with("the number")) all.push_back({std::sqrt(double(n)), str("the root of ", n, ", ", origin)});
  };
  const auto add_shape = [&](const std::string& name, const Shape& shape) {
    for (int axis = 0; axis < shape.rank(); ++axis) add(shape[axis], str("the size of axis ", axis, " of ", name));
    add(shape.numel(), "the number of elements of " + name);
  };
  for (const Given& one : given) {
    if (const auto* x = std::get_if<Tensor>(&one.value)) add_shape(one.name, x->shape());
    if (const auto* x = std::get_if<Index>(&one.value)) add_shape(one.name, x->shape());
    if (const auto* x = std::get_if<std::int64_t>(&one.value)) add(*x, one.name);
  }
  add_shape("the result", right.shape());
  const double pi = std::acos(-1.);
  all.insert(all.end(), {{2, ""}, {3, ""}, {4, ""}, {std::log(2.), "ln 2"}, {pi, "pi"}, {2 * pi, "2 pi"}});
  return all;
}

// The factor that leads from `right` to x, if one does for all elements. A single element has always one.
std::optional<double> factor_of(const Tensor& x, const Tensor& right) {
  if (x.shape() != right.shape() || x.size() == 0) return {};
  const double squares = sum(square(right)).item();
  if (!(squares > 0) || !std::isfinite(squares)) return {};
  const double factor = sum(x * right).item() / squares;
  if (!std::isfinite(factor) || !fits(x, factor * right)) return {};
  return std::abs(factor) < 1e-6 ? 0 : factor;
}

// "6 times the right value: 6 is the size of axis 0 of x, so a sum stands where a mean belongs"
std::string factor_text(double factor, const Arguments& given, const Tensor& right, bool any) {
  if (std::abs(factor - 1) < 1e-4) return {};
  if (factor == 0) return "everything is 0: a factor of 0, such as 1 / 2, which is 0 in C++ (1.0 / 2 is one half)";
  if (std::abs(factor + 1) < 1e-4) return "the right value with the wrong sign";
  const std::string sign = factor < 0 ? "minus " : "";
  const double size = std::abs(factor);
  const auto near = [size](double value) { return std::abs(size / value - 1) < 2e-4; };
  for (const Factor& known : factors(given, right)) {
    const bool counts = known.origin.starts_with("the size") || known.origin.starts_with("the number");
    const std::string number = digits(known.value),
                      origin = known.origin.empty() ? "" : str(" (", number, " is ", known.origin, ")");
    if (near(known.value))
      return str(sign, number, " times the right value", origin, counts ? ": perhaps a sum where a mean belongs" : "");
    if (near(1 / known.value))
      return str(sign, "the right value divided by ", number, origin,
                 counts ? ": perhaps a mean where a sum belongs" : "");
  }
  if (!any) return {};
  if (std::abs(factor - std::round(factor)) < 1e-4 || size > 1)
    return str(digits(factor), " times the right value everywhere");
  return str("the right value divided by ", digits(1 / factor), " everywhere");
}

struct Change {
  std::string text;  // a function, "the square", or an order, "transposed"
  std::function<Tensor(const Tensor&)> of;
};

std::vector<Change> functions() {
  return {
      {"the absolute value", [](const Tensor& x) { return abs(x); }},
      {"the square", [](const Tensor& x) { return square(x); }},
      {"the root", [](const Tensor& x) { return sqrt(x); }},
      {"the reciprocal", [](const Tensor& x) { return 1 / x; }},
      {"exp", [](const Tensor& x) { return exp(x); }},
      {"the logarithm", [](const Tensor& x) { return log(x); }},
      {"tanh", [](const Tensor& x) { return tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return sigmoid(x); }},
      {"relu", [](const Tensor& x) { return relu(x); }},
      {"the softmax", [](const Tensor& x) { return x.rank() > 0 ? softmax(x) : x; }},
      {"the log_softmax", [](const Tensor& x) { return x.rank() > 0 ? log_softmax(x) : x; }},
  };
}

// Tensors of the same shape that are x in another order.
std::vector<Change> orders(const Shape& shape) {
  std::vector<Change> all;
  const int rank = shape.rank();
  for (int a = rank - 2; a >= 0; --a) {
    for (int b = rank - 1; b > a; --b) {
      if (shape[a] != shape[b] || shape[a] < 2) continue;
      all.push_back({rank == 2 ? "transposed" : str("with the axes ", a, " and ", b, " exchanged"),
                     [a, b](const Tensor& x) { return transpose(x, a, b); }});
    }
  }
  for (int axis = 0; axis < rank; ++axis) {
    if (shape[axis] < 2) continue;
    all.push_back({str("in reverse order along axis ", axis), [axis](const Tensor& x) { return flip(x, Axes{axis}); }});
    if (shape[axis] < 3) continue;
    for (const int by : {1, -1}) {
      all.push_back({str("shifted by one along axis ", axis, by > 0 ? " (towards the end)" : " (towards the front)"),
                     [axis, by](const Tensor& x) { return roll(x, by, axis); }});
    }
  }
  return all;
}

// Whether x is `right` one place further along an axis, whatever came in at the other end.
bool shifted(const Tensor& x, const Tensor& right, int axis, int by) {
  const std::int64_t n = x.dim(axis);
  const auto part = [&](const Tensor& t, std::int64_t first) { return narrow(t, axis, first, n - 1); };
  return n > 2 && fits(part(x, by > 0 ? 1 : 0), part(right, by > 0 ? 0 : 1));
}

// The right result with another sign, a factor that means something, other axes, or shifted.
std::string plain_form(const Tensor& x, const Tensor& right, const Arguments& given) {
  if (x.shape() != right.shape()) return {};
  if (const auto factor = factor_of(x, right)) {
    const bool means_something = x.size() > 1 || *factor == 0 || std::abs(*factor + 1) < 1e-4;
    const auto text = means_something ? factor_text(*factor, given, right, false) : "";
    if (!text.empty()) return text;
  }
  for (const Change& order : orders(x.shape())) {
    if (fits(x, order.of(right))) return "the right result " + order.text;
    if (fits(x, -order.of(right))) return "minus the right result " + order.text;
  }
  for (int axis = 0; axis < x.rank(); ++axis) {
    for (const int by : {1, -1}) {
      if (shifted(x, right, axis, by))
        return str("the right results, but at the place of the ", by > 0 ? "next" : "one before",
                   ": shifted by one along axis ", axis);
    }
  }
  return {};
}

// The right result under a function, with an argument too many or too few, or times or plus a number.
std::string other_form(const Tensor& x, const Tensor& right, const Arguments& given) {
  if (x.shape() != right.shape()) return {};
  for (const Change& function : functions()) {
    if (fits(x, function.of(right))) return str("the right result inside ", function.text, ", which is one too many");
    if (x.size() > 1 && !fits(right, x) && fits(right, function.of(x)))
      return str(function.text, " of it is the right result");
  }
  for (const Given& one : given) {
    const auto* argument = std::get_if<Tensor>(&one.value);
    if (argument == nullptr || x.size() < 2) continue;
    const Tensor wide = tried([&] { return broadcast_to(argument->detach(), x.shape()); });
    if (!wide.defined()) continue;
    if (fits(x, wide)) return str("this is ", one.name, " as it came in");
    if (fits(x - right, wide)) return str("the right result plus ", one.name, ", which is added once too often");
    if (fits(x - right, -wide))
      return str("the right result minus ", one.name, ": it is not added, or subtracted once too often");
    if (fits(x - right, -2 * wide))
      return str("the right result minus 2 times ", one.name, ": it is subtracted where it is to be added");
    if (fits(x, (right - wide) * wide)) return str("it is multiplied by ", one.name, ", which is to be added");
    if (fits(x, right / wide + wide)) return str(one.name, " is added, by which it is to be multiplied");
    if (fits(x, right * wide)) return str("the right result times ", one.name, ", a factor too many");
    if (fits(x * wide, right)) return str("without the factor ", one.name);
  }
  if (x.size() > 1) {
    const double offset = mean(x - right).item();
    if (std::abs(offset) > 1e-5 && fits(x - right, full(x.shape(), offset)))
      return str("everywhere the right value plus ", digits(offset));
  }
  return {};
}

// A shape that is not right, with elements that are.
std::string shape_form(const Tensor& x, const Tensor& right) {
  if (x.size() == right.size() && fits(reshape(x, right.shape()), right))
    return ": the elements are right, the shape is not; reshape, squeeze or {.keepdim = ...} mend it";
  const int rank = x.rank();
  if (rank >= 2) {
    Axes order;
    for (int axis = 0; axis < rank; ++axis) order.push_back(axis);
    do {
      if (fits(permute(x, order), right))
        return str(": its axes are in another order; permute(result, ", order, ") is right");
    } while (std::ranges::next_permutation(order).found);
  }
  for (int axis = 0; axis < rank; ++axis) {
    if (fits(sum(x, axis), right)) return str(": the sum over its axis ", axis, " is missing");
    if (fits(mean(x, axis), right)) return str(": the mean over its axis ", axis, " is missing");
  }
  if (right.rank() == 0) {
    if (fits(sum(x), right)) return ": the sum over all elements is missing";
    if (fits(mean(x), right)) return ": the mean over all elements is missing";
  }
  return {};
}

// A list of arguments that differs from the given one as the text says.
struct Changed {
  std::string text;
  Arguments arguments;
};

std::vector<Changed> changes(const Arguments& given, const Tensor& right) {
  std::vector<Changed> all;
  const auto with = [&](std::size_t i, const auto& value, const std::string& text) {
    all.push_back({text, replaced(given, i, value)});
  };
  const std::vector<Factor> known = factors(given, right);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].name;
    // Zeros, such as a running mean before the first step, have changes by chance that give the result.
    const auto* zeros_of = std::get_if<Tensor>(&given[i].value);
    if (zeros_of != nullptr && max(abs(*zeros_of)).item() == 0) continue;
    const auto instead = [&](const std::string& text) { return str(text, " in place of ", name); };
    for (std::size_t j = 0; j < given.size(); ++j) {
      if (i == j || given[i].value.index() != given[j].value.index()) continue;
      with(i, given[j].value, instead(given[j].name));
      if (i > j) continue;
      all.push_back({str(name, " and ", given[j].name, " in each other's place"),
                     replaced(replaced(given, i, given[j].value), j, given[i].value)});
    }
    if (const auto* number = std::get_if<double>(&given[i].value)) {
      const double a = *number;
      with(i, 0., str(name, " = 0: ", name, " takes no part"));
      with(i, -a, instead("-" + name)), with(i, 1 - a, instead("1 - " + name)), with(i, 1 / a, instead("1 / " + name));
      with(i, a * a, instead(name + "^2")), with(i, std::sqrt(a), instead(str("sqrt(", name, ")")));
      with(i, 1., instead("1"));
      for (const Factor& factor : known) {
        with(i, factor.value * a, instead(str(digits(factor.value), " ", name)));
        with(i, a / factor.value, instead(str(name, " / ", digits(factor.value))));
      }
    }
    if (const auto* number = std::get_if<std::int64_t>(&given[i].value)) {
      const std::int64_t n = *number;
      with(i, n - 1, instead(name + " - 1")), with(i, n + 1, instead(name + " + 1"));
      with(i, 2 * n, instead("2 " + name)), with(i, n / 2, instead(name + " / 2"));
      for (const Factor& factor : known) {
        if (factor.value == std::round(factor.value) && !factor.origin.empty() && factor.origin != name)
          with(i, static_cast<std::int64_t>(factor.value), instead(factor.origin));
      }
    }
    if (const auto* x = std::get_if<Index>(&given[i].value)) {
      with(i, Index(*x + 1), instead(name + " + 1")), with(i, Index(*x - 1), instead(name + " - 1"));
      with(i, Index(x->shape(), std::ranges::max(*x)), instead(str("the greatest of ", name)));
      with(i, Index(x->shape(), std::ranges::min(*x)), instead(str("the least of ", name)));
      with(i, Index(x->shape(), *x->begin()), instead(str("the first of ", name)));
    }
    const auto* tensor = std::get_if<Tensor>(&given[i].value);
    if (tensor == nullptr) continue;
    const Tensor x = tensor->detach();
    with(i, -x, instead("-" + name));
    with(i, zeros_like(x), str("zeros in place of ", name, ", which takes no part"));
    with(i, ones_like(x), instead("ones"));
    for (const Change& order : orders(x.shape())) with(i, order.of(x), str(name, " ", order.text));
    for (const Change& function : functions()) with(i, function.of(x), instead(str(function.text, " of ", name)));
    for (const Factor& factor : known) {
      const std::string number = digits(factor.value),
                        origin = factor.origin.empty() ? "" : str(" (", number, " is ", factor.origin, ")");
      with(i, factor.value * x, instead(str(number, " ", name)) + origin);
      with(i, x / factor.value, instead(str(name, " / ", number)) + origin);
    }
    with(i, x + 1, instead(name + " + 1")), with(i, x - 1, instead(name + " - 1"));
    with(i, 1 - x, instead("1 - " + name));
    for (int axis = 0; axis < x.rank(); ++axis) {
      with(i, broadcast_to(mean(x, axis, {.keepdim = true}), x.shape()),
           instead(str("the mean over axis ", axis, " of ", name)));
      with(i, broadcast_to(sum(x, axis, {.keepdim = true}), x.shape()),
           instead(str("the sum over axis ", axis, " of ", name)));
      with(i, broadcast_to(narrow(x, axis, 0, 1), x.shape()),
           str("the first element of ", name, " along axis ", axis, " for all"));
      with(i, x - mean(x, axis, {.keepdim = true}), instead(str(name, " minus its mean over axis ", axis)));
    }
    for (std::size_t j = 0; j < given.size(); ++j) {
      const auto* other = std::get_if<Tensor>(&given[j].value);
      if (i == j || other == nullptr) continue;
      const Tensor y = tried([&] { return broadcast_to(other->detach(), x.shape()); });
      if (!y.defined()) continue;
      with(i, x + y, instead(str(name, " + ", given[j].name)));
      with(i, x - y, instead(str(name, " - ", given[j].name)));
      with(i, x * y, instead(str(name, " * ", given[j].name)));
      with(i, y - x, instead(str(given[j].name, " - ", name)));
    }
  }
  return all;
}

// The right result for an argument times a number that no list has, found by Gauss and Newton from several starts.
std::string scaled_argument(const Tensor& x, const Function& right, const Arguments& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto* argument = std::get_if<Tensor>(&given[i].value);
    if (argument == nullptr || x.size() < 2) continue;
    const auto at = [&](double c) { return right(replaced(given, i, c * argument->detach())).detach(); };
    for (double c : {0.2, 0.7, 1.5, 4.}) {
      for (int step = 0; step < 12 && std::isfinite(c) && std::abs(c) < 1e3; ++step) {
        const Tensor now = at(c);
        if (fits(x, now))
          return str("this is the right result for ", digits(c), " ", given[i].name, " in place of ", given[i].name);
        const Tensor slope = (at(c + 0.005) - at(c - 0.005)) / 0.01;
        c += sum(slope * (x - now)).item() / sum(square(slope)).item();
      }
    }
  }
  return {};
}

// The right function along other axes, and over all elements at once.
std::string other_axis(const Tensor& x, const Function& right, const Arguments& given) {
  const auto moved = [&](const auto& forth, const auto& back) {
    return tried([&] { return fits(x, back(right(with_each(given, forth)))); });
  };
  const int rank = x.rank();
  for (int a = 0; a < rank; ++a) {
    for (int b = a + 1; b < rank; ++b) {
      const auto turn = [a, b, rank](const Tensor& t) { return t.rank() == rank ? transpose(t, a, b) : t; };
      if (moved(turn, turn))
        return str("this has axis ", a, " and axis ", b, " in each other's part: it runs along ", b == rank - 1 ? a : b,
                   " where it should run along ", b == rank - 1 ? b : a);
    }
  }
  if (rank > 1) {
    const auto flat = [](const Tensor& t) { return t.rank() > 1 ? reshape(t, {1, -1}) : t; };
    if (moved(flat, [&](const Tensor& t) { return reshape(t, x.shape()); }))
      return "this has all rows treated as one long row: each row counts by itself, along the last axis";
  }
  return {};
}

// Arguments like the given ones with other numbers.
Arguments others(const Arguments& given, std::int64_t seed) {
  return with_each(given, [&](const Tensor& x) { return x + numbers(x.shape(), 100 * seed); });
}

// What an argument has to be for a wrong answer to be right: there is the mistake.
std::string right_if(const Function& answer, const Function& right, const Arguments& given) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!std::holds_alternative<Tensor>(given[i].value)) continue;
    // Where another argument no longer counts, a wrong answer is right by chance.
    const auto counts = [&](const Arguments& all, std::size_t j) {
      return !fits(right(replaced(all, j, others(all, 9)[j].value)).detach(), right(all).detach());
    };
    const auto agree_for = [&](const std::function<Tensor(const Tensor&)>& change) {
      std::vector<Tensor> results;
      for (const Arguments& some : {given, others(given, 7)}) {
        const Arguments changed = replaced(some, i, change(std::get<Tensor>(some[i].value).detach()).detach());
        results.push_back(right(changed).detach());
        if (!fits(answer(changed).detach(), results.back())) return false;
        for (std::size_t j = 0; j < given.size(); ++j) {
          if (j != i && counts(given, j) && !counts(changed, j)) return false;
        }
      }
      return !fits(results[0], results[1]);
    };
    const std::string& name = given[i].name;
    try {
      if (agree_for([](const Tensor& x) { return abs(x); }))
        return str("it is right where ", name, " is positive, so look for an absolute value or a sign");
      if (agree_for([](const Tensor& x) { return zeros_like(x); }))
        return str("it is right if ", name, " is 0: look at the place where ", name, " comes in");
      if (agree_for([](const Tensor& x) { return ones_like(x); }))
        return str("it is right if all of ", name, " is 1: a power of it, or a factor, is missing or too many");
    } catch (const Error&) {
    }
  }
  return {};
}

// How the elements of the result depend on those of the arguments: a wrong dependence on places first, then on one
// argument, then what right_if says, then the slope that differs most.
std::string dependence(const Function& answer, const Tensor& right, const Function& reference, const Arguments& given) {
  std::string fine, slope;
  double worst = 0.01;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto* argument = std::get_if<Tensor>(&given[i].value);
    if (argument == nullptr) continue;
    const std::string& name = given[i].name;
    double largest = 0, most = 0;
    bool differs = false;
    for (std::int64_t e = 0; e < std::min<std::int64_t>(argument->size(), 40); ++e) {
      // Of small arguments, too: a function that saturates has slopes of 0 as well.
      const auto slopes = [&](const Function& f, double scale = 1) {
        const auto at = [&](double by) {
          const Arguments moved = with_each(given, [&](const Tensor& x) { return scale * x; });
          const Tensor base = std::get<Tensor>(moved[i].value);
          std::vector<double> values(base.value().begin(), base.value().end());
          values[e] += by;
          return f(replaced(moved, i, tensor(argument->shape(), values))).detach();
        };
        return (at(0.01) - at(-0.01)) / 0.02;
      };
      const auto never = [&](const Function& f, std::int64_t r) { return slopes(f, 0.1).value().begin()[r] == 0; };
      Tensor mine, its;
      try {
        mine = slopes(answer), its = slopes(reference);
      } catch (const Error&) {
        return {};
      }
      const auto place = [](std::int64_t at, const Tensor& t) {
        return t.rank() == 0 ? std::string() : str(" at ", position_of(at, t.shape()));
      };
      for (std::int64_t r = 0; r < right.size(); ++r) {
        const double a = mine.value().begin()[r], b = its.value().begin()[r];
        largest = std::max(largest, std::abs(a)), most = std::max(most, std::abs(b));
        const auto what = str("the result", place(r, right));
        const auto source = str(name, place(e, *argument));
        // What takes no part gives exactly 0.
        if (right.size() > 1 && argument->size() > 1 && b == 0 && std::abs(a) > 0.01 && never(reference, r))
          return str(what, " changes when ", source, " changes, and must not");
        if (right.size() > 1 && argument->size() > 1 && a == 0 && std::abs(b) > 0.01 && largest > 0 && never(answer, r))
          return str(what, " does not change when ", source, " changes, and should");
        const double error = std::abs(a - b) / (1 + std::abs(b));
        if (!(error <= 0.01)) differs = true;
        if (error > worst) {
          worst = error;
          slope = str("when ", source, " grows by a little, ", what, " grows by ", digits(a), " times that instead of ",
                      digits(b), " times");
        }
      }
    }
    if (largest == 0 && most > 1e-4) return str("the result does not depend on ", name, ", which takes no part");
    if (!differs) fine += str(fine.empty() ? " (the dependence on " : ", ", name);
  }
  const auto off = [&](const Arguments& some) { return (answer(some) - reference(some)).detach(); };
  if (slope.empty() && !fine.empty() && fits(off(others(given, 7)), off(given)))
    return "it depends on its arguments as it should; a constant is missing or too many";
  if (const std::string text = right_if(answer, reference, given); !text.empty()) return text;
  return slope + (fine.empty() ? "" : fine + " is right)");
}

// The factors of the terms whose sum f is, if one list of factors fits for all arguments.
Tensor factors_of(const Function& f, const std::vector<Term>& terms, const Arguments& given) {
  const std::int64_t n = std::ssize(terms);
  Tensors tables;  // a row for each element of the result: the terms there, and the result
  std::int64_t rows = 0;
  for (std::int64_t seed = 1; rows < 3 * n + 3; ++seed) {
    const Arguments arguments = others(given, seed);
    const Tensor y = f(arguments);
    Tensors columns;
    for (const Term& term : terms) columns.push_back(flatten(broadcast_to(term.value(arguments), y.shape())));
    columns.push_back(flatten(y));
    tables.push_back(stack(columns, 1));
    rows += y.size();
  }
  // The least squares, not by normal equations: they would lose half of the digits of a float.
  const Tensor all = concat(tables).detach(), parts = all[{_, slice(0, n)}], sums = all[{_, n}];
  const auto [q, r] = linalg::qr(parts);
  if (min(abs(diagonal(r))).item() < 3e-5) return {};
  const Tensor factors = linalg::solve_triangular(r, matmul(transpose(q), sums), {.upper = true});
  const Tensor each = parts * factors;
  if (max(abs(sum(each, 1) - sums) / (1e-3 + sum(abs(each), 1))).item() > 1e-3) return {};
  return factors;
}

std::string sum_text(const Tensor& factors, const std::vector<Term>& terms) {
  std::string text;
  for (std::int64_t i = 0; i < factors.size(); ++i) {
    const double factor = factors.value().at({i}), size = std::abs(factor);
    if (size < 5e-4) continue;
    text += factor < 0 ? (text.empty() ? "-" : " - ") : (text.empty() ? "" : " + ");
    text += (std::abs(size - 1) < 5e-4 ? "" : detail::rounded(size, 3) + " ") + terms[i].name;
  }
  return text.empty() ? "0" : text;
}

// The result of the answer. Throws for a hole, for shapes that do not fit in the answer, and for an operation that the
// exercise is to write.
Tensor result_of(const Function& answer, const Compared& compared, const Arguments& given) {
  Operations ran;
  Tensor x;
  try {
    x = answer(given);
  } catch (const ShapeError& error) {
    if (compared.misfit.empty()) throw;
    not_yet("an error of the library: ", error.what(), "\n", compared.misfit);
  }
  if (!compared.hint.empty()) written(x.defined(), compared.hint);
  if (!x.defined()) not_yet(compared.what, " has no value yet");
  ran.refuse(compared.refused);
  return x;
}

}  // namespace

std::string place_of_error(const Tensor& x, const Tensor& right, double tolerance) {
  std::int64_t worst = -1;
  double largest = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double b = right.value().begin()[i], a = x.value().begin()[i];
    if (a == b) continue;  // infinities, too
    const double error = std::abs(a - b),
                 excess = std::isfinite(error) ? error / (tolerance * (1 + std::abs(b))) : 1e30;
    if (excess > std::max(1., largest)) worst = i, largest = excess;
  }
  if (worst < 0) return {};
  return str(x.rank() == 0 ? std::string() : str(" at ", position_of(worst, x.shape())), " is ",
             digits(x.value().begin()[worst]), " instead of ", digits(right.value().begin()[worst]));
}

std::string form_of(const Tensor& x, const Tensor& right, const Arguments& given) {
  const Tensor y = x.detach(), r = right.detach();
  if (y.shape() != r.shape()) return shape_form(y, r);
  if (fits(y, r)) return {};
  std::string text = plain_form(y, r, given);
  if (text.empty()) text = other_form(y, r, given);
  if (const auto factor = factor_of(y, r); text.empty() && factor && y.size() > 1)
    text = factor_text(*factor, given, r, true);
  return text.empty() ? "" : ": " + text;
}

void agree(const Compared& compared, const Function& answer, const Function& right, const Arguments& given) {
  const auto& what = compared.what;
  const Tensor x = result_of(answer, compared, given), expected = right(given);
  const Tensor y = x.detach(), r = expected.detach();
  if (y.shape() != r.shape())
    not_yet(what, " has the shape ", y.shape(), " instead of ", r.shape(), ", ", compared.meaning, shape_form(y, r));
  if (const std::string place = place_of_error(y, r, compared.tolerance); !place.empty()) {
    const auto say = [&](const std::string& text) {
      if (!text.empty()) not_yet(what, place, ": ", text);
    };
    if (const Index at = flatnonzero(isnan(y)); at.size() > 0 && flatnonzero(isnan(r)).size() == 0)
      say(compared.why.empty()
              ? "NaN comes from 0 / 0, 0 * infinity, infinity - infinity, or the root or logarithm of a negative number"
              : compared.why);
    for (const Known& known : compared.known) {
      if (fits(y, known.value.detach())) say(known.text);
    }
    // A difference in small elements only is none for what follows.
    const bool visible = !fits(y, r);
    if (visible) say(plain_form(y, r, given));
    // A single number always has a factor; it means something if other arguments give the same one.
    const auto factor = [&](bool any) -> std::string {
      if (y.size() > 1) return any && factor_of(y, r) ? factor_text(*factor_of(y, r), given, r, true) : "";
      const double first = y.item() / r.item();
      const auto same_for = [&](std::int64_t seed) {
        const Arguments changed = others(given, seed);
        return std::abs(answer(changed).item() / right(changed).item() / first - 1) < 2e-4;
      };
      return tried([&] { return same_for(7) && same_for(8) ? factor_text(first, given, r, any) : ""; });
    };
    if (visible) say(factor(false));
    if (visible) say(other_form(y, r, given));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const auto* number = std::get_if<double>(&given[i].value);
      if (number == nullptr) continue;
      const Arguments changed = replaced(given, i, 1.5 * *number);
      if (equal(answer(changed).value(), y.value()) && !fits(right(changed).detach(), r))
        say(str("the result does not depend on ", given[i].name, ", which takes no part"));
    }
    for (const Changed& changed : visible ? changes(given, r) : std::vector<Changed>()) {
      const Tensor other = tried([&] { return right(changed.arguments).detach(); });
      if (!other.defined() || fits(other, r)) continue;
      if (fits(y, other)) say("this is the right result for " + changed.text);
      const auto factor = y.size() > 1 ? factor_of(y, other) : std::optional<double>();
      const std::string text = factor && std::abs(*factor) > 1e-6 ? factor_text(*factor, given, r, false) : "";
      if (!text.empty()) say(str("this is the right result for ", changed.text, ", and then ", text));
    }
    say(other_axis(y, right, given));
    if (const auto& terms = compared.terms; !terms.empty()) {
      const auto mine = tried([&] { return factors_of(answer, terms, given); });
      const auto its = tried([&] { return factors_of(right, terms, given); });
      if (mine.defined() && its.defined())
        say(str("your lines are ", sum_text(mine, terms), " where ", sum_text(its, terms), " belongs"));
    }
    say(tried([&] { return scaled_argument(y, right, given); }));
    say(factor(true));
    if (allclose(y, r, {.rtol = 0.01, .atol = 0}))  // what is 0 is exact
      say("this is nearly right, to 1 %: an approximation, such as a finite difference, or another small constant "
          "stands where a formula belongs");
    const std::string text = dependence(answer, r, right, given);
    not_yet(what, place, ": ", text, text.empty() || compared.why.empty() ? "" : "; ", compared.why);
  }
  // The values agree: so do the gradients, unless part of the way is cut.
  Tensors leaves;
  std::vector<std::string> names;
  for (const Given& one : given) {
    if (const auto* tensor = std::get_if<Tensor>(&one.value); tensor != nullptr && tensor->requires_grad())
      leaves.push_back(*tensor), names.push_back(one.name);
  }
  if (leaves.empty()) return;
  const Tensor g = numbers(r.shape(), 99);
  const char* cut = ": detach(), .value() or NoGrad cuts the way back; compute with tensors from beginning to end";
  if (!x.requires_grad()) not_yet(what, " is right, but no gradient reaches ", names[0], cut);
  const Tensors mine = grad(sum(x * g), leaves, {.unused = Unused::zeros});
  const Tensors its = grad(sum(expected * g), leaves, {.unused = Unused::zeros});
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::string place = place_of_error(mine[i], its[i], 10 * compared.tolerance);
    if (place.empty()) continue;
    const bool none = max(abs(mine[i])).item() == 0;
    const std::string text = none ? std::string(cut) : form_of(mine[i], its[i], given);
    not_yet(what, " is right, but the gradient of ", names[i], place,
            text.empty() ? str(": part of the way back is cut", cut) : text);
  }
}

}  // namespace xgrad::exercises
