// Models that translate learn as PyTorch's do, step by step: transformer, and recurrent networks in three forms.
#include <xgrad/xgrad.h>

#include "../support.h"
#include "support/number_type.h"

namespace xgrad::testing {
namespace {

constexpr std::int64_t training_steps = 10, source_vocabulary = 20, target_vocabulary = 22, pad = 0, bos = 1;

/// Adam divides small gradients by their own size, and so makes large differences of rounding.
constexpr double near_after_steps = in_float ? 1e-3 : 1e-10;

/// Trains the model as the file's was trained, from its first weights, and compares every step and the last weights.
template <class Model>
void check_training(const Model& model, const StateFile& file, double lr, double max_norm) {
  model.load_state_dict(part(file, "initial/"));
  const Tensors parameters = model.parameters();
  optim::Adam adam{parameters, {.lr = lr}};

  for (std::int64_t step = 0; step < training_steps; ++step) {
    CAPTURE(step);
    const Index target = file.get<Index>("target")[{step}];  // (B, T)
    const Tensor logits = model(file.get<Index>("source")[{step}], file.get<Index>("lengths")[{step}],
                                nn::shift_right(target, bos));  // (B, T, V)
    const Tensor loss = cross_entropy(logits, target, {.ignore_index = pad});
    const auto [gradients, norm] = optim::clip_grad_norm(grad(loss, parameters), parameters, max_norm);
    adam.step(gradients);
    CHECK(loss.item() == doctest::Approx(file.get<Array>("losses").at({step})).epsilon(near_after_steps));
    CHECK(norm == doctest::Approx(file.get<Array>("norms").at({step})).epsilon(near_after_steps));
  }

  const NamedArrays trained = model.state_dict(), expected = part(file, "final/");
  CHECK(trained.size() == expected.size());
  for (const auto& each : expected) {
    INFO(each.first);
    CHECK(difference(std::get<Array>(trained.at(each.first)), std::get<Array>(each.second)) < near_after_steps);
  }
}

/// The recurrent model that sees the source this way, beside the one of the file.
void check_recurrent_training(const nn::Seq2SeqOptions& options, const char* name) {
  const StateFile file = load_safetensors(fixture_path(name));
  const nn::Seq2Seq model(nn::root, source_vocabulary, target_vocabulary, options);
  check_training(model, file, 0.02, 0.25);
}

}  // namespace

TEST_CASE("ten training steps of the translation model are PyTorch's, from the same weights") {
  const StateFile file = load_safetensors(fixture_path("translation.safetensors"));
  const nn::EncoderDecoder model(nn::root, source_vocabulary, target_vocabulary,
                                 {.dim = 32, .ffn = 64, .heads = 4, .layers = 2, .dropout = 0});
  check_training(model, file, 0.005, 1);
}

TEST_CASE(
    "ten training steps with one context for all steps, or with a first state of the reversed source, are PyTorch's") {
  check_recurrent_training({.context = nn::Context::every_step, .embed = 6, .hidden = 8},
                           "translation_every_step.safetensors");
  check_recurrent_training({.context = nn::Context::initial_state, .embed = 6, .hidden = 8, .reverse_source = true},
                           "translation_initial_state.safetensors");
}

TEST_CASE("ten training steps with additive attention over the encoder's states are PyTorch's") {
  check_recurrent_training({.context = nn::Context::attention, .embed = 6, .hidden = 8},
                           "translation_attention.safetensors");
}

}  // namespace xgrad::testing
