// Published models: what the package `transformers` saved and computed, and files that do not fit.
#include "support.h"
#include "support/files.h"

#include <xgrad/core/files/weights.h>
#include <xgrad/nn/pretrained.h>
#include <xgrad/ops/slice.h>

namespace xgrad::testing {
namespace {

using namespace nn;

std::string folder_of(const std::string& name) { return fixture_path(name); }

// Logits, and what greedy decoding writes behind the first three tokens.
void check_language_model(const LanguageModel& model, const std::string& name) {
  const StateFile expected = load_safetensors(fixture_path("language.safetensors"));
  const Index& ids = expected.get<Index>("ids");
  check_close(model(ids).value(), expected.get<Array>(name + "/logits"), 1e-6);
  LanguageStepper text = model.start(ids[{_, slice(0, 3)}]);
  CHECK(equal(greedy(text, {.max_length = 6}).tokens, expected.get<Index>(name + "/greedy")));
}

TEST_CASE("GPT-2 is the reference implementation's, from one file and from several in bfloat16") {
  for (const std::string name : {"gpt2", "gpt2_parts"}) {
    const Gpt model{root, gpt2_options(folder_of(name))};
    CHECK(model.options.context == 16);
    load_gpt2(model, folder_of(name));
    check_language_model(model, name);
  }
}

TEST_CASE(
    "Llama is the reference implementation's, in half precision and in bfloat16, with an own head and a tied one") {
  for (const std::string name : {"llama", "llama_tied"}) {
    const Llama model{root, llama_options(folder_of(name))};
    CHECK(model.head.has_value() == (name == "llama"));
    CHECK(model.options.theta == (name == "llama" ? 10000 : 500));
    load_llama(model, folder_of(name));
    check_language_model(model, name);
  }
}

TEST_CASE("BERT is the reference implementation's, with segments and padding") {
  const Bert model{root, bert_options(folder_of("bert"))};
  load_bert(model, folder_of("bert"));
  const StateFile expected = load_safetensors(fixture_path("language.safetensors"));
  const Index &ids = expected.get<Index>("ids"), &lengths = expected.get<Index>("bert/lengths");
  const Array logits = model(ids, {.lengths = lengths, .segments = expected.get<Index>("bert/segments")}).value();
  const Array& wanted = expected.get<Array>("bert/logits");
  for (std::int64_t b = 0; b < 2; ++b) {
    check_close(logits[{b, slice(0, lengths.at({b}))}], wanted[{b, slice(0, lengths.at({b}))}], 1e-6);
  }
}

// GPT-2's arrays as in the file, changed, in a file of their own.
template <class Change>
std::string changed(const TemporaryFolder& folder, const Change& change) {
  StateFile file = load_weights(folder_of("gpt2"));
  change(file.arrays);
  const std::string path = folder / "model.safetensors";
  save_safetensors(path, {.arrays = file.arrays});
  return path;
}

TEST_CASE("GPT-2's names may lack their prefix, and the file may have masks and the head once more") {
  const TemporaryFolder folder;
  const std::string path = changed(folder, [](NamedArrays& arrays) {
    NamedArrays plain;
    for (const auto& [name, array] : arrays) plain[name.substr(name.find('.') + 1)] = array;
    plain["h.0.attn.bias"] = Array({1, 1, 16, 16}, Real(1));
    plain["h.1.attn.masked_bias"] = Array(Shape{}, Real(-1e4));
    plain["lm_head.weight"] = plain.at("wte.weight");
    arrays = plain;
  });
  const Gpt model{root, gpt2_options(folder_of("gpt2"))};
  load_gpt2(model, path);
  check_language_model(model, "gpt2");
}

TEST_CASE("Weights that are missing, unexpected or misshapen are refused together, and nothing is loaded") {
  const TemporaryFolder folder;
  const std::string path = changed(folder, [](NamedArrays& arrays) {
    arrays.erase("transformer.h.0.ln_1.bias");
    arrays.erase("transformer.wpe.weight");
    arrays["transformer.h.1.attn.c_attn.weight"] = Array({48, 16}, Real(0));  // not transposed
    arrays["transformer.ln_f.bias"] = Index({16}, 0);
    arrays["transformer.h.2.ln_1.bias"] = Array({16}, Real(0));
    arrays["lm_head.weight"] = Array({50, 16}, Real(0));
  });
  const Gpt model{root, gpt2_options(folder_of("gpt2"))};
  const NamedArrays before = model.state_dict();
  CHECK(error_of<FormatError>([&] { load_gpt2(model, path); }) ==
        cat("load_gpt2: ", path,
            ": the state does not fit\n"
            "  missing:\n"
            "    \"transformer.wpe.weight\"\n"
            "    \"transformer.h.0.ln_1.bias\"\n"
            "  unexpected:\n"
            "    \"transformer.h.2.ln_1.bias\"\n"
            "  mismatched:\n"
            "    \"lm_head.weight\" differs from what it is tied to, embedding.weight\n"
            "    \"transformer.h.1.attn.c_attn.weight\" [48, 16] for [16, 48]\n"
            "    \"transformer.ln_f.bias\" holds no real numbers"));
  for (const auto& [name, array] : model.state_dict()) {
    CHECK(equal(std::get<Array>(array), std::get<Array>(before.at(name))));
  }
  const Llama llama{root, llama_options(folder_of("llama"))};
  CHECK(error_of<FormatError>([&] { load_llama(llama, folder_of("gpt2")); }).find("and ") != std::string::npos);
  const Bert bert{root, bert_options(folder_of("bert"))};
  CHECK_THROWS_AS(load_bert(bert, folder_of("llama")), FormatError);
}

TEST_CASE("BERT's file may have the old names of norms, the pooler and the guess of the next sentence") {
  const TemporaryFolder folder;
  StateFile file = load_weights(folder_of("bert"));
  NamedArrays old;
  for (const auto& [name, array] : file.arrays) {
    std::string other = name;
    if (const auto at = name.find("LayerNorm.weight"); at != name.npos) other = name.substr(0, at) + "LayerNorm.gamma";
    if (const auto at = name.find("LayerNorm.bias"); at != name.npos) other = name.substr(0, at) + "LayerNorm.beta";
    old[other] = array;
  }
  old["bert.pooler.dense.weight"] = Array({16, 16}, Real(0));
  old["cls.seq_relationship.bias"] = Array({2}, Real(0));
  old["bert.embeddings.position_ids"] = Index({1, 12}, 0);
  old["cls.predictions.decoder.weight"] = old.at("bert.embeddings.word_embeddings.weight");
  save_safetensors(folder / "bert.safetensors", {.arrays = old});
  const Bert one{root, bert_options(folder_of("bert"))}, other{root, one.options};
  load_bert(one, folder_of("bert"));
  load_bert(other, folder / "bert.safetensors");
  const Index ids({1, 4}, {1, 2, 3, 4});
  CHECK(equal(one(ids).value(), other(ids).value()));
}

TEST_CASE("Options that are missing, wrong, or not to be had are refused by name") {
  const TemporaryFolder folder;
  const std::string path = folder / "config.json";
  const auto refused = [&](const std::string& text, const auto& read) {
    write_text(path, text);
    return error_of<FormatError>([&] { read(folder.path().string()); });
  };
  const std::string llama = R"("hidden_size": 8, "num_attention_heads": 2, "vocab_size": 5)";
  CHECK(refused("[]", gpt2_options) == cat("gpt2_options: ", path, ": is no JSON object"));
  CHECK(refused("{", gpt2_options) == cat("gpt2_options: ", path, ": is no JSON object"));
  CHECK(refused("{}", gpt2_options) == cat("gpt2_options: ", path, ": \"vocab_size\" is missing"));
  CHECK(refused(R"({"vocab_size": -1})", gpt2_options) ==
        cat("gpt2_options: ", path, ": \"vocab_size\" must be a whole number below 2^40, found -1"));
  CHECK(refused(R"({"vocab_size": 1e3})", gpt2_options) ==
        cat("gpt2_options: ", path, ": \"vocab_size\" must be a whole number below 2^40, found 1000.0"));
  CHECK(refused(R"({"scale_attn_by_inverse_layer_idx": true})", gpt2_options) ==
        cat("gpt2_options: ", path, ": \"scale_attn_by_inverse_layer_idx\" is not supported, found true"));
  CHECK(refused(R"({"attention_bias": true})", llama_options) ==
        cat("llama_options: ", path, ": \"attention_bias\" is not supported, found true"));
  CHECK(refused(R"({"rope_scaling": {"factor": 2}})", llama_options) ==
        cat("llama_options: ", path, ": \"rope_scaling\" is not supported, found {\"factor\":2}"));
  CHECK(refused(R"({"rope_parameters": {"rope_type": "yarn"}})", llama_options) ==
        cat("llama_options: ", path, ": \"rope_type\" is not supported, found \"yarn\""));
  CHECK(refused(cat("{", llama, R"(, "head_dim": 3})"), llama_options) ==
        cat("llama_options: ", path, ": \"head_dim\" must be hidden_size / num_attention_heads, found 3"));
  CHECK(refused(R"({"hidden_act": "swish2", "vocab_size": 1, "max_position_embeddings": 1, "type_vocab_size": 1,
                    "hidden_size": 1, "num_attention_heads": 1, "num_hidden_layers": 1, "intermediate_size": 1})",
                bert_options) ==
        cat("bert_options: ", path, ": \"hidden_act\" is no activation that is known, found \"swish2\""));
  write_text(path, std::string((1 << 20) + 1, ' '));
  CHECK_THROWS_AS(gpt2_options(path), LimitError);
  CHECK_THROWS_AS(gpt2_options(folder / "nothing"), IoError);
}

}  // namespace
}  // namespace xgrad::testing
