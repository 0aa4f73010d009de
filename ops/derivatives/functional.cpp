// Derivatives of functions. A function of one tensor is treated as a function of a list of one.
#include "functional.h"

#include <algorithm>

#include "../../core/base/error.h"
#include "../../core/graph/grad.h"
#include "../../core/graph/record.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../indexing/axis.h"
#include "../reduce/reduce.h"
#include "../shape/join.h"
#include "../shape/shape.h"

namespace xgrad {
namespace {

// One call of f, and everything that its derivatives need.
struct Called {
  const char* op;
  FunctionalOptions options;
  Tensors xs;  // the arguments of f
  Tensor y;

  Called(const char* op, const TensorsFunction& f, const Tensors& inputs, const FunctionalOptions& options)
      : op(op), options(options) {
    detail::refuse_empty(op, f);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].defined()) fail<GraphError>(op, "input ", i, " is undefined");
    }
    for (const Tensor& x : inputs) {
      xs.push_back(options.create_graph && x.requires_grad() ? alias(x) : variable(x.value()));
    }
    y = f(xs);
    if (!y.defined()) fail<GraphError>(op, "f returned an undefined tensor");
  }

  // The gradients of <seed, of>, zeros for inputs that it does not depend on.
  Tensors gradients(const Tensor& of, const Tensor& seed, bool create_graph) const {
    if (of.requires_grad()) {
      return grad(of, xs, {.seed = seed, .create_graph = create_graph, .retain_graph = true, .unused = Unused::zeros});
    }
    Tensors zeros;
    for (const Tensor& x : xs) zeros.push_back(zeros_like(x));
    return zeros;
  }

  // The result, without a graph if none is wanted.
  Tensor output() const { return options.create_graph ? y : Tensor(y.value()); }

  void refuse_many() const {
    if (y.size() != 1) fail<ShapeError>(op, "f has to give one element, its shape is ", y.shape());
  }
};

// v, or 1 if it is undefined.
Tensor vector_for(const char* op, const Tensor& v, const Tensor& x, const char* what) {
  if (!v.defined()) {
    if (x.size() != 1) fail<ShapeError>(op, "a vector is needed: ", what, " has shape ", x.shape());
    return ones_like(x);
  }
  if (v.shape() != x.shape()) fail<ShapeError>(op, "a vector of shape ", v.shape(), " for ", what, " of ", x.shape());
  return v;
}

Tensors vectors_for(const char* op, const Tensors& vs, const Tensors& xs) {
  if (!vs.empty() && vs.size() != xs.size()) fail<ValueError>(op, vs.size(), " vectors for ", xs.size(), " inputs");
  Tensors result;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    result.push_back(vector_for(op, vs.empty() ? Tensor() : vs[i], xs[i], str("input ", i).c_str()));
  }
  return result;
}

// <a, b> over the pairs where a has a graph; undefined if none has.
Tensor inner_product(const Tensors& as, const Tensors& bs) {
  Tensor total;
  for (std::size_t i = 0; i < as.size(); ++i) {
    if (!as[i].requires_grad()) continue;
    const Tensor part = sum(as[i] * bs[i]);
    total = total.defined() ? total + part : part;
  }
  return total;
}

// The Jacobian of `of` with respect to every x: a row for each element.
Tensors rows_of(const Called& called, const Tensor& of) {
  std::vector<Shape> shapes;
  for (const Tensor& x : called.xs) {
    if (of.rank() + x.rank() > max_rank) {
      fail<LimitError>(called.op, "a result of shape ", of.shape(), " + ", x.shape(), " has more than ", max_rank,
                       " axes");
    }
    shapes.push_back(joined(of.shape(), x.shape()));
  }
  std::vector<Tensors> rows(called.xs.size());
  std::vector<Array> values;  // of the result, if its graph is not wanted
  for (const Shape& shape : shapes) values.emplace_back(shape);
  for (std::int64_t i = 0; i < of.size(); ++i) {
    Array seed(of.shape(), Real(0));
    seed.mutable_data()[i] = 1;
    const Tensors row = called.gradients(of, Tensor(std::move(seed)), called.options.create_graph);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (called.options.create_graph) {
        rows[k].push_back(row[k]);
      } else {
        std::ranges::copy(row[k].value(), values[k].mutable_data() + i * row[k].size());
      }
    }
  }
  Tensors results;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    results.push_back(rows[k].empty() ? Tensor(std::move(values[k])) : reshape(stack(rows[k]), shapes[k]));
  }
  return results;
}

TensorsFunction of_list(const char* op, const TensorFunction& f) {
  detail::refuse_empty(op, f);
  return [&f](const Tensors& xs) { return f(xs[0]); };
}

}  // namespace

Tensors jacobian(const TensorsFunction& f, const Tensors& xs, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("jacobian", f, xs, options);
  return rows_of(called, called.y);
}
Tensor jacobian(const TensorFunction& f, const Tensor& x, const FunctionalOptions& options) {
  return jacobian(of_list("jacobian", f), Tensors{x}, options)[0];
}

std::vector<Tensors> hessian(const TensorsFunction& f, const Tensors& xs, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("hessian", f, xs, options);
  called.refuse_many();
  std::vector<Tensors> result;
  for (const Tensor& g : called.gradients(called.y, ones_like(called.y), true)) result.push_back(rows_of(called, g));
  return result;
}
Tensor hessian(const TensorFunction& f, const Tensor& x, const FunctionalOptions& options) {
  return hessian(of_list("hessian", f), Tensors{x}, options)[0][0];
}

OutputAndProducts vjp(const TensorsFunction& f, const Tensors& xs, const Tensor& v, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("vjp", f, xs, options);
  const Tensor seed = vector_for("vjp", v, called.y, "the result");
  return {called.output(), called.gradients(called.y, seed, options.create_graph)};
}
OutputAndProduct vjp(const TensorFunction& f, const Tensor& x, const Tensor& v, const FunctionalOptions& options) {
  const OutputAndProducts found = vjp(of_list("vjp", f), Tensors{x}, v, options);
  return {found.output, found.products[0]};
}

OutputAndProduct jvp(const TensorsFunction& f, const Tensors& xs, const Tensors& vs, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("jvp", f, xs, options);
  const Tensors vectors = vectors_for("jvp", vs, xs);
  const Tensor u = variable(Array(called.y.shape(), Real(0)));
  const Tensor total = inner_product(called.gradients(called.y, u, true), vectors);
  if (!total.defined()) return {called.output(), zeros_like(called.y)};
  const Tensor product = grad(total, {u}, {.create_graph = options.create_graph, .unused = Unused::zeros})[0];
  return {called.output(), product};
}
OutputAndProduct jvp(const TensorFunction& f, const Tensor& x, const Tensor& v, const FunctionalOptions& options) {
  return jvp(of_list("jvp", f), Tensors{x}, v.defined() ? Tensors{v} : Tensors{}, options);
}

OutputAndProducts hvp(const TensorsFunction& f, const Tensors& xs, const Tensors& vs,
                      const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("hvp", f, xs, options);
  called.refuse_many();
  const Tensors vectors = vectors_for("hvp", vs, xs);
  const Tensor total = inner_product(called.gradients(called.y, ones_like(called.y), true), vectors);
  const Tensor slope = total.defined() ? total : Tensor(0);
  return {called.output(), called.gradients(slope, {}, options.create_graph)};
}
OutputAndProduct hvp(const TensorFunction& f, const Tensor& x, const Tensor& v, const FunctionalOptions& options) {
  const OutputAndProducts found = hvp(of_list("hvp", f), Tensors{x}, v.defined() ? Tensors{v} : Tensors{}, options);
  return {found.output, found.products[0]};
}

}  // namespace xgrad
