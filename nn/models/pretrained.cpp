// Published models.
#include "pretrained.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <vector>

#include "../../core/base/text.h"
#include "../../core/files/json.h"
#include "../../core/files/weights.h"
#include "../../ops/shape/join.h"
#include "../../ops/shape/shape.h"

namespace xgrad::nn {
namespace {

// ---- Options --------------------------------------------------------------------------------------------------------

// The entries of a config.json, each asked for by its name.
class Config {
 public:
  Config(std::string_view op, const std::string& path) : op_(op), path_(path) {
    constexpr std::int64_t most = 1 << 20;
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored)) path_ = (std::filesystem::path(path) / "config.json").string();
    entries_ = read_json(path_, op_, most);
    if (!entries_.is_object()) fail<FormatError>(op_, path_, ": is no JSON object");
  }

  bool has(const char* name) const { return entries_.contains(name) && !entries_[name].is_null(); }
  // Whether the entry is there, even if it is null.
  bool names(const char* name) const { return entries_.contains(name); }
  std::int64_t integer(const char* name) const {
    const nlohmann::json& entry = at(name);
    if (!entry.is_number_unsigned() || entry.get<std::uint64_t>() >= std::uint64_t{1} << 40) {
      refuse(name, "is not an integer below 2^40");
    }
    return entry.get<std::int64_t>();
  }
  double number(const char* name, double otherwise) const {
    if (!has(name)) return otherwise;
    if (!at(name).is_number()) refuse(name, "is not a number");
    return at(name).get<double>();
  }
  double positive(const char* name) const {
    (void)at(name);
    const double value = number(name, 0);
    if (!(value > 0) || std::isinf(value)) refuse(name, "is not a positive number");
    return value;
  }
  bool boolean(const char* name, bool otherwise) const {
    if (!has(name)) return otherwise;
    if (!at(name).is_boolean()) refuse(name, "is not true or false");
    return at(name).get<bool>();
  }
  Activation activation(const char* name, const char* otherwise) const {
    const nlohmann::json fallback(otherwise), &entry = has(name) ? at(name) : fallback;
    if (entry == "gelu_new" || entry == "gelu_pytorch_tanh" || entry == "gelu_fast") {
      return [](const Tensor& x) { return gelu(x, Gelu::tanh); };
    }
    if (entry == "gelu") return gelu;
    if (entry == "relu") return relu;
    if (entry == "silu" || entry == "swish") return silu;
    refuse(name, "is no activation that is known");
  }
  bool is(const char* name, const nlohmann::json& value) const { return has(name) && at(name) == value; }
  // Refuses an entry with another value than this, which it has where it is not given.
  void require(const char* name, const nlohmann::json& value) const {
    if (has(name) && !is(name, value)) refuse(name, "is not supported");
  }
  void require(std::initializer_list<const char*> names, const nlohmann::json& value) const {
    for (const char* name : names) require(name, value);
  }
  // The same for an entry with a value for each layer.
  void require_all(const char* name, const nlohmann::json& value) const {
    if (!has(name)) return;
    const nlohmann::json& list = at(name);
    const auto differs = [&](const nlohmann::json& one) { return one != value; };
    if (!list.is_array() || std::ranges::any_of(list, differs)) refuse(name, "is not supported");
  }
  [[noreturn]] void refuse(const char* name, const char* what) const {
    const auto found = entries_.find(name);
    fail<FormatError>(op_, path_, ": ", escaped(name), " ", what, ", found ",
                      found == entries_.end() ? "null" : shown(*found));
  }
  // An entry that is an object, as a config of its own.
  Config inner(const char* name) const {
    if (!at(name).is_object()) refuse(name, "is not an object");
    Config own = *this;
    own.entries_ = at(name);
    return own;
  }
  std::int64_t size() const { return std::ssize(entries_); }

 private:
  const nlohmann::json& at(const char* name) const {
    if (!has(name)) fail<FormatError>(op_, path_, ": ", escaped(name), " is missing");
    return entries_[name];
  }

  std::string_view op_;
  std::string path_;
  nlohmann::json entries_;
};

// Refuses models that differ from Llama although their arrays have the same names and shapes: Granite, MiniCPM, Cohere,
// Gemma, OLMo, SmolLM3 and others.
void require_llama(const Config& config) {
  if (!config.is("hidden_act", "swish")) config.require("hidden_act", "silu");
  config.require({"attention_bias", "mlp_bias", "use_bias", "bias", "qkv_bias", "use_qkv_bias"}, false);
  config.require({"use_qk_norm", "qk_norm", "use_parallel_residual", "rope_interleave", "rope_interleaved"}, false);
  config.require({"embedding_multiplier", "residual_multiplier", "logits_scaling", "logit_scale", "scale_emb"}, 1);
  config.require("partial_rotary_factor", 1);
  config.require({"clip_qkv", "attn_logit_softcapping", "final_logit_softcapping"}, nullptr);
  config.require("attention_chunk_size", nullptr);
  config.require_all("layer_types", "full_attention");
  config.require_all("no_rope_layers", 1);
  const auto dim = static_cast<double>(config.integer("hidden_size"));
  const auto heads = static_cast<double>(config.integer("num_attention_heads"));
  const std::int64_t layers = config.integer("num_hidden_layers");
  config.require("attention_multiplier", 1 / std::sqrt(dim / heads));
  config.require("scale_depth", std::sqrt(static_cast<double>(layers)));
  config.require("dim_model_base", dim);
  const char* interval = "no_rope_layer_interval";
  if (!config.has("no_rope_layers") && config.has(interval) && config.integer(interval) <= layers) {
    config.refuse(interval, "is not supported");
  }
}

// The scaling of the rotary positions of Llama 3.1, if any: `config` is that of the positions.
std::optional<RotaryScaling> scaling_of(const Config& config) {
  const char* kind = config.has("rope_type") ? "rope_type" : "type";
  if (!config.has(kind) || config.is(kind, "default")) return {};
  config.require(kind, "llama3");
  return RotaryScaling{.factor = config.positive("factor"),
                       .low = config.positive("low_freq_factor"),
                       .high = config.positive("high_freq_factor"),
                       .context = config.integer("original_max_position_embeddings")};
}

// The head of a BERT, by the name of its class.
BertHead head_of_bert(const Config& config) {
  const char* name = "architectures";
  const auto is = [&](const char* architecture) { return config.is(name, nlohmann::json::array({architecture})); };
  if (!config.has(name) || is("BertForMaskedLM") || is("BertForPreTraining")) return BertHead::words;
  if (is("BertModel")) return BertHead::pooled;
  if (is("BertForSequenceClassification")) return BertHead::classes;
  return BertHead::none;
}

// ---- Weights --------------------------------------------------------------------------------------------------------

// The arrays of a file on their way into the parameters of a model. Mismatches are noted, and refused at the end.
class Weights {
 public:
  Weights(std::string_view op, const std::string& path, std::string_view prefix) : op_(op), file_(load_weights(path)) {
    const auto first = file_.arrays.lower_bound(prefix);
    if (first != file_.arrays.end() && first->first.starts_with(prefix)) prefix_ = prefix;
  }

  // The name in this file of an array of the model without its head.
  template <class... Parts>
  std::string name(const Parts&... parts) const {
    return str(prefix_, parts...);
  }
  bool has(const std::string& name) const { return file_.arrays.contains(name); }

  void into(const Tensor& parameter, const std::string& name) {
    if (parameter.defined()) put(parameter, take(name, parameter.shape()));
  }
  template <class Layer>
  void into_layer(const Layer& layer, const std::string& name) {
    into(layer.weight, name + ".weight");
    into(layer.bias, name + ".bias");
  }
  // A map whose weight is stored transposed.
  void into_transposed(const Linear& map, const std::string& name) {
    const Tensor stored = take(name + ".weight", {map.weight.dim(1), map.weight.dim(0)});
    put(map.weight, stored.defined() ? transpose(stored) : stored);
    into(map.bias, name + ".bias");
  }
  // The maps of queries, keys and values, which are one map here: their rows one below the other.
  void into_qkv(const MultiHeadAttention& attn, const std::array<std::string, 3>& maps) {
    const std::int64_t keys = attn.dim / attn.heads * attn.kv_heads;
    const auto into_part = [&](const Tensor& parameter, const char* part) {
      Tensors rows;
      for (const std::string& map : maps) {
        Shape shape = parameter.shape();
        shape[0] = rows.empty() ? attn.dim : keys;
        rows.push_back(take(map + part, shape));
      }
      put(parameter, std::ranges::all_of(rows, &Tensor::defined) ? concat(rows) : Tensor());
    };
    into_part(attn.qkv->weight, ".weight");
    if (attn.qkv->bias.defined()) into_part(attn.qkv->bias, ".bias");
  }
  // An array that a file may repeat, but not with other numbers.
  void again(const Tensor& parameter, const std::string& name) {
    const Tensor* first = nullptr;
    for (const auto& [to, value] : values_) {
      if (same(to, parameter)) first = &value;
    }
    if (!has(name)) return;
    const Tensor second = take(name, parameter.shape());
    if (first && second.defined() && !equal(first->value(), second.value())) {
      match_.difference.add_mismatch(name, str("differs from what it is tied to, ", parameter.name()));
    }
  }
  void leave_out(const std::string& name) { (void)match_.find(name); }
  void leave_out_all(std::string_view prefix) {
    for (const auto& [name, array] : file_.arrays) {
      if (name.starts_with(prefix)) leave_out(name);
    }
  }

  void load() {
    match_.finish().refuse(op_, file_.source);
    for (const auto& [parameter, value] : values_) parameter.assign(value.value());
  }

 private:
  Tensor take(const std::string& name, const Shape& shape) {
    const Array* array = match_.take<Array>(name, shape);
    return array ? Tensor(*array) : Tensor();
  }
  void put(const Tensor& parameter, Tensor value) {
    if (value.defined()) values_.emplace_back(parameter, std::move(value));
  }

  std::string_view op_;
  StateFile file_;
  StateMatch match_{file_.arrays};
  std::string_view prefix_;
  std::vector<std::pair<Tensor, Tensor>> values_;
};

}  // namespace

GptOptions gpt2_options(const std::string& path) {
  const Config config("gpt2_options", path);
  config.require("model_type", "gpt2");
  config.require("tie_word_embeddings", true);
  config.require("scale_attn_weights", true);
  config.require("scale_attn_by_inverse_layer_idx", false);
  config.require({"add_cross_attention", "multi_query"}, false);
  return {.vocabulary = config.integer("vocab_size"),
          .context = config.integer("n_positions"),
          .dim = config.integer("n_embd"),
          .heads = config.integer("n_head"),
          .layers = config.integer("n_layer"),
          .ffn = config.has("n_inner") ? config.integer("n_inner") : 0,
          .norm_eps = config.number("layer_norm_epsilon", 1e-5),
          .activation = config.activation("activation_function", "gelu_new")};
}

LlamaOptions llama_options(const std::string& path) {
  const Config config("llama_options", path);
  const bool mistral = config.is("model_type", "mistral"), qwen2 = config.is("model_type", "qwen2");
  if (!mistral && !qwen2) config.require("model_type", "llama");
  std::optional<RotaryScaling> scaling;
  if (config.has("rope_scaling")) {
    const Config rope = config.inner("rope_scaling");
    if (!rope.has("rope_type") && !rope.has("type")) config.refuse("rope_scaling", "is not supported");
    scaling = scaling_of(rope);
  }
  require_llama(config);
  const std::int64_t context = config.integer("max_position_embeddings");
  // Where a Mistral's config has no entry, not even null, the package takes the sizes of the first one.
  const auto size = [&](const char* name, std::int64_t null, std::int64_t of_mistral) {
    return config.has(name) ? config.integer(name) : mistral && !config.names(name) ? of_mistral : null;
  };
  // Qwen2's window is that of some of its layers, and of none unless this is true.
  config.require("use_sliding_window", false);
  std::optional<std::int64_t> window;
  if (const std::int64_t size_of_window = size("sliding_window", context, 4096); !qwen2 && size_of_window < context) {
    if (size_of_window < 1) config.refuse("sliding_window", "is not positive");
    window = size_of_window;
  }
  double theta = config.number("rope_theta", 10000);
  if (config.has("rope_parameters")) {  // where newer files have it
    const Config rope = config.inner("rope_parameters");
    scaling = scaling_of(rope);
    rope.require("partial_rotary_factor", 1);
    rope.require({"full_attention", "sliding_attention"}, nullptr);  // angles of their own
    theta = rope.number("rope_theta", theta);
  }
  const std::int64_t dim = config.integer("hidden_size"), heads = config.integer("num_attention_heads");
  if (config.has("head_dim") && (heads == 0 || config.integer("head_dim") * heads != dim)) {
    config.refuse("head_dim", "is not hidden_size / num_attention_heads");
  }
  return {.vocabulary = config.integer("vocab_size"),
          .context = context,
          .dim = dim,
          .heads = heads,
          .kv_heads = size("num_key_value_heads", heads, 8),
          .layers = config.integer("num_hidden_layers"),
          .ffn = config.integer("intermediate_size"),
          .norm_eps = config.number("rms_norm_eps", 1e-6),
          .theta = theta,
          .head = config.boolean("tie_word_embeddings", false) ? Head::tied : Head::own,
          .rope_scaling = scaling,
          .window = window,
          .qkv_bias = qwen2};
}

BertOptions bert_options(const std::string& path) {
  const Config config("bert_options", path);
  config.require("model_type", "bert");
  config.require("position_embedding_type", "absolute");
  config.require({"is_decoder", "add_cross_attention"}, false);
  if (config.has("embedding_size")) config.require("embedding_size", config.integer("hidden_size"));
  return {.vocabulary = config.integer("vocab_size"),
          .context = config.integer("max_position_embeddings"),
          .segments = config.integer("type_vocab_size"),
          .dim = config.integer("hidden_size"),
          .heads = config.integer("num_attention_heads"),
          .layers = config.integer("num_hidden_layers"),
          .ffn = config.integer("intermediate_size"),
          .dropout = 0,
          .norm_eps = config.number("layer_norm_eps", 1e-12),
          .activation = config.activation("hidden_act", "gelu"),
          .head = head_of_bert(config),
          .classes = config.has("id2label") ? config.inner("id2label").size() : 2};
}

void load_gpt2(const Gpt& model, const std::string& path) {
  Weights file("load_gpt2", path, "transformer.");
  file.into(model.embedding.weight, file.name("wte.weight"));
  file.again(model.embedding.weight, "lm_head.weight");
  file.into(model.positions.weight, file.name("wpe.weight"));
  for (std::int64_t i = 0; i < model.blocks.size(); ++i) {
    const GptBlock& block = model.blocks[i];
    file.into_layer(block.norm1, file.name("h.", i, ".ln_1"));
    file.into_transposed(*block.attn.qkv, file.name("h.", i, ".attn.c_attn"));
    file.into_transposed(block.attn.o, file.name("h.", i, ".attn.c_proj"));
    file.into_layer(block.norm2, file.name("h.", i, ".ln_2"));
    file.into_transposed(block.ffn.fc1, file.name("h.", i, ".mlp.c_fc"));
    file.into_transposed(block.ffn.fc2, file.name("h.", i, ".mlp.c_proj"));
    for (const char* mask : {".attn.bias", ".attn.masked_bias"}) file.leave_out(file.name("h.", i, mask));
  }
  file.into_layer(model.norm, file.name("ln_f"));
  file.load();
}

void load_llama(const Llama& model, const std::string& path) {
  Weights file("load_llama", path, "model.");
  file.into(model.embedding.weight, file.name("embed_tokens.weight"));
  for (std::int64_t i = 0; i < model.blocks.size(); ++i) {
    const LlamaBlock& block = model.blocks[i];
    const auto name = [&](const char* part) { return file.name("layers.", i, ".", part, ".weight"); };
    const auto map = [&](const char* part) { return file.name("layers.", i, ".self_attn.", part); };
    file.into(block.norm1.weight, name("input_layernorm"));
    file.into_qkv(block.attn, {map("q_proj"), map("k_proj"), map("v_proj")});
    file.into(block.attn.o.weight, name("self_attn.o_proj"));
    file.into(block.norm2.weight, name("post_attention_layernorm"));
    file.into(block.ffn.w1.weight, name("mlp.gate_proj"));
    file.into(block.ffn.w2.weight, name("mlp.down_proj"));
    file.into(block.ffn.w3.weight, name("mlp.up_proj"));
    file.leave_out(file.name("layers.", i, ".self_attn.rotary_emb.inv_freq"));
  }
  file.into(model.norm.weight, file.name("norm.weight"));
  if (model.head) {
    file.into(model.head->weight, "lm_head.weight");
  } else {
    file.again(model.embedding.weight, "lm_head.weight");
  }
  file.load();
}

void load_bert(const Bert& model, const std::string& path) {
  Weights file("load_bert", path, "bert.");
  const auto into_norm = [&](const LayerNorm& norm, const std::string& name) {
    const bool old = file.has(name + ".gamma");
    file.into(norm.weight, name + (old ? ".gamma" : ".weight"));
    file.into(norm.bias, name + (old ? ".beta" : ".bias"));
  };
  file.into(model.embedding.weight, file.name("embeddings.word_embeddings.weight"));
  file.into(model.segments.weight, file.name("embeddings.token_type_embeddings.weight"));
  file.into(model.positions.weight, file.name("embeddings.position_embeddings.weight"));
  into_norm(model.norm, file.name("embeddings.LayerNorm"));
  for (std::int64_t i = 0; i < model.blocks.size(); ++i) {
    const BertBlock& block = model.blocks[i];
    const auto name = [&](const auto&... parts) { return file.name("encoder.layer.", i, ".", parts...); };
    file.into_qkv(block.attn, {name("attention.self.query"), name("attention.self.key"), name("attention.self.value")});
    file.into_layer(block.attn.o, name("attention.output.dense"));
    into_norm(block.norm1, name("attention.output.LayerNorm"));
    file.into_layer(block.ffn.fc1, name("intermediate.dense"));
    file.into_layer(block.ffn.fc2, name("output.dense"));
    into_norm(block.norm2, name("output.LayerNorm"));
  }
  if (model.transform) {
    file.into_layer(*model.transform, "cls.predictions.transform.dense");
    into_norm(*model.head_norm, "cls.predictions.transform.LayerNorm");
    file.into(model.bias, "cls.predictions.bias");
    file.again(model.bias, "cls.predictions.decoder.bias");
    file.again(model.embedding.weight, "cls.predictions.decoder.weight");
    file.leave_out_all("cls.seq_relationship.");
  } else {
    for (const char* head : {"cls.", "qa_outputs."}) file.leave_out_all(head);
    if (!model.classifier) file.leave_out_all("classifier.");
  }
  if (model.pooler) file.into_layer(*model.pooler, file.name("pooler.dense"));
  if (model.classifier) file.into_layer(*model.classifier, "classifier");
  file.leave_out(file.name("embeddings.position_ids"));
  file.leave_out_all(file.name("pooler."));
  file.load();
}

}  // namespace xgrad::nn
