// What one word of a sentence attends to, in one picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>
#include <xgrad/kit/draw/svg.h>

namespace xgrad::kit {

/// Queries, keys, values and weights of one word, in H heads, after the model has read S words.
struct WordReading {
  std::vector<std::string> words;  ///< the S words that were read
  Array q;                         ///< (H, d): the query of the word
  Array k, v;                      ///< (H, S, d): the keys and values of all S words
  Array weights;                   ///< (H, S): softmax(q k' / sqrt(d))
  std::string answer = {};         ///< the prediction of the model for the word
};

/// One word of a sentence, while the model reads more and more words of the sentence.
struct WordAttention {
  std::string title = {};                 ///< title of the figure
  std::int64_t word = 0;                  ///< position of the word in the sentence
  std::vector<WordReading> growing = {};  ///< for longer and longer prefixes; the last is the whole sentence
  WordReading other = {};                 ///< for the same sentence with another last word
  std::int64_t head = 0;                  ///< the head that is shown first, and also word by word
};

/// The figure as SVG. Lines lead from the word to the words that it attends to (width: weight, colour: head); lines
/// below the sentence are for `other`. Rows show the weights of one head word by word, cells queries, keys and values.
/// An animation shows each head, all heads, then `other`, unless reduced motion is set. Throws ShapeError unless the
/// arrays fit the words, ValueError without readings, or for a word or head that does not exist.
std::string word_attention_svg(const WordAttention& attention);

}  // namespace xgrad::kit
