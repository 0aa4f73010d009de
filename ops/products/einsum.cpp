// Products over named axes: each pair of factors by one matmul.
#include "einsum.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "../../core/graph/grad.h"
#include "../elementwise/arithmetic.h"
#include "../indexing/axis.h"
#include "../reduce/reduce.h"
#include "../shape/shape.h"
#include "matmul.h"

namespace xgrad {
namespace {

// A factor whose axes have names, one character each. Letters are the user's; axes after dots are numbered 1 ... 8
// from the right, as they broadcast.
struct Named {
  Tensor x;
  std::string axes;

  std::int64_t size(char axis) const { return x.dim(static_cast<int>(axes.find(axis))); }
};

bool holds(const std::string& names, char name) { return names.find(name) != std::string::npos; }

std::string keep_if(const std::string& names, const auto& wanted) {
  std::string found;
  std::ranges::copy_if(names, std::back_inserter(found), wanted);
  return found;
}

// The axes in this order.
Named arranged(const Named& a, const std::string& axes) {
  if (a.axes == axes) return a;
  Axes order;
  for (const char axis : axes) order.push_back(static_cast<int>(a.axes.find(axis)));
  return {permute(a.x, order), axes};
}

// Summed over all axes but these.
Named reduced_to(const Named& a, const std::string& wanted) {
  Axes others;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    if (!holds(wanted, a.axes[i])) others.push_back(static_cast<int>(i));
  }
  if (others.empty()) return a;
  return {sum(a.x, others), keep_if(a.axes, [&](char axis) { return holds(wanted, axis); })};
}

// The diagonal where a name is repeated.
Named without_repetitions(Named a) {
  for (std::size_t i = 0; i < a.axes.size();) {
    const std::size_t again = a.axes.find(a.axes[i], i + 1);
    if (again == std::string::npos) {
      ++i;
      continue;
    }
    const char name = a.axes[i];
    Axes order;
    for (std::size_t j = 0; j < a.axes.size(); ++j) {
      if (j != i && j != again) order.push_back(static_cast<int>(j));
    }
    order.push_back(static_cast<int>(i));
    order.push_back(static_cast<int>(again));
    Shape shape;
    for (int j = 0; j + 2 < order.size(); ++j) shape.push_back(a.x.dim(order[j]));
    const std::int64_t n = a.size(name);
    shape.push_back(n * n);
    const Tensor square = reshape(permute(a.x, order), shape);
    a.axes.erase(again, 1);
    a.axes.erase(i, 1);
    a = {square[{ellipsis, slice(none, none, n + 1)}], a.axes + name};
  }
  return a;
}

std::int64_t count_of(const Named& a, const std::string& axes) {
  std::int64_t count = 1;
  for (const char axis : axes) count *= a.size(axis);
  return count;
}

// The product, summed over the axes that are not wanted.
Named multiplied(const Named& first, const Named& second, const std::string& wanted) {
  const Named a = reduced_to(first, wanted + second.axes), b = reduced_to(second, wanted + first.axes);
  const auto shared = [&](char axis) { return holds(b.axes, axis); };
  const std::string batch = keep_if(a.axes, [&](char axis) { return shared(axis) && holds(wanted, axis); });
  const std::string inner = keep_if(a.axes, [&](char axis) { return shared(axis) && !holds(wanted, axis); });
  const std::string left = keep_if(a.axes, [&](char axis) { return !shared(axis); });
  const std::string right = keep_if(b.axes, [&](char axis) { return !holds(a.axes, axis); });

  const bool ta = !inner.empty() && a.axes == batch + inner + left, tb = b.axes == batch + right + inner;
  const Named p = ta ? a : arranged(a, batch + left + inner), q = tb ? b : arranged(b, batch + inner + right);
  const std::int64_t outer = count_of(a, batch), m = count_of(a, left), n = count_of(b, right), k = count_of(a, inner);
  const auto matrices = [&](const Tensor& x, std::int64_t rows, std::int64_t columns) {
    return in_shape(x, batch.empty() ? Shape{rows, columns} : Shape{outer, rows, columns});
  };
  const Tensor x = ta ? matrices(p.x, k, m) : matrices(p.x, m, k), y = tb ? matrices(q.x, n, k) : matrices(q.x, k, n);
  // Without an inner axis it is an elementwise product, which needs no sums.
  const Tensor product = inner.empty() ? x * (tb ? reshape(y, batch.empty() ? Shape{1, n} : Shape{outer, 1, n}) : y)
                                       : matmul(x, y, {.transpose_a = ta, .transpose_b = tb});
  Shape shape;
  for (const char axis : batch + left) shape.push_back(a.size(axis));
  for (const char axis : right) shape.push_back(b.size(axis));
  return {in_shape(product, shape), batch + left + right};
}

// A parsed formula: the names of the axes of every factor, where '.' stands for three dots, and of the result.
struct Equation {
  std::vector<std::string> factors;
  std::string result;
  bool has_result = false;
};

Equation parsed(std::string_view formula) {
  const auto refuse = [&](const auto&... why) { fail<ValueError>("einsum", why..., " in '", formula, "'"); };
  Equation f;
  f.factors.emplace_back();
  std::string* part = &f.factors.back();
  for (std::size_t i = 0; i < formula.size(); ++i) {
    const char c = formula[i];
    if (c == ' ') continue;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      *part += c;
    } else if (formula.substr(i).starts_with("...") && !holds(*part, '.')) {
      *part += '.';
      i += 2;
    } else if (c == ',' && !f.has_result) {
      part = &f.factors.emplace_back();
    } else if (formula.substr(i).starts_with("->") && !f.has_result) {
      f.has_result = true;
      part = &f.result;
      ++i;
    } else {
      refuse("unexpected '", c, "'");
    }
  }
  std::string all;
  for (const std::string& factor : f.factors) all += factor;
  if (!f.has_result) {
    if (holds(all, '.')) f.result += '.';
    for (char c = 'A'; c <= 'z'; ++c) {
      if (std::ranges::count(all, c) == 1) f.result += c;
    }
  }
  for (const char c : f.result) {
    if (std::ranges::count(f.result, c) > 1) refuse("'", c, "' appears twice in the result");
    if (c != '.' && !holds(all, c)) refuse("'", c, "' of the result appears in no factor");
  }
  return f;
}

// Dots become the names of the last `dots` of the axes that they can stand for.
std::string without_dots(std::string names, int dots) {
  const std::size_t at = names.find('.');
  if (at == std::string::npos) return names;
  std::string numbered;
  for (int i = dots; i > 0; --i) numbered += static_cast<char>(i);
  return names.replace(at, 1, numbered);
}

// For errors.
std::string shapes_of(const Tensors& factors) {
  std::string list;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    append(list, str(i == 0 ? ": " : ", ", "factor ", i, " ", factors[i].shape()));
  }
  return list;
}

}  // namespace

Tensor einsum(std::string_view formula, const Tensors& factors) {
  const Equation f = parsed(formula);
  if (f.factors.size() != factors.size()) {
    fail<ValueError>("einsum", "'", formula, "' has ", f.factors.size(), " factors, ", factors.size(), " given");
  }
  std::vector<Named> terms;
  int most_dots = 0;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::string& names = f.factors[i];
    const bool has_dots = holds(names, '.');
    const int dots = factors[i].rank() - static_cast<int>(names.size()) + (has_dots ? 1 : 0);
    if (dots < 0 || (dots > 0 && !has_dots)) {
      fail<ShapeError>("einsum", "factor ", i, " of '", formula, "' has shape ", factors[i].shape());
    }
    most_dots = std::max(most_dots, dots);
    terms.push_back({factors[i], without_dots(names, dots)});
  }
  std::map<char, std::int64_t> sizes;
  for (const Named& term : terms) {
    for (std::size_t i = 0; i < term.axes.size(); ++i) {
      const std::int64_t size = term.x.dim(static_cast<int>(i));
      std::int64_t& known = sizes.try_emplace(term.axes[i], size).first->second;
      const bool from_dots = term.axes[i] <= max_rank;
      if (size != known && !(from_dots && (size == 1 || known == 1))) {
        fail<ShapeError>("einsum", from_dots ? std::string("an axis of '...'") : str("'", term.axes[i], "'"),
                         " has sizes ", known, " and ", size, " in '", formula, "'", shapes_of(factors));
      }
      if (known == 1) known = size;
    }
  }
  for (Named& term : terms) {
    // An axis that is repeated by broadcasting is one that the factor does not have.
    for (std::size_t i = term.axes.size(); i-- > 0;) {
      if (term.x.dim(static_cast<int>(i)) == sizes[term.axes[i]]) continue;
      term.x = squeeze(term.x, {static_cast<int>(i)});
      term.axes.erase(i, 1);
    }
    term = without_repetitions(term);
  }
  const std::string result = without_dots(f.result, most_dots);
  Named product = terms[0];
  for (std::size_t i = 1; i < terms.size(); ++i) {
    std::string wanted = result;
    for (std::size_t j = i + 1; j < terms.size(); ++j) wanted += terms[j].axes;
    product = multiplied(product, terms[i], wanted);
  }
  const Tensor y = arranged(reduced_to(product, result), result).x;
  return same(y, factors[0]) ? alias(y) : y;
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b) {
  normalize_axes("tensordot", axes_a, a.rank());
  normalize_axes("tensordot", axes_b, b.rank());
  if (axes_a.size() != axes_b.size()) {
    fail<ValueError>("tensordot", "axes ", axes_a, " and ", axes_b, " are not pairs");
  }
  Named p{a, std::string()}, q{b, std::string()};
  for (int i = 0; i < a.rank(); ++i) p.axes += static_cast<char>('a' + i);
  for (int i = 0; i < b.rank(); ++i) q.axes += static_cast<char>('A' + i);
  std::string wanted = p.axes + q.axes;
  for (int i = 0; i < axes_a.size(); ++i) {
    const int of_a = normalize_axis("tensordot", axes_a[i], a.rank()),
              of_b = normalize_axis("tensordot", axes_b[i], b.rank());
    if (a.dim(of_a) != b.dim(of_b)) {
      fail<ShapeError>("tensordot", "sizes of axis ", of_a, " of ", a.shape(), " and axis ", of_b, " of ", b.shape(),
                       " differ");
    }
    q.axes[static_cast<std::size_t>(of_b)] = p.axes[static_cast<std::size_t>(of_a)];
    std::erase(wanted, p.axes[static_cast<std::size_t>(of_a)]);
  }
  return multiplied(p, q, wanted).x;
}

Tensor tensordot(const Tensor& a, const Tensor& b, int count) {
  if (count < 0 || count > std::min(a.rank(), b.rank())) {
    fail<ValueError>("tensordot", "count ", count, " of axes for ", a.shape(), " and ", b.shape());
  }
  Axes last, first;
  for (int i = 0; i < count; ++i) {
    last.push_back(a.rank() - count + i);
    first.push_back(i);
  }
  return tensordot(a, b, last, first);
}

}  // namespace xgrad
