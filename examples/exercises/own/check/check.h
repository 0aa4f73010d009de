// The parts that the checkers of "your own engine" share. The reader's file is included first; no xgrad takes part.
#pragma once
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace check {

struct NotYet : std::runtime_error {
  using std::runtime_error::runtime_error;
};
template <class... Parts>
[[noreturn]] void not_yet(const Parts&... parts) {
  std::ostringstream text;
  text.precision(4);
  (text << ... << parts);
  throw NotYet(text.str());
}

inline Matrix numbers(int rows, int cols, unsigned seed) {
  Random random(seed);
  return uniform(rows, cols, 2, random);
}

inline bool fits(const Matrix& a, const Matrix& b, double tolerance = 1e-6) {
  if (a.rows != b.rows || a.cols != b.cols) return false;
  for (std::size_t i = 0; i < a.v.size(); ++i) {
    if (!(std::abs(a.v[i] - b.v[i]) <= tolerance * (1 + std::abs(b.v[i])))) return false;
  }
  return true;
}
inline Matrix scaled(const Matrix& x, double factor) {
  return map(x, [factor](double a) { return factor * a; });
}
inline Matrix turned(const Matrix& x) {
  Matrix y{x.cols, x.rows};
  for (int i = 0; i < x.rows; ++i) {
    for (int j = 0; j < x.cols; ++j) y.at(j, i) = x.at(i, j);
  }
  return y;
}

struct Known {  // what a known mistake gives
  Matrix value;
  std::string text;
};

// Throws unless x is right, with the known mistake that fits, or how x follows from the right result.
inline void same(const std::string& what, const Matrix& x, const Matrix& right, const std::vector<Known>& known = {},
                 double tolerance = 1e-6) {
  if (fits(x, right, tolerance)) return;
  for (const Known& one : known) {
    if (fits(x, one.value, tolerance)) not_yet(what, ": ", one.text);
  }
  if (x.rows != right.rows || x.cols != right.cols) {
    not_yet(what, " has the shape (", x.rows, ", ", x.cols, ") instead of (", right.rows, ", ", right.cols, ")",
            fits(turned(x), right) ? ": it is transposed" : "");
  }
  std::size_t worst = 0;
  double both = 0, square = 0;
  for (std::size_t i = 0; i < x.v.size(); ++i) {
    if (!(std::abs(x.v[i] - right.v[i]) <= std::abs(x.v[worst] - right.v[worst]))) worst = i;
    both += x.v[i] * right.v[i], square += right.v[i] * right.v[i];
  }
  const std::string place = x.v.size() == 1 ? ""
                                            : " at row " + std::to_string(static_cast<int>(worst) / x.cols) +
                                                  ", column " + std::to_string(static_cast<int>(worst) % x.cols);
  std::ostringstream text;
  text.precision(4);
  const double factor = both / square;
  const auto tiny = [](double a) { return a != 0 && std::abs(a) < 1e-200; };
  if (std::any_of(x.v.begin(), x.v.end(), tiny)) {
    text << ": memory that was never set, or is gone: a rule captures copies, not [&], and elements count from 0";
  } else if (fits(x, scaled(right, 0))) {
    text << ": everything is 0";
  } else if (fits(x, scaled(right, -1))) {
    text << ": the wrong sign";
  } else if (x.v.size() > 1 && fits(x, scaled(right, factor))) {
    text << ": everywhere " << factor << " times the right value";
  } else if (x.rows == x.cols && fits(turned(x), right)) {
    text << ": it is transposed";
  }
  not_yet(what, place, " is ", x.v[worst], " instead of ", right.v[worst], text.str());
}

// Throws unless the gradients of f(), for a gradient g of its result, are those of finite differences. (Link 1 has no
// grad yet, so the call depends on a parameter of the template.)
template <class F, class List = Tensors>
void gradients(const std::string& what, const F& f, const List& xs, const std::vector<std::string>& names) {
  const Tensor y = f();
  const Matrix g = numbers(y.value().rows, y.value().cols, 77);
  const auto weighted = [&] {
    const Matrix value = f().value();
    double sum = 0;
    for (std::size_t i = 0; i < g.v.size(); ++i) sum += g.v[i] * value.v[i];
    return sum;
  };
  Tensor loss(Matrix{});
  loss.node->inputs = {{y, [g](const Matrix&) { return g; }}};
  const std::vector<Matrix> mine = grad(loss, xs);
  for (std::size_t n = 0; n < xs.size(); ++n) {
    Matrix slope = xs[n].value();
    for (std::size_t i = 0; i < slope.v.size(); ++i) {
      double& element = xs[n].value().v[i];
      const double was = element, after = (element = was + 1e-5, weighted()),
                   before = (element = was - 1e-5, weighted());
      element = was;
      slope.v[i] = (after - before) / 2e-5;
    }
    same(what + ": the gradient of " + names[n], mine[n], slope, {}, 1e-5);
  }
}

// The text that the reader's GPT learns, as tokens.
struct Rhyme {
  std::string text =
      "mary had a little lamb, its fleece was white as snow, and everywhere that mary went, the lamb was sure to go. ";
  std::string characters = text;
  Ids ids;
  Rhyme() {
    std::sort(characters.begin(), characters.end());
    characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
    ids = of(text);
  }
  Ids of(const std::string& part) const {
    Ids result;
    for (const char c : part) result.push_back(static_cast<int>(characters.find(c)));
    return result;
  }
  int size() const { return static_cast<int>(characters.size()); }
};

// The graph of y for Graphviz, from its nodes: each once, with its name and shape.
inline void draw(const Tensor& y, const std::string& path) {
  std::ofstream file(path);
  std::unordered_map<Node*, std::size_t> number;
  file << "digraph {\n  rankdir=LR; node [shape=box]\n";
  const std::function<std::size_t(const Tensor&)> place = [&](const Tensor& x) {
    const auto [found, is_new] = number.try_emplace(x.node.get(), number.size());
    const std::size_t own = found->second;
    if (!is_new) return own;
    const std::string& name = x.node->name;
    file << "  " << own << " [label=\"" << (name.empty() ? "constant" : name) << "\\n(" << x.value().rows << ", "
         << x.value().cols << ")\"" << (x.node->inputs.empty() ? " style=rounded" : "") << "]\n";
    for (const Input& input : x.node->inputs) {
      const std::size_t from = place(input.from);
      file << "  " << from << " -> " << own << "\n";
    }
    return own;
  };
  place(y);
  file << "}\n";
}

inline int reply(std::string (*check)(const std::string& folder), const std::string& folder) {
  try {
    const std::string because = check(folder);
    std::cout << "right: " << because << std::endl;
    return 0;
  } catch (const std::exception& reason) {
    std::cout << "not yet: " << reason.what() << std::endl;
    return 1;
  }
}

}  // namespace check
