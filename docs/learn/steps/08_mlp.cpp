// Step 8: an MLP that learns.
//
// Predict, measure the error, differentiate, move every parameter a little downhill, and repeat: that is all there is
// to learning. The network learns from 150 points on which arm of a double spiral a point lies. No straight line
// separates the arms.
#include "adam.h"

struct Mlp : Module {
  Linear first{at("first"), 2, 24};
  Linear second{at("second"), 24, 24};
  Linear last{at("last"), 24, 1};
  Tensor operator()(const Tensor& x) const { return last(tanh(second(tanh(first(x))))); }  // (T, 2) -> (T, 1)
};

int main() {
  const int points = 150;
  Matrix x = zeros(points, 2), arm = zeros(points, 1);
  for (int i = 0; i < points; ++i) {
    const double side = i % 2 == 0 ? 1 : -1, along = (i / 2 + 0.5) / (points / 2), angle = 6 * along;
    x.at(i, 0) = side * along * std::cos(angle);
    x.at(i, 1) = side * along * std::sin(angle);
    arm.at(i, 0) = side;
  }

  const Mlp model;
  const auto loss = [&] {
    const Tensor error = model(x) - arm;
    return sum(error * error) / points;
  };
  const bool right = gradients_are_right(loss, model.parameters());

  Adam adam{model.parameters(), 0.01};
  for (int step = 0; step <= 400; ++step) {
    const Tensor now = loss();
    if (step % 100 == 0) std::printf("step %3d  loss %.3f\n", step, now.item());
    adam.step(grad(now, adam.parameters));
  }

  // The class of every place of the plane, # or ., and the points of the training data, + or -.
  const int width = 61, height = 25;
  Matrix plane = zeros(width * height, 2);
  for (int i = 0; i < width * height; ++i) {
    plane.at(i, 0) = -1.1 + 2.2 * (i % width) / (width - 1);
    plane.at(i, 1) = 1.1 - 2.2 * (i / width) / (height - 1);
  }
  const Tensor answer = model(plane);
  std::string picture;
  for (const double value : answer.value().v) picture += value > 0 ? '#' : '.';
  for (int i = 0; i < points; ++i) {
    const int column = static_cast<int>(std::lround((x.at(i, 0) + 1.1) / 2.2 * (width - 1)));
    const int row = static_cast<int>(std::lround((1.1 - x.at(i, 1)) / 2.2 * (height - 1)));
    picture[static_cast<std::size_t>(row * width + column)] = i % 2 == 0 ? '+' : '-';
  }
  for (int row = 0; row < height; ++row) std::printf("  %s\n", picture.substr(row * width, width).c_str());

  int correct = 0;
  const Matrix answers = model(x).value();
  for (int i = 0; i < points; ++i) correct += (answers.at(i, 0) > 0) == (arm.at(i, 0) > 0);
  std::printf("%d of %d points on the right side\n", correct, points);
  return right && correct == points && loss().item() < 0.1 ? 0 : 1;
}
