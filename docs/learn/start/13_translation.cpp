// Station 13, a transformer translates: everything together, trained on 600 short sentences.
//
//   13_translation [FOLDER [CORPUS]]   writes its pictures into the folder, or into the current one
//
// The corpus has lines english<TAB>french and is examples/translate/data/en-fr.tsv unless named.
#include <filesystem>
#include <iostream>

#include <xgrad/kit/draw/attention.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/output.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>

using namespace xgrad;

int main(int argc, char** argv) {
  const std::filesystem::path out = argc > 1 ? argv[1] : ".";
  manual_seed(1);
  const kit::Corpus corpus({.file = argc > 2 ? argv[2] : "examples/translate/data/en-fr.tsv"});
  const nn::EncoderDecoder model{nn::root,
                                 corpus.source_vocab().size(),
                                 corpus.target_vocab().size(),
                                 {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
  const Tensors parameters = model.parameters();
  const auto loss_of = [&](const Index& rows) {
    const kit::CorpusBatch batch = corpus.batch(rows);
    const Tensor logits = model(batch.source, batch.source_lengths, nn::shift_right(batch.target, corpus.bos()));
    return cross_entropy(logits, batch.target, {.ignore_index = corpus.pad()}).named("loss");
  };
  {
    const Tensor loss = loss_of(arange(64));
    Tensors step = grad(loss, parameters, {.create_graph = true});
    step.insert(step.begin(), loss);
    save_graph(out / "13_graph.svg", step, {.depth = 0});
  }

  optim::Adam adam{parameters, {.lr = 0.005}};
  for (int epoch = 1; epoch <= 100; ++epoch) {
    const Index order = randperm(corpus.size(), {.seed = 1, .draw = epoch});
    double last = 0;
    for (std::int64_t begin = 0; begin < order.size(); begin += 64) {
      const Tensor loss = loss_of(order[{slice(begin, begin + 64)}]);
      adam.step(optim::clip_grad_norm(grad(loss, parameters), parameters, 1).gradients);
      last = loss.item();
    }
    if (epoch == 1 || epoch == 100) std::cout << "epoch " << epoch << ", loss " << kit::fixed(last, 1) << "\n";
  }

  const nn::Eval eval(model);
  const auto translate = [&](const kit::Tokens& sentence) {
    const kit::CorpusBatch batch = corpus.sources({sentence});
    auto writing = model.start(batch.source, batch.source_lengths);
    const auto found = nn::greedy(writing, {.bos = corpus.bos(), .eos = corpus.eos(), .max_length = 10});
    return corpus.sentences(found.tokens)[0];
  };
  for (const char* sentence : {"go .", "i lost .", "he's calm .", "i'm home ."}) {
    std::cout << sentence << " -> " << kit::joined(translate(kit::words(sentence))) << "\n";
  }

  nn::AttentionRecorder recorder;
  kit::Tokens source = kit::words("i'm home ."), written = translate(source);
  for (kit::Tokens* sentence : {&source, &written}) sentence->push_back("<eos>");
  const Array weights = kit::attention_weights(recorder, ".cross_attn")[{_, _, _, slice(0, std::ssize(source))}];
  kit::save(
      out / "13_picture.svg",
      kit::attention_svg(weights, kit::cross_maps(written, source, {.title = "Attention of each word to the source"}),
                         kit::Average::heads));
  return 0;
}
