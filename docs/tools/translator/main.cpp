// The weights of the live page with the translator: the model in a checkpoint of examples/translate, with its words,
// its BLEU and the sentences that it never saw, as one file of the format safetensors, translator.safetensors.
//
//   docs/make --live
#include <xgrad/kit/program/cli.h>
#include <xgrad/kit/text/bleu.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/xgrad.h>
#include <nlohmann/json.hpp>

#include "../live/translator.h"

namespace {

using namespace xgrad;

struct Config {
  std::filesystem::path checkpoint = "out/translate/checkpoint.safetensors";
};

// As examples/translate reads it.
const kit::CorpusOptions corpus_options{.file = XGRAD_EXAMPLES_DIR "/translate/data/en-fr.tsv"};

/// The mean BLEU of the held-out sentences, translated as the page does with so many beams.
double bleu_of(const live::Translator& translator, const kit::Corpus& data, std::int64_t beams) {
  std::vector<kit::Tokens> found;
  for (const kit::Tokens& source : data.held_out_sources())
    found.push_back(translator.words_of(translator.search(source, {.beams = beams}).hypotheses.front().tokens));
  return kit::mean_bleu(found, data.held_out(), 2);
}

void run(const Config& config, kit::Example& example) {
  const kit::Corpus data(corpus_options);
  nlohmann::ordered_json about{{"source", data.source_vocab().tokens()},
                               {"target", data.target_vocab().tokens()},
                               {"pairs", data.size()},
                               {"steps", corpus_options.steps},
                               {"held_out", nlohmann::ordered_json::array()}};
  for (const kit::Question& question : data.held_out()) {
    nlohmann::ordered_json answers = nlohmann::ordered_json::array();
    for (const kit::Tokens& answer : question.answers) answers.push_back(kit::joined(answer));
    about["held_out"].push_back({{"text", kit::joined(question.source)}, {"answers", answers}});
  }
  StateFile file{.arrays = load_safetensors(config.checkpoint.string()).part("model").arrays};
  file.metadata["about"] = about.dump();
  const live::Translator translator(file);
  const double greedy = bleu_of(translator, data, 1), beams = bleu_of(translator, data, 4);
  about["bleu"] = {{"1", greedy}, {"4", beams}};
  file.metadata["about"] = about.dump();
  save_safetensors((example.out / "translator.safetensors").string(), file);
  example.result.add("bleu_greedy", kit::fixed(greedy, 3));
  example.result.add("bleu_beams", kit::fixed(beams, 3));
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = [](kit::Options& o, Config& c) {
    o.text("--checkpoint", c.checkpoint, "what examples/quickstart has written");
  };
  return kit::main<Config>(argc, argv, "translator", "The weights of the live page with the translator.", options, run);
}
