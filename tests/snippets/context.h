// Names that the snippets of pages and headers use and do not declare: stand-ins, declared and never defined.
#pragma once

#include <iostream>

#include <xgrad/core/array/xtensor_functions.h>
#include <xgrad/core/diagram/layout/layout.h>
#include <xgrad/core/diagram/render/svg.h>
#include <xgrad/core/graph/record_fused.h>
#include <xgrad/core/profile/profile.h>
#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/xgrad.h>

#include "../../examples/kit/data/csv_table.h"
#include "../../examples/kit/data/data.h"
#include "../../examples/kit/data/image_folder.h"
#include "../../examples/kit/draw/attention.h"
#include "../../examples/kit/mpi/data_parallel.h"
#include "../../examples/kit/mpi/run.h"
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

// For all of them. What is declared here and what belongs to one file alone, below, is found by name; the latter first.
namespace common {
nn::At at(std::string_view name);
Array tanh_kernel(const Array& x);
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
extern const Tensor a, k, logits, loss, memory, q, query, key, v, value, w, x;
extern Tensor y;
extern const Index ids, lengths, source, target;
extern const Mask mask, padded, padding;
extern xt::xarray<Real> table;
extern const std::int64_t b, bos, eos, dim, heads, n, vocabulary, words;
extern const nn::EncoderDecoder model;
extern const nn::TransformerOptions options;
extern optim::AdamW adam;
extern const Tensors parameters;
}  // namespace common

namespace docs_distributions {
using namespace common;
extern const Tensor x, y, noise, logits, returns, baseline;
Tensor decoder(const Tensor& z);
}  // namespace docs_distributions

namespace docs_adding_an_operation {
using namespace common;
Tensor prefix_sum(const Tensor& x, int axis);
Array prefix_sum_kernel(const Array& x, int axis);
Tensor prefix_sum(const Tensor& x, int axis);
using testing::check_gradients, testing::normal;
}  // namespace docs_adding_an_operation

namespace docs_attention {
using namespace common;
extern const nn::MultiHeadAttention attn;
extern const Tensor numbers;
extern const Tensor queries, keys, values;
Tensor kernel(const Tensor& a, const Tensor& b);
Tensor noise();
using linalg::diagonal;
}  // namespace docs_attention

namespace docs_decoding {
using namespace common;
extern nn::Stepper& table;
extern nn::DecoderStepper writing;
extern const nn::BeamOptions options;
extern const nn::Gpt gpt;
extern const Index prompts;
constexpr std::int64_t comma = 1, newline = 2, end = 3;
extern const kit::BpeTokenizer tokenizer;
}  // namespace docs_decoding

namespace docs_data {
using namespace common;
extern const Block net;
extern const Index labels;
extern kit::DataLoader<kit::TensorDataset<Tensor, Index>> batches, validation;
extern kit::Trainer trainer;
}  // namespace docs_data

namespace core_diagram_view_overlays {
using namespace common;
extern const Profile profile;
}  // namespace core_diagram_view_overlays

namespace docs_diagrams {
using namespace common;
extern const Block net;
extern const Tensor w, x;
extern const Tensor x1, x2, w1, w2, b;
}  // namespace docs_diagrams

namespace core_diagram_view_values {
using namespace common;
extern const Block model;
}  // namespace core_diagram_view_values

namespace core_graph_observe {
using namespace common;
extern const Block model;
}  // namespace core_graph_observe

namespace nn_module {
using namespace common;
Tensor gate(const Tensor& x);
}  // namespace nn_module

namespace nn_containers_maybe {
using namespace common;
struct Options {
  bool norm_first, tied;
  std::int64_t dim, vocabulary;
};
extern const Options options;
extern const Tensor h;
extern const nn::Embedding embedding;
}  // namespace nn_containers_maybe

namespace core_profile_profile {
using namespace common;
extern const Block model;
}  // namespace core_profile_profile

namespace nn_functional_call {
using namespace common;
extern const nn::Mlp net;
extern const Tensors adapted;
}  // namespace nn_functional_call

namespace nn_parametrization {
using namespace common;
extern nn::Gpt model;
}  // namespace nn_parametrization

namespace nn_summary {
using namespace common;
extern const nn::Gpt model;
}  // namespace nn_summary

namespace docs_gallery {
using namespace common;
extern const nn::TransformerOptions small;
extern const nn::Decoder decoder;
extern const nn::Embedding embedding, center, context;
extern const Index rows, others, labels;
extern const Array is_neighbour;
extern const Tensor queries, keys, values, scores, map, pictures, words, a1, a2, w_q, w_k, w_v, w_query, w_key, w_value,
    u, kernel, y;
extern const Tensors tokens;
extern const Real d;
}  // namespace docs_gallery

namespace docs_transformer_variants {
using namespace common;
extern const nn::Decoder decoder;
extern const Index begin;
extern const AttentionMask written, read;
}  // namespace docs_transformer_variants

namespace docs_translation {
using namespace common;
extern const nn::GreedyOptions options;
}  // namespace docs_translation

namespace docs_when_it_does_not_work {
using namespace common;
extern const nn::Bert bert;
Tensor cube(const Tensor& x);
Array cube_kernel(const Array& x);
}  // namespace docs_when_it_does_not_work

namespace docs_word_vectors {
using namespace common;
extern const nn::Embedding center, context;
extern const Index centers, others;
extern const Array is_neighbour;
extern const Real B;
}  // namespace docs_word_vectors

namespace nn_checks {
using namespace common;
extern const nn::Bert bert;
}  // namespace nn_checks

namespace nn_models_gpt {
using namespace common;
extern const Index next_ids;
}  // namespace nn_models_gpt

namespace nn_attention_key_value_cache {
using namespace common;
using nn::Rewind;
extern nn::KeyValueCache past;
extern const nn::Module& layer;
extern const double dropout;
Tensor o(const Tensor& x);
}  // namespace nn_attention_key_value_cache

namespace nn_models_language_model {
using namespace common;
extern const Index prompt;
extern const nn::Gpt model;
}  // namespace nn_models_language_model

namespace core_files_safetensors {
extern const Array w, b;
}  // namespace core_files_safetensors

namespace core_graph_record_fused {
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
}  // namespace core_graph_record_fused

namespace docs_fused_operation {
using namespace core_graph_record_fused;
using testing::check_fused, testing::normal;
Tensor composed_softmax(const Tensor& x, int axis);
}  // namespace docs_fused_operation

namespace nn_attention_masks {
using namespace common;
extern const nn::MultiHeadAttention attn;
}  // namespace nn_attention_masks

namespace nn_pytorch_multihead_attention {
using namespace common;
extern const nn::pytorch::MultiheadAttention attn;
}  // namespace nn_pytorch_multihead_attention

namespace ops_derivatives_checkpoint {
using namespace common;
extern const std::vector<Block> blocks;
extern Tensor x;
}  // namespace ops_derivatives_checkpoint

namespace docs_optimizers {
using namespace common;
extern const std::vector<Block> blocks;
extern nn::Gpt language;
extern const nn::Mlp net;
extern const Tensor x2, y2;
extern const Tensors inputs, targets;
extern const int k;
extern const double validation_loss;
extern Tensor h;
extern StateFile saved;
Tensor predict(const Tensor& x);
double validation();
}  // namespace docs_optimizers

namespace optim_optimizers_lbfgs {
using namespace common;
extern const nn::Mlp model;
}  // namespace optim_optimizers_lbfgs

namespace optim_schedules_reduce_on_plateau {
using namespace common;
extern const double validation_loss;
}  // namespace optim_schedules_reduce_on_plateau

namespace optim_diagnostics_audit {
using namespace common;
extern const Block net;
}  // namespace optim_diagnostics_audit
}  // namespace snippets
