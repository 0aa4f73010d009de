// Published models: what the package `transformers` saved and computed, and files that do not fit.
#include "../support.h"
#include "support/files.h"

#include <regex>

#include <xgrad/core/files/weights.h>
#include <xgrad/xgrad.h>

namespace xgrad::testing {
namespace {

using namespace nn;

std::string folder_of(const std::string& name) { return fixture_path(name); }

// A folder with one config.json.
struct Config {
  const TemporaryFolder folder;
  const std::string path = folder / "config.json";

  // The options of a small Llama that has one entry more.
  LlamaOptions llama(const std::string& entry) const {
    write_text(path, str(R"({"hidden_size": 32, "num_attention_heads": 2, "vocab_size": 5, "num_hidden_layers": 4,
                             "intermediate_size": 3, "max_position_embeddings": 8, )",
                         entry, "}"));
    return llama_options(path);
  }
  // What the reading of this text is refused with, without the path.
  std::string refusal(const std::string& text, const auto& read) const {
    write_text(path, text);
    std::string message = error_of<FormatError>([&] { read(folder.path().string()); });
    const std::size_t at = message.find(path + ": ");
    return at == message.npos ? message : message.erase(at, path.size() + 2);
  }
};

// Logits, and what greedy decoding writes behind the first three tokens, freely and by rules.
void check_language_model(const LanguageModel& model, const std::string& name,
                          const std::string& file = "language.safetensors") {
  const StateFile expected = load_safetensors(fixture_path(file));
  const Index& ids = expected.get<Index>("ids");
  check_close(model(ids).value(), expected.get<Array>(name + "/logits"), 1e-6);
  LanguageStepper text = model.start(ids[{_, slice(0, 3)}]);
  CHECK(equal(greedy(text, {.max_length = 6}).tokens, expected.get<Index>(name + "/greedy")));
  LanguageStepper penalised = model.start(ids[{_, slice(0, 3)}]);
  const GreedyOptions options{.eos = {1, 4, 7}, .max_length = 8, .min_length = 3, .repetition_penalty = 1.7};
  CHECK(equal(greedy(penalised, options).tokens, expected.get<Index>(name + "/penalised")));
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
    CHECK(bool(model.head) == (name == "llama"));
    CHECK(model.options.theta == (name == "llama" ? 10000 : 500));
    load_llama(model, folder_of(name));
    check_language_model(model, name);
  }
}

TEST_CASE("Llama 3.1, Mistral with a window and Qwen2 are the reference implementation's") {
  for (const std::string name : {"llama31", "mistral_window", "qwen2"}) {
    CAPTURE(name);
    const Llama model{root, llama_options(folder_of(name))};
    CHECK(model.options.rope_scaling.has_value() == (name == "llama31"));
    CHECK(model.options.window == (name == "mistral_window" ? std::optional<std::int64_t>(3) : std::nullopt));
    CHECK(model.options.qkv_bias == (name == "qwen2"));
    load_llama(model, folder_of(name));
    check_language_model(model, name, "llama_kin.safetensors");
  }
}

TEST_CASE("Llama 3.1's positions may stand where older files have them, and what they lack is said") {
  const Config config;
  const auto scaling = config
                           .llama(R"("rope_scaling": {"rope_type": "llama3", "factor": 32, "low_freq_factor": 1,
                                       "high_freq_factor": 4.5, "original_max_position_embeddings": 4})")
                           .rope_scaling;
  REQUIRE(scaling);
  CHECK(config.llama("\"rms_norm_eps\": 1e-5").theta == 10000);  // where nothing is said
  CHECK(scaling->factor == 32);
  CHECK(scaling->low == 1);
  CHECK(scaling->high == 4.5);
  CHECK(scaling->context == 4);
  const auto scaled_by = [&](const std::string& entries) { config.llama(str("\"rope_scaling\": {", entries, "}")); };
  CHECK_REFUSED(FormatError, scaled_by(R"("rope_type": "llama3", "low_freq_factor": 1, "high_freq_factor": 4.5)"),
                "llama_options", "\"factor\" is missing");
  CHECK_REFUSED(FormatError, scaled_by(R"("rope_type": "llama3", "factor": 0)"), "llama_options",
                "\"factor\" is not a positive number, found 0");
  CHECK_REFUSED(FormatError, scaled_by(R"("type": "yarn", "factor": 2)"), "llama_options", "\"type\"", "\"yarn\"");
}

TEST_CASE("every norm of a published model has the eps of its config.json, or the usual one if there is none") {
  const TemporaryFolder folder;
  const auto check = [&](const std::string& name, const char* key, double usual, std::int64_t norms, const auto& made) {
    const std::string config = read_text(fixture_path(name) + "/config.json");
    const std::regex entry(str("\"", key, "\": [-0-9.e]+"));
    REQUIRE(std::regex_search(config, entry));
    for (const double eps : {0.001, usual}) {
      const std::string given = eps == usual ? std::string("\"other\": 1") : str("\"", key, "\": ", eps);
      write_text(folder / "config.json", std::regex_replace(config, entry, given));
      const auto model = made(folder.path().string());
      std::int64_t found = 0;
      const auto check_norm = [&](const auto& norm) {
        CHECK(norm.options.eps == eps);
        ++found;
      };
      model->template apply<LayerNorm>(check_norm);
      model->template apply<RMSNorm>(check_norm);
      CHECK(found == norms);
    }
  };
  check("gpt2", "layer_norm_epsilon", 1e-5, 5,
        [](auto path) { return std::make_unique<Gpt>(root, gpt2_options(path)); });
  check("llama", "rms_norm_eps", 1e-6, 5, [](auto path) { return std::make_unique<Llama>(root, llama_options(path)); });
  check("bert", "layer_norm_eps", 1e-12, 6, [](auto path) { return std::make_unique<Bert>(root, bert_options(path)); });
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

TEST_CASE("BERT without its head, with a pooler and with a classifier is the reference implementation's") {
  const StateFile expected = load_safetensors(fixture_path("bert_heads.safetensors"));
  const Index &ids = expected.get<Index>("ids"), &lengths = expected.get<Index>("lengths");
  const BertInputs inputs{.lengths = lengths, .segments = expected.get<Index>("segments")};
  const auto loaded = [](const std::string& name, std::optional<BertHead> head = {}) {
    BertOptions options = bert_options(folder_of(name));
    if (head) options.head = *head;
    auto model = std::make_unique<const Bert>(root, options);
    load_bert(*model, folder_of(name));
    return model;
  };
  const auto encoder = loaded("bert_encoder");
  CHECK(encoder->options.head == BertHead::pooled);
  const Tensor hidden = encoder->encode(ids, inputs);
  for (std::int64_t b = 0; b < 2; ++b) {
    const Slice words = slice(0, lengths.at({b}));
    check_close(hidden.value()[{b, words}], expected.get<Array>("hidden")[{b, words}], 1e-6);
  }
  check_close(encoder->pool(hidden).value(), expected.get<Array>("pooled"), 1e-6);
  check_close((*encoder)(ids, inputs).value(), expected.get<Array>("pooled"), 1e-6);

  const auto judge = loaded("bert_classifier");
  CHECK(judge->options.head == BertHead::classes);
  CHECK(judge->options.classes == 3);
  check_close((*judge)(ids, inputs).value(), expected.get<Array>("logits"), 1e-6);

  // The encoder of any file, whose operator() is encode().
  for (const auto& [name, of_head] :
       {std::pair("bert", 5U), std::pair("bert_encoder", 2U), std::pair("bert_classifier", 4U)}) {
    const auto bare = loaded(name, BertHead::none), own = loaded(name);
    CHECK(equal((*bare)(ids, inputs).value(), own->encode(ids, inputs).value()));
    CHECK(bare->parameters().size() + of_head == own->parameters().size());
    CHECK_REFUSED(ValueError, bare->pool(hidden), "bert", "its head has no pooler");
  }
  CHECK_REFUSED(ShapeError, judge->pool(hidden[{0}]), "bert", "pool needs h (B, T, C), got [9, 16]");
  CHECK_REFUSED(FormatError, loaded("bert", BertHead::classes), "load_bert", "\"classifier.weight\"");
  CHECK_REFUSED(FormatError, loaded("bert_classifier", BertHead::words), "load_bert", "\"classifier.weight\"");
  CHECK_REFUSED(FormatError, loaded("bert_encoder", BertHead::words), "load_bert", "\"cls.predictions.bias\"");

  const TemporaryFolder folder;
  const std::string path = folder / "config.json", text = read_text(folder_of("bert_classifier") + "/config.json");
  write_text(path, std::regex_replace(text, std::regex("BertForSequence"), "BertForToken"));
  CHECK(bert_options(path).head == BertHead::none);
  write_text(path, std::regex_replace(text, std::regex("\"id2label\": \\{[^}]*\\}"), "\"id2label\": 3"));
  CHECK_REFUSED(FormatError, bert_options(path), "bert_options", str(path, ": \"id2label\" is not an object, found 3"));
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
        str("load_gpt2: ", path,
            ": the state does not fit\n"
            "  missing:\n"
            "    \"transformer.wpe.weight\"\n"
            "    \"transformer.h.0.ln_1.bias\"\n"
            "  unexpected:\n"
            "    \"transformer.h.2.ln_1.bias\"\n"
            "  mismatched:\n"
            "    \"lm_head.weight\" differs from what it is tied to, embedding.weight\n"
            "    \"transformer.h.1.attn.c_attn.weight\" [48, 16] for [16, 48]\n"
            "    \"transformer.ln_f.bias\" holds another kind of numbers"));
  for (const auto& [name, array] : model.state_dict()) {
    CHECK(equal(std::get<Array>(array), std::get<Array>(before.at(name))));
  }
  const Llama llama{root, llama_options(folder_of("llama"))};
  CHECK_REFUSED(FormatError, load_llama(llama, folder_of("gpt2")), "load_llama", "and ");
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

TEST_CASE("Mistral is Llama with a window, if that is shorter than the context") {
  const TemporaryFolder folder;
  const std::string path = folder / "config.json", whole = read_text(folder_of("mistral_window") + "/config.json");
  const auto with = [&](const std::string& entry, const std::string& instead) {
    const std::string old = R"("sliding_window": 3,)";
    std::string text = whole;
    text.replace(text.find(old), old.size(), entry);
    text.replace(text.find("\"max_position_embeddings\": 32"), 29, "\"max_position_embeddings\": " + instead);
    write_text(path, text);
  };
  with(R"("sliding_window": null,)", "1000000");
  CHECK(llama_options(path).context == 1000000);
  with("", "4096");  // 4096 is the window that the package gives to a Mistral that names none
  CHECK(llama_options(path).context == 4096);
  CHECK(!llama_options(path).window);
  with("", "4097");
  CHECK(llama_options(path).window == 4096);
  with(R"("sliding_window": 32,)", "32");
  CHECK(!llama_options(path).window);
  with(R"("sliding_window": 31,)", "32");
  CHECK(llama_options(path).window == 31);
  with(R"("sliding_window": 0,)", "32");
  CHECK_REFUSED(FormatError, llama_options(path), "llama_options",
                str(path, ": \"sliding_window\" is not positive, found 0"));
}

TEST_CASE("A model of another family is refused by name, and without the name by what it does otherwise") {
  const TemporaryFolder folder;
  const auto refusal = [](const std::string& path, const auto& read) {
    const std::string error = error_of<FormatError>([&] { read(path); });
    const std::size_t begin = error.find(".json: ");
    return error.substr(begin == error.npos ? 0 : begin + 7);
  };
  const auto check = [&](const auto& read, const std::string& family, const std::string& without_name = "") {
    CAPTURE(family);
    const std::string path = fixture_path("families/" + family + ".json");
    CHECK(refusal(path, read) == str("\"model_type\" is not supported, found \"", family, "\""));
    if (without_name.empty()) return;
    const std::string text = std::regex_replace(read_text(path), std::regex("\"model_type\": \"[a-z0-9_]*\",?"), "");
    const std::string said = refusal(write_text(folder / "config.json", text).string(), read);
    CHECK(said.starts_with(without_name));
  };
  for (const char* family : {"ernie4_5", "olmo", "gptj"}) check(llama_options, family);
  check(llama_options, "granite", "\"embedding_multiplier\" is not supported, found 12.0");
  check(llama_options, "smollm3", "\"no_rope_layers\" is not supported, found [1,1,1,0,");
  check(llama_options, "gemma", "\"hidden_act\" is not supported, found \"gelu_pytorch_tanh\"");
  check(llama_options, "cohere", "\"logit_scale\" is not supported, found 0.0625");
  check(llama_options, "nemotron", "\"hidden_act\" is not supported, found \"relu2\"");
  check(gpt2_options, "gpt_bigcode", "\"multi_query\" is not supported, found true");
  for (const char* family : {"gptj", "granite"}) check(gpt2_options, family);
  check(bert_options, "electra", "\"embedding_size\" is not supported, found 128");
  for (const char* family : {"roberta", "granite"}) check(bert_options, family);
}

TEST_CASE("What other families do otherwise is refused by name, and taken where it changes nothing") {
  const Config config;
  for (const std::string entry :
       {R"("model_type": "llama")", R"("model_type": null)", R"("hidden_act": "swish")",
        R"("attention_multiplier": 0.25)", R"("embedding_multiplier": 1)", R"("residual_multiplier": 1.0)",
        R"("logits_scaling": 1)", R"("scale_emb": 1)", R"("scale_depth": 2)", R"("dim_model_base": 32)",
        R"("use_bias": false)", R"("rope_interleave": false)", R"("partial_rotary_factor": 1.0)",
        R"("no_rope_layers": [1, 1, 1, 1])", R"("no_rope_layers": null)", R"("no_rope_layer_interval": 5)",
        R"("layer_types": ["full_attention", "full_attention"])", R"("sliding_window": 8)",
        R"("rope_parameters": {"rope_type": "default", "partial_rotary_factor": 1})"}) {
    CAPTURE(entry);
    CHECK_NOTHROW(config.llama(entry));
  }
  for (const std::string entry : {R"("attention_multiplier": 0.5)",
                                  R"("embedding_multiplier": 12)",
                                  R"("residual_multiplier": 0.22)",
                                  R"("logits_scaling": 8)",
                                  R"("logit_scale": 0.0625)",
                                  R"("scale_emb": 12)",
                                  R"("scale_depth": 1.4)",
                                  R"("dim_model_base": 256)",
                                  R"("attention_bias": true)",
                                  R"("use_bias": true)",
                                  R"("bias": true)",
                                  R"("qkv_bias": true)",
                                  R"("use_qk_norm": true)",
                                  R"("rope_interleave": true)",
                                  R"("partial_rotary_factor": 0.5)",
                                  R"("no_rope_layers": [1,1,1,0])",
                                  R"("no_rope_layers": 3)",
                                  R"("no_rope_layer_interval": 4)",
                                  R"("layer_types": ["linear"])",
                                  R"("attention_chunk_size": 4)",
                                  R"("use_sliding_window": true)",
                                  R"("clip_qkv": 8.0)",
                                  R"("attn_logit_softcapping": 50.0)",
                                  R"("final_logit_softcapping": 30.0)",
                                  R"("model_type": "minicpm")",
                                  R"("model_type": 3)"}) {
    const std::size_t colon = entry.find(": ");
    CHECK_REFUSED(FormatError, config.llama(entry), "llama_options",
                  str(entry.substr(0, colon), " is not supported, found ", entry.substr(colon + 2)));
  }
  for (const std::string name : {"partial_rotary_factor", "full_attention"}) {
    CHECK_REFUSED(FormatError, config.llama(str(R"("rope_parameters": {"rope_type": "default", ")", name, R"(": {}})")),
                  "llama_options", str("\"", name, "\" is not supported, found {}"));
  }
}

TEST_CASE("Activations have all the names that the package has for them") {
  const Config config;
  const Tensor x = linspace(-3, 3, 13);
  const auto value = [&](const std::string& name) {
    write_text(config.path, str(R"({"vocab_size": 5, "n_positions": 4, "n_embd": 4, "n_head": 2, "n_layer": 1,
                             "activation_function": ")",
                                name, "\"}"));
    return gpt2_options(config.path).activation(x).value();
  };
  CHECK(equal(value("swish"), silu(x).value()));
  CHECK(equal(value("silu"), silu(x).value()));
  for (const std::string name : {"gelu_fast", "gelu_new", "gelu_pytorch_tanh"}) {
    CHECK(equal(value(name), gelu(x, Gelu::tanh).value()));
  }
  CHECK(equal(value("gelu"), gelu(x).value()));
}

TEST_CASE("Options that are missing, wrong, or not to be had are refused by name") {
  const Config config;
  const auto gpt2 = [&](const std::string& text) { return config.refusal(text, gpt2_options); };
  CHECK(gpt2("[]") == "gpt2_options: is no JSON object");
  CHECK(gpt2("{}") == "gpt2_options: \"vocab_size\" is missing");
  const std::string no_size = "gpt2_options: \"vocab_size\" is not an integer below 2^40, found ";
  CHECK(gpt2(R"({"vocab_size": -1})") == no_size + "-1");
  CHECK(gpt2(R"({"vocab_size": 1e3})") == no_size + "1000.0");
  CHECK(gpt2(R"({"scale_attn_by_inverse_layer_idx": true})") ==
        "gpt2_options: \"scale_attn_by_inverse_layer_idx\" is not supported, found true");
  CHECK_REFUSED(FormatError, config.llama(R"("rope_scaling": {"factor": 2})"), "llama_options",
                "\"rope_scaling\" is not supported, found {\"factor\":2}");
  CHECK_REFUSED(FormatError, config.llama(R"("rope_parameters": {"rope_type": "yarn"})"), "llama_options",
                "\"rope_type\" is not supported, found \"yarn\"");
  CHECK_REFUSED(FormatError, config.llama(R"("head_dim": 3)"), "llama_options",
                "\"head_dim\" is not hidden_size / num_attention_heads, found 3");
  const std::string bert = R"({"hidden_act": "swish2", "vocab_size": 1, "max_position_embeddings": 1,
      "type_vocab_size": 1, "hidden_size": 1, "num_attention_heads": 1, "num_hidden_layers": 1, "intermediate_size": 1})";
  CHECK(config.refusal(bert, bert_options) ==
        "bert_options: \"hidden_act\" is no activation that is known, found \"swish2\"");
  write_text(config.path, R"({"vocab_size": 5, "n_positions": 4, "n_embd": 4, "n_head": 2, "n_layer": 0})");
  CHECK_REFUSED(ValueError, Gpt(root, gpt2_options(config.path)), "Gpt", "layers 0 is not positive");
  write_text(config.path, std::string((1 << 20) + 1, ' '));
  CHECK_THROWS_AS(gpt2_options(config.path), LimitError);
  CHECK_THROWS_AS(gpt2_options(config.folder / "nothing"), IoError);
}

}  // namespace
}  // namespace xgrad::testing
