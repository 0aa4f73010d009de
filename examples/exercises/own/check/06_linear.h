// Hint: a sum of `in` products has the variance in limit^2 / 3 times that of an element of X; this product is to be 1.
#include "check.h"

namespace check {

inline std::string link(const std::string& folder) {
  Random random(1);
  const Linear layer(3, 2, random);
  if (layer.weight.value().rows != 3 || layer.weight.value().cols != 2) not_yet("weight has not the shape (in, out)");
  same("the bias at first", layer.bias.value(), Matrix{1, 2});
  if (fits(layer.weight.value(), Matrix{3, 2}))
    not_yet("all weights are 0: all outputs are equal, and stay so; take random numbers");
  const Tensor x(numbers(4, 3, 1), "x");
  layer.bias.value() = numbers(1, 2, 2);
  const Tensor y = layer(x);
  const Matrix xw = product(x.value(), layer.weight.value());
  same("Y", y.value(), map(xw, repeat_to(layer.bias.value(), 4, 2), [](double a, double b) { return a + b; }),
       {{xw, "the bias is not added"}, {x.value(), "it is x as it came in"}});
  gradients("Y", [&] { return layer(x); }, {x, layer.weight, layer.bias}, {"x", "weight", "bias"});
  Tensors parameters;
  layer.collect(parameters);
  if (parameters.size() != 2)
    not_yet("collect appends ", parameters.size(), " parameters instead of 2, weight and bias");
  if (parameters[0].node != layer.weight.node || parameters[1].node != layer.bias.node)
    not_yet("collect appends other tensors than weight and bias, in this order");
  for (const int in : {16, 1024}) {
    const Linear wide(in, 64, random);
    double squares = 0, most = 0;
    for (const double w : wide.weight.value().v) squares += w * w / 64, most = std::max(most, std::abs(w));
    if (most == 0) not_yet("with in = ", in, " all weights are 0: 3 / in is a quotient of integers; write 3.0 / in");
    if (squares < 0.8 || squares > 1.25) {
      not_yet("with in = ", in, " the weights reach to ", most, ", so results have ", std::sqrt(squares),
              " times the size of X; with the limit sqrt(3 / in) it would be 1");
    }
  }
  draw(y, folder + "/graph.dot");
  return "results are about as large as the elements of X, whatever its width";
}

}  // namespace check
