// The exercises: the types that their answers take and return, and the checkers. An answer is one function; the
// statement stands above it in a file of this folder, which `examples/exercise NN` copies to the reader.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <xgrad/core/graph/grad.h>
#include <xgrad/core/graph/record.h>
#include <xgrad/ops/ops.h>

namespace xgrad::kit {
class Corpus;
using Tokens = std::vector<std::string>;
}  // namespace xgrad::kit

namespace xgrad::exercises {

/// Exercise 1: numbers about a graph.
struct Prediction {
  int operations = 0;  ///< the operations of the graph
  int uses_of_h = 0;   ///< the arrows that leave h
  int gradients = 0;   ///< the leaves that get a gradient
  int paths = 0;       ///< the paths from w to the loss
};

/// Exercise 4: Adam's running means of one parameter, undefined before the first step.
struct Moments {
  Tensor mean;    ///< of the gradient, m
  Tensor square;  ///< of its square, v
  int steps = 0;  ///< t
};

/// Exercise 14: a function on sequences.
using Sublayer = std::function<Tensor(const Tensor&)>;

/// Exercise 18: k beginnings of a sentence.
struct Beams {
  Index parents;  ///< (k): the beginning that each one continues
  Index tokens;   ///< (k): the token that is appended to it
  Tensor scores;  ///< (k): the sums of ln p, the greatest first
};

/// Exercise 19: the keys and values of the positions so far, (B, t, d); undefined before the first step.
struct Cache {
  Tensor keys;
  Tensor values;
};

/// Exercise 22: a function of a tensor whose result is one number.
using Loss = std::function<Tensor(const Tensor&)>;

/// Exercise 29: the parameters of a model, and its loss on one batch for their values now.
struct Batch {
  Tensors parameters;
  std::function<Tensor()> loss;
};

/// Exercise 32: a pretrained model, and the sentences to fine-tune it to.
struct Tuning {
  std::vector<std::pair<std::string, Tensor>> parameters;  ///< leaves, with their names
  Index text;                                              ///< (32, 9): the words of sentences to train on
  Index held_out;                                          ///< (32, 9): of sentences to judge by
  std::function<Tensor(const Index& sentences)> loss;      ///< the mean cross-entropy of a word
};

/// Exercise 33: what a translator learns from, and whether its time is over.
struct Contest {
  const kit::Corpus& pairs;  ///< the pairs to learn from, without held-out ones
  int seed = 1;
  std::function<bool()> time_is_over;
};
/// Sentences, each a list of words, in the other language.
using Translate = std::function<std::vector<kit::Tokens>(const std::vector<kit::Tokens>& sentences)>;

/// The checkers. Each throws NotYet (check.h) unless the answer is right.
namespace check {

void predicted_graph(Prediction (*answer)());
void line_gradients(Tensors (*answer)(const Tensor& w, const Tensor& b, const Tensor& x, const Tensor& y));
void linear_layer(Tensor (*answer)(const Tensor& x, const Tensor& weight, const Tensor& bias));
void adam_step(Tensor (*answer)(const Tensor& w, const Tensor& g, Moments& moments, double lr));
void stable_softmax(Tensor (*answer)(const Tensor& scores));
void diagram(std::vector<std::string> (*answer)());
void kernel_regression(Tensor (*answer)(const Tensor& queries, const Tensor& keys, const Tensor& values,
                                        const Tensor& w));
void masked_softmax(Tensor (*answer)(const Tensor& scores, const Index& lengths));
void additive_score(Tensor (*answer)(const Tensor& q, const Tensor& k, const Tensor& w_q, const Tensor& w_k,
                                     const Tensor& w_v));
void causal_attention(Tensor (*answer)(const Tensor& q, const Tensor& k, const Tensor& v));
void split_heads(Tensor (*answer)(const Tensor& x, std::int64_t heads));
void sinusoids(Tensor (*answer)(std::int64_t length, std::int64_t dim));
void layer_norm_rule(Tensor (*answer)(const Tensor& gy, const Tensor& x));
void encoder_block(Tensor (*answer)(const Tensor& x, const Sublayer& attention, const Sublayer& feed_forward));
void shift_right(Index (*answer)(const Index& target, std::int64_t bos));
void label_smoothing(Tensor (*answer)(const Tensor& logits, const Index& targets, double a));
void padded_loss(Tensor (*answer)(const Tensor& losses, const Index& targets, std::int64_t pad));
void beam_step(Beams (*answer)(const Tensor& scores, const Tensor& log_p));
void cached_attention(Tensor (*answer)(const Tensor& q, const Tensor& k, const Tensor& v, Cache& cache));
void clip_norm(Tensors (*answer)(const Tensors& gradients, double max_norm));
void softsign(Tensor (*answer)(const Tensor& x));
void hessian_product(Tensor (*answer)(const Loss& f, const Tensor& x, const Tensor& v));
void patch_embedding(Tensor (*answer)(const Tensor& images, std::int64_t p, const Tensor& weight));
void region_mask(Mask (*answer)(std::int64_t size, std::int64_t window, std::int64_t shift));

void no_improvement(double (*answer)(const Tensor& x, const Tensor& y));
void not_a_number(double (*answer)(const Tensor& x, const Tensor& y));
void growing_memory(Tensor (*answer)(const Loss& f, const Tensor& w));
void future(Tensor (*answer)(const Tensor& x, const Tensor& w));
void overfit_batch(int (*answer)(const Batch& batch));
void shapes(std::vector<Shape> (*answer)());
void rms_rule(Tensor (*answer)(const Tensor& gy, const Tensor& x));
void fine_tune_gpt(void (*answer)(const Tuning& tuning));
void translator(Translate (*answer)(const Contest& contest));

}  // namespace check

/// Why an answer is not right yet, or an empty text. An error of the library counts as a reason.
std::string why_not(const std::function<void()>& check);
/// Prints the reply and returns the status of the program: 0 if the answer is right, else 1. Diagrams go to this
/// folder.
int reply(const std::function<void()>& check, const char* folder);

}  // namespace xgrad::exercises
