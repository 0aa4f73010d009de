// Published models: options and weights as the package `transformers` saves them.
//
//     const nn::Gpt model{nn::root, nn::gpt2_options("gpt2")};          // a folder with config.json
//     nn::load_gpt2(model, "gpt2");                                     // and model.safetensors
#pragma once

#include <string>

#include "bert.h"
#include "gpt.h"
#include "llama.h"

namespace xgrad::nn {

/// The options of a model from its config.json, or from the folder with it; dropout is 0. Throw FormatError, naming the
/// entry, for one that is missing, is no such number, or asks for a feature that the model here lacks; LimitError for a
/// file beyond a megabyte; IoError.
///
/// `model_type` must be that of the model, if there is one: other families have arrays of the same names and shapes and
/// mean other numbers. Taken as a Llama are `llama`, with the rotary positions of Llama 3.1 if its config says so,
/// `mistral`, whose `sliding_window` is 4096 where it is not given, and `qwen2` without a sliding window.
///
/// `architectures` decides the head of a BERT: BertForMaskedLM and BertForPreTraining fill in words, as a config does
/// that names none; BertModel, which files of sentence encoders have, has a pooler; BertForSequenceClassification has
/// as many classes as there are labels in `id2label`. Of others the encoder is read, BertHead::none.
GptOptions gpt2_options(const std::string& path);
LlamaOptions llama_options(const std::string& path);
BertOptions bert_options(const std::string& path);

/// Give a model the weights of a file, of several with an index, or of the folder with them: see load_weights. Names
/// may begin with `transformer.`, `model.` or `bert.`, or not. Throw FormatError with all names that are missing,
/// unexpected or of another shape or kind, as they are in the file, and as load_weights; then nothing was loaded.
///
/// GPT-2's maps are stored transposed; its head is the embedding, which the file may repeat, but not with other
/// numbers.
void load_gpt2(const Gpt& model, const std::string& path);
/// Queries, keys and values become one map.
void load_llama(const Llama& model, const std::string& path);
/// The same. Weights for next-sentence prediction are skipped, and so is a pooler that the model lacks, and, unless the
/// model fills in words, every other head: BertHead::none loads the encoder of any file.
void load_bert(const Bert& model, const std::string& path);

}  // namespace xgrad::nn
