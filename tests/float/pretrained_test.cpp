// Published models in float: as near to what the package `transformers` computed as rounding allows.
#include "support/check.h"
#include "support/fixtures.h"

#include <xgrad/core/files/safetensors.h>
#include <xgrad/nn/models/pretrained.h>
#include <xgrad/ops/arrange/slice.h>

namespace xgrad::testing {
namespace {

using namespace nn;

constexpr double rounding = 1e-5;

StateFile computed() { return load_safetensors(fixture_path("language.safetensors")); }

TEST_CASE("GPT-2's logits in float are the reference implementation's") {
  const StateFile expected = computed();
  const std::string folder = fixture_path("gpt2");
  const Gpt model{root, gpt2_options(folder)};
  load_gpt2(model, folder);
  check_close(model(expected.get<Index>("ids")).value(), expected.get<Array>("gpt2/logits"), rounding);
}

TEST_CASE("Llama's logits in float are the reference implementation's") {
  const StateFile expected = computed();
  const std::string folder = fixture_path("llama");
  const Llama model{root, llama_options(folder)};
  load_llama(model, folder);
  check_close(model(expected.get<Index>("ids")).value(), expected.get<Array>("llama/logits"), rounding);
}

TEST_CASE("BERT's logits in float are the reference implementation's where there are words") {
  const StateFile expected = computed();
  const std::string folder = fixture_path("bert");
  const Bert model{root, bert_options(folder)};
  load_bert(model, folder);
  const Index& lengths = expected.get<Index>("bert/lengths");
  const Array logits =
      model(expected.get<Index>("ids"), {.lengths = lengths, .segments = expected.get<Index>("bert/segments")}).value();
  for (std::int64_t b = 0; b < lengths.size(); ++b) {
    const Slice words = slice(0, lengths.at({b}));
    check_close(logits[{b, words}], expected.get<Array>("bert/logits")[{b, words}], rounding);
  }
}

}  // namespace
}  // namespace xgrad::testing
