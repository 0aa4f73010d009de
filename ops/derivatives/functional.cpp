// Derivatives of functions.
#include "functional.h"

#include <algorithm>

#include "../../core/base/error.h"
#include "../../core/graph/grad.h"
#include "../../core/graph/record.h"
#include "../arrange/create.h"
#include "../arrange/join.h"
#include "../arrange/shape.h"
#include "../elementwise/arithmetic.h"
#include "../reduce/reduce.h"

namespace xgrad {
namespace {

// One call of f, and everything that its derivatives need.
struct Called {
  const char* op;
  FunctionalOptions options;
  Tensor x, y;  // the argument of f, and its result

  Called(const char* op, const TensorFunction& f, const Tensor& input, const FunctionalOptions& options)
      : op(op), options(options) {
    detail::refuse_empty(op, f);
    if (!input.defined()) fail<GraphError>(op, "the input is undefined");
    x = options.create_graph && input.requires_grad() ? alias(input) : variable(input.value());
    y = f(x);
    if (!y.defined()) fail<GraphError>(op, "f returned an undefined tensor");
  }

  // The gradient of <seed, of>, zeros if that does not depend on x.
  Tensor gradient(const Tensor& of, const Tensor& seed, bool create_graph) const {
    if (!of.requires_grad()) return zeros_like(x);
    const GradOptions of_x{
        .seed = seed, .create_graph = create_graph, .retain_graph = true, .unused = Unused::zeros};
    return grad(of, {x}, of_x)[0];
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

// The Jacobian of `of`: a row for each element.
Tensor rows_of(const Called& called, const Tensor& of) {
  const Tensor& x = called.x;
  if (of.rank() + x.rank() > max_rank) {
    fail<LimitError>(called.op, "a result of shape ", of.shape(), " + ", x.shape(), " has more than ", max_rank,
                     " axes");
  }
  Shape shape = of.shape();
  for (const std::int64_t size : x.shape()) shape.push_back(size);
  Tensors rows;
  Array values(shape);  // of the result, if its graph is not wanted
  for (std::int64_t i = 0; i < of.size(); ++i) {
    Array seed(of.shape(), Real(0));
    seed.mutable_data()[i] = 1;
    const Tensor row = called.gradient(of, Tensor(std::move(seed)), called.options.create_graph);
    if (called.options.create_graph) {
      rows.push_back(row);
    } else {
      std::ranges::copy(row.value(), values.mutable_data() + i * row.size());
    }
  }
  return rows.empty() ? Tensor(std::move(values)) : reshape(stack(rows), shape);
}

}  // namespace

Tensor jacobian(const TensorFunction& f, const Tensor& x, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("jacobian", f, x, options);
  return rows_of(called, called.y);
}

Tensor hessian(const TensorFunction& f, const Tensor& x, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("hessian", f, x, options);
  called.refuse_many();
  return rows_of(called, called.gradient(called.y, ones_like(called.y), true));
}

OutputAndProduct vjp(const TensorFunction& f, const Tensor& x, const Tensor& v, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("vjp", f, x, options);
  const Tensor seed = vector_for("vjp", v, called.y, "the result");
  return {called.output(), called.gradient(called.y, seed, options.create_graph)};
}

OutputAndProduct jvp(const TensorFunction& f, const Tensor& x, const Tensor& v, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("jvp", f, x, options);
  const Tensor vector = vector_for("jvp", v, x, "the input");
  const Tensor u = variable(Array(called.y.shape(), Real(0)));
  const Tensor slope = called.gradient(called.y, u, true);
  if (!slope.requires_grad()) return {called.output(), zeros_like(called.y)};
  const GradOptions of_u{.create_graph = options.create_graph, .unused = Unused::zeros};
  return {called.output(), grad(sum(slope * vector), {u}, of_u)[0]};
}

OutputAndProduct hvp(const TensorFunction& f, const Tensor& x, const Tensor& v, const FunctionalOptions& options) {
  const EnableGrad on;
  const Called called("hvp", f, x, options);
  called.refuse_many();
  const Tensor vector = vector_for("hvp", v, x, "the input");
  const Tensor slope = called.gradient(called.y, ones_like(called.y), true);
  const Tensor along = slope.requires_grad() ? sum(slope * vector) : Tensor(0);
  return {called.output(), called.gradient(along, {}, options.create_graph)};
}

}  // namespace xgrad
