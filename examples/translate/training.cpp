// The training loop.
#include "training.h"

#include <charconv>
#include <vector>

#include <xgrad/core/base/text.h>

namespace translate {

Tensor batch_loss(const nn::EncoderDecoder& model, const kit::Corpus& data, const kit::CorpusBatch& batch) {
  const Index before = nn::shift_right(batch.target, data.bos());
  const Tensor logits = model(batch.source, batch.source_lengths, before);  // (B, T, V)
  const Tensor total = cross_entropy(logits, batch.target, {.ignore_index = data.pad(), .reduction = Reduction::sum});
  return total / static_cast<Real>(batch.target.dim(1));
}

namespace {

constexpr const char* checkpoint = "checkpoint";  // what its errors begin with

/// A count, and a fingerprint of what was counted.
std::string counted(std::int64_t count, std::uint64_t fingerprint) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, fingerprint, 16).ptr;
  return cat(count, " (fingerprint ", std::string_view(digits, end), ")");
}

std::string counted(const kit::Vocab& vocab) {
  return counted(vocab.size(), kit::fingerprint(kit::joined(vocab.tokens())));
}

/// All that decides how training goes on and is not changed by it: a checkpoint fits where these are equal. Seed and
/// learning rate are not among them, they come from the checkpoint.
Metadata settings(const Config& config, const kit::Corpus& data) {
  return {{"width", cat(config.dim)},
          {"feed-forward width", cat(config.hidden)},
          {"heads", cat(config.heads)},
          {"layers", cat(config.layers)},
          {"dropout", cat(config.dropout)},
          {"cross-attention", cross_attention_names.at(static_cast<std::size_t>(config.cross_attention))},
          {"batch", cat(config.batch)},
          {"clip", cat(config.clip)},
          {"tokens of a sentence", cat(config.corpus.steps)},
          {"pairs", counted(data.size(), data.fingerprint())},
          {"source vocabulary", counted(data.source_vocab())},
          {"target vocabulary", counted(data.target_vocab())}};
}

/// Throws FormatError, with everything that differs, unless the settings are the same.
void require_settings(const std::filesystem::path& path, const Metadata& found, const Metadata& expected) {
  std::string differences;
  for (const auto& [name, value] : expected) {
    const auto at = found.find(name);
    const std::string was = at == found.end() ? "nothing" : at->second;
    if (was != value)
      append(differences, cat(differences.empty() ? "" : "; ", name, ": found ", was, ", expected ", value));
  }
  if (!differences.empty()) fail<FormatError>(checkpoint, path.string(), " is of another run: ", differences);
}

/// The number in the metadata; throws FormatError unless it is one from `least` to `most`.
template <class Number>
Number number(const StateFile& file, std::string_view key, Number least, Number most) {
  const std::string& text = file.text(key);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most)) {
    fail<FormatError>(checkpoint, key, " must be a number from ", least, " to ", most, ", found ", escaped(text));
  }
  return value;
}

}  // namespace

Trainer::Trainer(const Config& config, const kit::Corpus& data, const nn::EncoderDecoder& model, std::uint64_t seed)
    : config_(config),
      data_(data),
      model_(model),
      seed_(seed),
      parameters_(model.parameters()),
      adam_(parameters_, {.lr = config.learning_rate}) {}

Epoch Trainer::run_epoch() {
  // A stream of its own: the order does not depend on how many numbers dropout has drawn.
  const Index order =
      random_permutation(data_.size(), {.seed = seed_ ^ 0x6f72646572, .draw = static_cast<std::uint64_t>(epoch_)});
  Epoch result;
  for (std::int64_t begin = 0; begin < order.size(); begin += config_.batch) {
    const kit::CorpusBatch batch = data_.batch(order[{slice(begin, begin + config_.batch)}]);
    const Tensor loss = batch_loss(model_, data_, batch);
    adam_.step(optim::clip_grad_norm(grad(loss, parameters_), parameters_, config_.clip).gradients);
    result.loss += loss.item();
    result.tokens += batch.tokens;
  }
  result.loss /= static_cast<double>(result.tokens);
  loss_ = result.loss;
  ++epoch_;
  return result;
}

std::int64_t Trainer::steps_per_epoch() const { return (data_.size() + config_.batch - 1) / config_.batch; }

void Trainer::save(const std::filesystem::path& path) const {
  StateFile file;
  file.add("model", {.arrays = model_.state_dict()});
  file.add("optimizer", adam_.state_dict());
  file.add("settings", {.metadata = settings(config_, data_)});
  file.metadata["epoch"] = cat(epoch_);
  file.metadata["loss"] = cat(loss_);
  file.metadata["seed"] = cat(seed_);
  file.metadata["random.seed"] = cat(random_state().seed);
  file.metadata["random.draws"] = cat(random_state().draws);
  save_safetensors(path.string(), file);
}

void Trainer::load(const std::filesystem::path& path) {
  const StateFile file = load_safetensors(path.string(), {.checksum = Checksum::required});
  require_settings(path, file.part("settings").metadata, settings(config_, data_));
  const auto epoch = number<std::int64_t>(file, "epoch", 0, most_epochs);
  const auto loss = number<double>(file, "loss", 0, 1e30);
  constexpr std::uint64_t any = ~std::uint64_t{0};
  const auto seed = number<std::uint64_t>(file, "seed", 0, any);
  const RandomState random{.seed = number<std::uint64_t>(file, "random.seed", 0, any),
                           .draws = number<std::uint64_t>(file, "random.draws", 0, any)};
  const StateFile optimizer = file.part("optimizer");
  for (const Tensor& parameter : parameters_) {
    const Index& steps = optimizer.get<Index>(cat(parameter.name(), ".step"));
    if (steps.size() != 1 || *steps.begin() != epoch * steps_per_epoch()) {
      fail<FormatError>(checkpoint, parameter.name(), " has made ", steps, " steps, but ", epoch, " epochs are ",
                        epoch * steps_per_epoch());
    }
  }
  adam_.load_state_dict(optimizer);
  model_.load_state_dict(file.part("model").arrays);
  set_random_state(random);
  epoch_ = epoch;
  loss_ = loss;
  seed_ = seed;
}

}  // namespace translate
