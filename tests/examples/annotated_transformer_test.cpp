// The annotated transformer in float: it begins to learn as nn::EncoderDecoder does (tests/long compares where both
// end), and does with the library's tools what the library's models do.
#include <doctest/doctest.h>

#include <annotated_transformer/training.h>
#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/train/translation.h>

#include "support.h"

namespace annotated {
namespace {

TEST_CASE("The annotated transformer begins to learn as nn::EncoderDecoder does, from the same seed") {
  const kit::Corpus data({.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv", .pairs = 128});
  const std::int64_t sources = data.source_vocab().size(), targets = data.target_vocab().size();

  manual_seed(1);
  const Transformer model{nn::root, {.source_words = sources, .target_words = targets}};
  const std::vector<double> losses = train(model, data, {.epochs = 5, .batch = 32});

  manual_seed(1);
  const nn::EncoderDecoder theirs{nn::root, sources, targets, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
  kit::reset_to_xavier(theirs);
  const Tensors parameters = theirs.parameters();
  optim::Adam adam{parameters, {.lr = 0.005}};
  kit::DataLoader batches{data, {.batch_size = 32, .shuffle = true, .seed = 1}};
  for (const double loss : losses) {
    double sum = 0;
    for (const kit::CorpusBatch& batch : batches) {
      const Tensor mean = kit::translation_loss(theirs, data, batch);
      const Tensor of_batch = mean * static_cast<double>(batch.tokens) / static_cast<double>(batch.target.dim(1));
      adam.step(optim::clip_grad_norm(grad(of_batch, parameters), parameters, 1).gradients);
      sum += of_batch.item() / static_cast<double>(batch.tokens);
    }
    CHECK(loss == doctest::Approx(sum / static_cast<double>(batches.size())).epsilon(1e-3));
  }
  CHECK(losses.back() < losses.front() / 1.5);
}

TEST_CASE(
    "A transformer of one's own has no leaks and no idle weights, shows where it looks, and is read from a file") {
  manual_seed(1);
  const Options options{.source_words = 11, .target_words = 11};
  const Transformer model{nn::root, options}, again{nn::root, options};
  const Index source = randint(3, 11, {5, 8}), before = randint(3, 11, {5, 9}), lengths = index({8, 3, 5, 8, 6});
  const auto of_target = [&](const Index& ids) { return model(source, lengths, ids); };
  const auto of_source = [&](const Index& ids, const Index& counted) { return model(ids, counted, before); };
  CHECK(nn::check_causality(of_target, before, {.model = &model}).ok());
  const nn::PaddingInvarianceOptions whole{.model = &model, .output = nn::PaddedOutput::everything};
  CHECK(nn::check_padding_invariance(of_source, source, lengths, whole).ok());
  const optim::Adam adam{model.parameters()};
  CHECK(optim::audit(cross_entropy(of_target(before), before), adam).clean());

  const kit::testing::TemporaryFolder folder;
  save(model, (folder / "weights.safetensors").string());
  load(again, (folder / "weights.safetensors").string());
  const nn::Eval one(model), other(again);
  nn::AttentionRecorder recorder;
  CHECK(equal(of_target(before).value(), again(source, lengths, before).value()));
  CHECK(recorder.last("decoder.blocks.1.cross_attn").shape() == Shape{5, 4, 9, 8});
}

}  // namespace
}  // namespace annotated
