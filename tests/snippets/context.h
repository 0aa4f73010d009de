// Names that the snippets of pages and headers use and do not declare: stand-ins, declared and never defined.
// What two files mean by one name differs sometimes; the file's own namespace, or one that names it, comes first.
#pragma once

#include <iostream>
#include <random>

#include <xgrad/core/array/xtensor_functions.h>
#include <xgrad/core/diagram/layout/layout.h>
#include <xgrad/core/diagram/render/html.h>
#include <xgrad/core/diagram/render/svg.h>
#include <xgrad/core/profile/profile.h>
#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/record_fused.h>
#include <xgrad/xgrad.h>

#include "../../examples/kit/data/data.h"
#include "../../examples/kit/data/image_folder.h"
#include "../../examples/kit/draw/attention.h"
#include "../../examples/kit/draw/pictures.h"
#include "../../examples/kit/files/csv_table.h"
#include "../../examples/kit/files/text_file.h"
#include "../../examples/kit/mpi/data_parallel.h"
#include "../../examples/kit/mpi/run.h"
#include "../../examples/kit/program/cli.h"
#include "../../examples/kit/program/signal.h"
#include "../../examples/kit/text/corpus.h"
#include "../../examples/kit/text/tokenizer.h"
#include "../../examples/kit/text/wordpiece.h"
#include "../../examples/kit/train/metrics.h"
#include "../../examples/kit/train/trainer.h"
#include "../support/check.h"
#include "../support/fused.h"

namespace snippets {
using namespace xgrad;

// For all of them.
namespace common {
nn::At at(std::string_view name);
Array tanh_kernel(const Array& x);
Array cube_kernel(const Array& x);
Array prefix_sum_kernel(const Array& x, int axis);
Tensor prefix_sum(const Tensor& x, int axis);
Tensor cube(const Tensor& x);
Tensor gate(const Tensor& x);
Tensor predict(const Tensor& x);
void step();
struct Vocabulary {
  std::int64_t size() const;
};
struct Config {
  std::int64_t layers;
};
struct Block : nn::Module {
  Block(At here, const Config& config);
  Tensor operator()(const Tensor& x) const;
};
extern const Vocabulary source_vocab, target_vocab;
extern const Config config;
extern const Block net;
extern const std::vector<Block> blocks;
extern const Tensor a, k, logits, loss, q, query, key, v, value, w, x, x1, x2, y2, w1, w2;
extern const Tensor returns, baseline, numbers, queries, keys, values;
extern Tensor y, h;
extern const Tensors parameters, adapted, inputs, targets;
extern const Array is_neighbour;
extern const Index ids, next_ids, lengths, source, target, prompt, prompts, labels, begin, centers, others;
extern const Mask mask, padded, padding;
extern const AttentionMask read;
extern xt::xarray<Real> table;
extern const std::int64_t b, bos, eos, dim, heads, n, vocabulary, words;
extern const double validation_loss;
extern const nn::EncoderDecoder model;
extern const nn::TransformerOptions options;
extern const nn::MultiHeadAttention attn;
extern const nn::Decoder decoder;
extern const nn::Embedding center, context;
extern const nn::Bert bert;
extern const nn::Gpt gpt;
extern nn::Gpt language;
extern optim::AdamW adam;
extern StateFile saved;
extern kit::DataLoader<kit::TensorDataset<Tensor, Index>> batches, validation;
extern kit::Trainer trainer;
extern const kit::BpeTokenizer tokenizer;
using linalg::diagonal;
using testing::check_fused, testing::check_gradients, testing::normal;
}  // namespace common

namespace of_a_block {  // core_diagram_view_values core_graph_observe core_profile_profile
using namespace common;
extern const Block model;
extern const Profile profile;
}  // namespace of_a_block

namespace of_a_gpt {  // nn_diagnostics_summary nn_models_language_model
using namespace common;
extern nn::Gpt model;
}  // namespace of_a_gpt

namespace of_an_mlp {  // nn_parameters_functional_call optim_optimizers_lbfgs docs_optimizers
using namespace common;
extern const nn::Mlp net, model;
extern const int k;
double validation();
}  // namespace of_an_mlp

namespace docs_pytorch_names {
using namespace common;
using xgrad::saved;
extern const Tensor a, b, c, l, p, q, w, x, y, src, weight, bias, gamma, beta, loc, scale, target, v, variance, log_p;
extern const Tensor anchor, positive, negative, gy;
extern const Tensors xs, params, inputs;
extern const Index i, j, index, ids, counts, targets, rows, windows;
extern const Mask mask, other;
extern const Shape shape, shape2;
extern const Array array;
extern const double low, high, step, mu, sigma, lambda, value, threshold, alpha, tau, margin, base;
extern const std::int64_t first, last, n, m, k, start, length, classes, groups;
extern const int axis;
extern const Size2d size, kernel;
extern const std::vector<double> vector;
extern const std::string path;
extern const RandomState state;
extern const std::vector<std::pair<std::string, Tensor>> values;
extern const std::function<Tensor(const Tensor&)> f;
extern const std::function<Tensor(const Tensors&)> g;
extern const std::function<double(std::int64_t)> multiplier;
extern const std::vector<optim::Schedule> schedules;
extern const std::vector<std::int64_t> milestones;
extern mpi::World world;
extern const std::function<Tensor(const Tensor&)> hook;
using T = Tensor;
Tensor distance(const Tensor& a, const Tensor& b);
Tensor embedding(const Index& ids);
Tensor param(const std::string& name, const Shape& shape, const nn::Init& init);
Tensor buffer(const std::string& name, const Array& array);
Tensor rule(const Tensor& gy);
}  // namespace docs_pytorch_names

namespace docs_changelog {
namespace detail = xgrad::detail;
using namespace nn;
using namespace optim;
using namespace kit;
using common::adam, common::at, common::attn, common::dim, common::query;
using linalg::vector_norm;
using std::numbers::pi;
extern const Tensor a, b, g, loss, s, src, t, u, v, w, weight, x, logits;
extern Tensor y;
extern const Tensors params;
extern Tensors gradients;
extern const Index i, ids, labels, rows, tokens;
extern const Shape shape;
extern const std::int64_t n, m, k, q, r;
extern const double p, d, c, low, high, step, alpha, tolerance;
extern const int axis;
extern const std::string path;
extern const RandomKey key;
extern const CsvTable table;
extern const std::function<Tensor(const Tensor&)> hook;
struct Function {
  double operator()(std::int64_t step) const;
  Tensor operator()(const Tensor& x) const;
};
extern const Function f;
extern const optim::Schedule first, second;
extern nn::KeyValueCache past;
extern const nn::KeyValue memory;
extern const nn::Encoder encoder;
struct Net : nn::Layer<Net> {
  Linear fc{at("fc"), 1, 1};
  Tensor forward(const Tensor& x) const;
};
extern const Net model;
using L = Linear;
}  // namespace docs_changelog

namespace docs_distributions {
using namespace common;
extern const Tensor noise;
Tensor decoder(const Tensor& z);
}  // namespace docs_distributions

namespace docs_attention {
using namespace common;
Tensor kernel(const Tensor& a, const Tensor& b);
Tensor noise();
}  // namespace docs_attention

namespace docs_decoding {
using namespace common;
extern nn::Stepper& table;
extern nn::DecoderStepper writing;
extern const nn::BeamOptions options;
constexpr std::int64_t comma = 1, newline = 2, end = 3;
}  // namespace docs_decoding

namespace docs_diagrams {
using namespace common;
extern const Tensor b;
}  // namespace docs_diagrams

namespace nn_containers_maybe {
using namespace common;
struct Options {
  bool norm_first, tied;
  std::int64_t dim, vocabulary;
};
extern const Options options;
extern const nn::Embedding embedding;
}  // namespace nn_containers_maybe

namespace docs_modules {
using namespace common;
extern const nn::Gpt larger;
}  // namespace docs_modules

namespace docs_translation {
using namespace common;
extern const nn::GreedyOptions options;
}  // namespace docs_translation

namespace docs_word_vectors {
using namespace common;
extern const Real B;
}  // namespace docs_word_vectors

namespace nn_base_rewind {
using namespace common;
using nn::Rewind;
extern nn::KeyValueCache past;
extern const nn::Module& layer;
extern const double dropout;
Tensor o(const Tensor& x);
}  // namespace nn_base_rewind

namespace core_files_state {
using namespace common;
extern const StateFile state;
}  // namespace core_files_state

namespace core_files_safetensors {
extern const Array w, b;
}  // namespace core_files_safetensors

namespace ops_record_fused {
using namespace common;
extern const Tensor gamma, beta;
struct NormalizedRows {
  Array normalized, statistics;
};
NormalizedRows normalized_rows(const Array& x, const Array& gamma, const Array& beta);
Tensor composed_softmax(const Tensor& x);
Array softmax_rows(const Array& x);
Array softmax_gradient_rows(const Array& gy, const Array& y);
Tensor row_sum(const Tensor& x);
std::array<Tensor, 3> layer_norm_gradients(const std::array<Tensor, 3>& inputs, const Array& statistics,
                                           const Tensor& gy, Wanted wanted);
}  // namespace ops_record_fused

namespace docs_adding_an_operation {
using namespace ops_record_fused;
Tensor composed_softmax(const Tensor& x, int axis);
}  // namespace docs_adding_an_operation

namespace nn_pytorch_multihead_attention {
using namespace common;
extern const nn::pytorch::MultiheadAttention attn;
}  // namespace nn_pytorch_multihead_attention

namespace ops_derivatives_checkpoint {
using namespace common;
extern Tensor x;
}  // namespace ops_derivatives_checkpoint
}  // namespace snippets
