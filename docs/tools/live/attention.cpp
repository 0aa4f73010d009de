// What attention makes of a sentence, in single operations: every number between words and result can be shown.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <xgrad/core/diagram/render/html.h>

#include "live.h"

namespace live {
namespace {

using namespace xgrad;

// A vector for a word, the same each time: embeddings that nobody has trained.
std::vector<Real> vector_of(const std::string& word, std::int64_t width) {
  std::uint32_t state = 2166136261u;  // FNV-1a
  for (const char letter : word) state = (state ^ static_cast<unsigned char>(letter)) * 16777619u;
  std::vector<Real> numbers;
  for (std::int64_t i = 0; i < width; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers.push_back(static_cast<Real>(state >> 8) / Real(1 << 23) - 1);
  }
  return numbers;
}

// A matrix that turns vectors, seeded by its name.
Tensor matrix(const std::string& name, std::int64_t width) {
  std::vector<Real> numbers;
  for (std::int64_t i = 0; i < width; ++i) {
    for (const Real number : vector_of(str(name, i), width))
      numbers.push_back(number * std::sqrt(Real(3) / static_cast<Real>(width)));
  }
  return variable(Array({width, width}, numbers), name);
}

// (T, C) -> (H, T, C/H)
Tensor in_heads(const Tensor& x, std::int64_t heads) {
  return permute(reshape(x, {x.dim(0), heads, x.dim(1) / heads}), {1, 0, 2});
}

}  // namespace

Json attention(const Json& request) {
  const auto words = request.at("words").get<std::vector<std::string>>();
  const std::int64_t heads = request.value("heads", 2), width = request.value("width", 16);
  const auto count = static_cast<std::int64_t>(words.size());
  if (count == 0) fail<ValueError>("attention", "a sentence needs a word");
  if (heads < 1 || width % heads != 0)
    fail<ValueError>("attention", width, " channels do not divide by ", heads, " heads");

  std::vector<Real> embedded;
  for (const std::string& word : words) {
    for (const Real number : vector_of(word, width)) embedded.push_back(number);
  }
  const Tensor embedding = variable(Array({count, width}, embedded), "words");
  Tensor x = embedding;
  if (request.value("positions", true)) x = x + Tensor(nn::sinusoids(count, width));

  ValueRecorder values;
  const Tensor q = in_heads(matmul(x, matrix("W_q", width)), heads).named("q");
  const Tensor k = in_heads(matmul(x, matrix("W_k", width)), heads).named("k");
  const Tensor v = in_heads(matmul(x, matrix("W_v", width)), heads).named("v");
  const double scale = request.value("scale", true) ? 1 / std::sqrt(static_cast<double>(width / heads)) : 1.0;
  const double temperature = request.value("temperature", 1.0);
  const Tensor scores = (matmul(q, k, {.transpose_b = true}) * (scale / temperature)).named("scores");
  const std::string mask = request.value("mask", "none");
  Mask hidden(Shape{count, count}, false);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      hidden.mutable_data()[i * count + j] = mask == "causal" ? j > i : mask == "window" && std::abs(i - j) > 1;
    }
  }
  const Tensor weights = masked_softmax(scores, hidden).named("weights");
  const Tensor heads_out = matmul(weights, v).named("heads");
  const Tensor y = reshape(permute(heads_out, {1, 0, 2}), {count, width}).named("y");

  // How strongly each word moves the result of one.
  const std::int64_t chosen = std::clamp<std::int64_t>(request.value("word", 0), 0, count - 1);
  const Tensor result = sum(square(y[chosen])).named("result");
  const Tensor gradient = grad(result, {embedding}, {.retain_graph = true})[0];
  Json answer{{"weights", numbers(weights.value())},
              {"scores", numbers(scores.value())},
              {"q", numbers(q.value())},
              {"k", numbers(k.value())},
              {"v", numbers(v.value())},
              {"y", numbers(y.value())},
              {"result", result.item()},
              {"gradient", numbers(gradient.value())},
              {"influence", numbers(sqrt(sum(square(gradient), 1)).value())}};
  if (request.value("graph", false)) {
    const GraphOptions options{.title = "Attention", .reshapes = true, .equations = true, .values = &values};
    answer["page"] = to_html(GraphView::of({y}, options), options);
  }
  return answer;
}

}  // namespace live
