// The gradient check of a function from tensors to tensors, for first and second derivatives.
#include "gradcheck.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "../array/random.h"
#include "../base/error.h"
#include "../base/text.h"
#include "../graph/grad.h"

namespace xgrad {
namespace {

using Function = std::function<Tensors(const Tensors&)>;
using Arrays = std::vector<Array>;

Arrays values_of(const Tensors& tensors) {
  Arrays values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
  return values;
}

// Restores the values of leaves in the end, bit for bit.
class Restored {
 public:
  explicit Restored(const Tensors& tensors) : tensors_(tensors), values_(values_of(tensors)) {}
  ~Restored() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) put_back(i);
  }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

  const Array& value(std::size_t i) const { return values_[i]; }
  void put_back(std::size_t i) const noexcept {
    if (tensors_[i].is_leaf() && tensors_[i].requires_grad()) tensors_[i].assign(values_[i]);
  }

 private:
  Tensors tensors_;
  Arrays values_;
};

// Whether they have the same shapes and numbers, NaN for NaN.
bool same_numbers(const Arrays& a, const Arrays& b) {
  const auto same = [](Real p, Real q) { return p == q || (std::isnan(p) && std::isnan(q)); };
  return std::ranges::equal(
      a, b, [&](const Array& x, const Array& y) { return x.shape() == y.shape() && std::ranges::equal(x, y, same); });
}

double inner_product(const Arrays& a, const Arrays& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    for (std::int64_t i = 0; i < a[k].size(); ++i) sum += double(a[k].data()[i]) * double(b[k].data()[i]);
  }
  return sum;
}

Arrays random_like(const Arrays& values, Seed seed) {
  Arrays result;
  for (const Array& value : values) {
    result.push_back(random_normal(value.shape(), {.seed = seed, .draw = result.size()}));
  }
  return result;
}

// The gradients of <v, ys> with respect to xs; the graph stays.
Arrays gradients(const Tensors& ys, const Arrays& v, const Tensors& xs) {
  Arrays sums;
  for (const Tensor& x : xs) sums.emplace_back(x.shape(), Real(0));
  for (std::size_t k = 0; k < ys.size(); ++k) {
    if (!ys[k].requires_grad()) continue;
    const Tensors found = grad(ys[k], xs, {.seed = v[k], .retain_graph = true, .unused = Unused::zeros});
    for (std::size_t i = 0; i < xs.size(); ++i) {
      Real* sum = sums[i].mutable_data();
      for (const Real value : found[i].value()) *sum++ += value;
    }
  }
  return sums;
}

class Check {
 public:
  Check(const char* name, const Function& f, const Tensors& inputs, const GradcheckOptions& options)
      : f_(f), inputs_(inputs), options_(options) {
    report_.check = name;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].requires_grad()) checked_.push_back(i);
    }
  }

  GradcheckReport run() {
    const EnableGrad on;
    const Restored restored(inputs_);
    Tensors xs;
    for (const std::size_t i : checked_) xs.push_back(inputs_[i]);
    const Tensors ys = f_(inputs_);
    const Arrays y = values_of(ys);
    v_ = random_like(y, options_.seed);
    Arrays analytic;
    try {
      analytic = gradients(ys, v_, xs);
      check_backward(ys, xs, analytic);
    } catch (const Error& error) {
      fault("the backward pass throws: ", error.what());
      return report_;
    }
    for (std::size_t k = 0; k < xs.size(); ++k) compare(checked_[k], analytic[k], restored);
    return report_;
  }

 private:
  template <class... Parts>
  void fault(const Parts&... parts) {
    report_.faults.push_back(str(parts...));
  }

  void check_backward(const Tensors& ys, const Tensors& xs, const Arrays& analytic) {
    if (!same_numbers(gradients(ys, v_, xs), analytic)) fault("two backward passes give different gradients");
    Arrays zeros;
    for (const Array& v : v_) zeros.emplace_back(v.shape(), Real(0));
    const Arrays none = gradients(ys, zeros, xs);
    for (std::size_t k = 0; k < xs.size(); ++k) {
      if (std::ranges::all_of(none[k], [](Real value) { return value == 0 || std::isnan(value); })) continue;
      fault("input ", checked_[k], ": a gradient of zeros gives others: does a rule not multiply by gy?");
    }
  }

  double moved(std::size_t input, std::int64_t element, Real to) {
    inputs_[input].mutable_value().mutable_data()[element] = to;
    const Arrays y = values_of(f_(inputs_));
    for (std::size_t k = 0; k < v_.size(); ++k) {
      if (k >= y.size() || y[k].shape() != v_[k].shape()) {
        fail<ShapeError>(report_.check, "the shape of f's result depends on the numbers of its inputs");
      }
    }
    return inner_product(v_, y);
  }

  void compare(std::size_t input, const Array& analytic, const Restored& restored) {
    const Array& x = restored.value(input);
    GradcheckReport::Wrong wrong{.input = static_cast<int>(input), .name = inputs_[input].name(), .shape = x.shape()};
    double worst = -1;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const Real up = x.data()[i] + static_cast<Real>(options_.eps),
                 down = x.data()[i] - static_cast<Real>(options_.eps);
      const double above = moved(input, i, up), below = moved(input, i, down);
      restored.put_back(input);
      const double numeric = (above - below) / (double(up) - double(down));
      const double apart = std::abs(analytic.data()[i] - numeric);
      ++report_.entries;
      if (apart <= options_.atol + options_.rtol * std::abs(numeric)) continue;
      ++wrong.count;
      const double badness = std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
      if (badness <= worst) continue;
      worst = badness;
      wrong.at = position_of(i, x.shape());
      wrong.analytic = analytic.data()[i];
      wrong.numeric = numeric;
    }
    if (wrong.count > 0) report_.wrong.push_back(std::move(wrong));
  }

  const Function& f_;
  const Tensors& inputs_;
  const GradcheckOptions& options_;
  std::vector<std::size_t> checked_;  // the inputs that require a gradient
  Arrays v_;
  GradcheckReport report_;
};

void check_arguments(const char* op, const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                     const GradcheckOptions& options) {
  detail::refuse_empty(op, f);
  bool any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) fail<GraphError>(op, "input ", i, " is undefined");
    if (!inputs[i].requires_grad()) continue;
    any = true;
    if (!inputs[i].is_leaf()) {
      fail<GraphError>(op, "input ", i, " is the result of ", detail::Engine::node(inputs[i])->op,
                       ", only leaves can be moved");
    }
  }
  if (!any) fail<ValueError>(op, "no input requires a gradient: make those that shall be checked with variable(...)");
  const auto check = [&](const char* name, double value, bool good) {
    if (!good || !std::isfinite(value)) fail<ValueError>(op, name, " is ", value);
  };
  check("eps", options.eps, options.eps > 0);
  check("atol", options.atol, options.atol >= 0);
  check("rtol", options.rtol, options.rtol >= 0);
}

}  // namespace

GradcheckReport gradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                          const GradcheckOptions& options) {
  check_arguments("gradcheck", f, inputs, options);
  const Function results = [&f](const Tensors& at) { return Tensors{f(at)}; };
  return Check("gradcheck", results, inputs, options).run();
}

GradcheckReport gradgradcheck(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs,
                              const GradcheckOptions& options) {
  check_arguments("gradgradcheck", f, inputs, options);
  const EnableGrad on;
  Tensors xs;
  std::ranges::copy_if(inputs, std::back_inserter(xs), &Tensor::requires_grad);
  const auto gradients_of = [&f, &xs](const Tensors& at) {
    const Tensors own(at.begin(), at.end() - 1);  // alive until grad() is done: the graph of f may refer to them
    const Tensor y = f(own);
    return y.requires_grad() ? grad(y, xs, {.seed = at.back(), .create_graph = true, .unused = Unused::zeros})
                             : Tensors{};
  };
  const Tensor y = f(inputs);
  Tensors with_gy = inputs;
  with_gy.push_back(variable(random_normal(y.shape(), {.seed = options.seed, .draw = 1'000'000}), "gy"));
  try {
    gradients_of(with_gy);
  } catch (const Error& error) {
    return {.check = "gradgradcheck", .faults = {str("the first backward pass throws: ", error.what())}};
  }
  return Check("gradgradcheck", gradients_of, with_gy, options).run();
}

std::string to_string(const GradcheckReport& report) {
  std::int64_t count = 0;
  for (const auto& wrong : report.wrong) count += wrong.count;
  std::string text = count == 0 ? str(report.check, ": ", report.entries, " entries compared, none is wrong\n")
                                : str(report.check, ": ", count, " of ", report.entries, " entries are wrong\n");
  for (const std::string& fault : report.faults) append(text, str("  ", fault, "\n"));
  for (const auto& wrong : report.wrong) {
    append(text, str("  input ", wrong.input, wrong.name.empty() ? "" : str(" '", wrong.name, "'"), " ", wrong.shape,
                     ": ", wrong.count, " wrong, worst at ", wrong.at, ": analytic ", detail::rounded(wrong.analytic),
                     ", numeric ", detail::rounded(wrong.numeric), "\n"));
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const GradcheckReport& report) { return out << to_string(report); }

}  // namespace xgrad
