// What the live pages ask the engine for: requests and answers in JSON.
#pragma once

#include <string>
#include <vector>

#include <xgrad/xgrad.h>
#include <nlohmann/json.hpp>

namespace live {

using Json = nlohmann::ordered_json;

/// {"text": "w * x + b", "numbers": {"w": 2, "x": [1, 2]}, "by": ["w"]}: the value of an expression, or of its
/// derivative by each of the letters `by` in turn; values and gradients of its letters; its graph
/// (core/diagram/render/export.h) and its page; with "only": "value" or "gradients" no more than this.
Json expression(const Json& request);

/// {"do": "make" | "train" | "look" | "graph" | "keep" | "back" | "save" | "load", "model": 0}: a transformer that is
/// trained.
Json training(const Json& request);

/// {"words": [...], "heads": 2, ...}: what attention makes of a sentence.
Json attention(const Json& request);

/// {"do": "load", "path": "..."}: the weights that docs/tools/translator has written; the answer is what they say of
/// themselves. {"do": "translate", "text": "i'm home .", "beams": 4, "length_penalty": 0.75, "top": 5}: the words as
/// the model reads them, those it does not know, the prefixes of each step of the beam search, and its hypotheses with
/// the `top` most probable words of each step and the weights of cross-attention.
Json translation(const Json& request);

/// {"task": "graph" | "shape" | "mask" | "gradient", "number": 3}: an exercise with its solution, drawn by the number.
/// With "answer", arrows [["w", "mul"], ...], sizes [2, 3] or null for shapes that do not fit, a bool for each cell
/// that is true where it is hidden, or lists of numbers by letter: {"right": true, "why": "..."}, which names the
/// mistake.
Json exercise(const Json& request);

/// The answer to a request, whose entry "of" names one of the functions above: {"error": "..."} if it throws.
std::string answer(const std::string& request);

/// The elements of an array in row-major order. JSON has no NaN and no infinities: null.
Json numbers(const xgrad::Array& array);

}  // namespace live
