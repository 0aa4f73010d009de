// Published models: their numbers of parameters, and their logits in float, as near to what the package `transformers`
// computed as rounding allows.
#include "support/check.h"
#include "support/fixtures.h"
#include "support/thorough.h"

#include <xgrad/core/files/safetensors.h>
#include <xgrad/nn/models/pretrained.h>
#include <xgrad/nn/nn.h>

namespace xgrad::testing {
namespace {

using namespace nn;

constexpr double rounding = 1e-5;

StateFile computed() { return load_safetensors(fixture_path("language.safetensors")); }

TEST_CASE("GPT-2's and Llama's logits in float are the reference implementation's") {
  const StateFile expected = computed();
  const auto check = [&](const auto& model, const char* name) {
    check_close(model(expected.get<Index>("ids")).value(), expected.get<Array>(str(name, "/logits")), rounding);
  };
  const std::string gpt2 = fixture_path("gpt2"), llama = fixture_path("llama");
  const Gpt gpt{root, gpt2_options(gpt2)};
  load_gpt2(gpt, gpt2);
  check(gpt, "gpt2");
  const Llama model{root, llama_options(llama)};
  load_llama(model, llama);
  check(model, "llama");
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

TEST_CASE("vision models of the published sizes have the published numbers of parameters") {
  CHECK(VisionTransformer(root, vit_b()).num_parameters() == 86'567'656);
  CHECK(SwinTransformer(root, swin_t()).num_parameters() == 28'288'354);
  // The other sizes of the papers, of which the headers give the options: ViT-Ti and -S of DeiT, Swin-S.
  VisionTransformerOptions vit = vit_b();
  vit.dim = 192;
  vit.heads = 3;
  CHECK(VisionTransformer(root, vit).num_parameters() == 5'717'416);
  vit.dim = 384;
  vit.heads = 6;
  CHECK(VisionTransformer(root, vit).num_parameters() == 22'050'664);
  SwinTransformerOptions swin = swin_t();
  swin.depths = {2, 2, 18, 2};
  CHECK(SwinTransformer(root, swin).num_parameters() == 49'606'258);
  if (!thorough()) return;
  swin.dim = 128;
  swin.heads = {4, 8, 16, 32};
  CHECK(SwinTransformer(root, swin).num_parameters() == 87'768'224);
  vit.dim = 1024;
  vit.heads = 16;
  vit.layers = 24;
  CHECK(VisionTransformer(root, vit).num_parameters() == 304'326'632);
}

TEST_CASE("residual networks of the published sizes have the published numbers of parameters") {
  CHECK(ResNet(root, resnet18()).num_parameters() == 11'689'512);
  CHECK(ResNet(root, resnet50()).num_parameters() == 25'557'032);
}

}  // namespace
}  // namespace xgrad::testing
