// The worked example of "Dive into Deep Learning" (section 10.8): a model that is a table of probabilities.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <xgrad/xgrad.h>

namespace decoding {

using namespace xgrad;

/// The tokens A, B, C and the end, "."; and the start token of the table.
inline constexpr std::string_view letters = "ABC.";
inline constexpr std::int64_t table_eos = 3, table_bos = 4;

/// The probabilities of the next token after those written so far; 1/4 each where the book says nothing.
inline std::vector<double> probabilities(const std::string& written) {
  static const std::map<std::string, std::vector<double>> table{
      {"", {0.5, 0.2, 0.2, 0.1}},   {"A", {0.1, 0.4, 0.3, 0.2}},   {"AB", {0.2, 0.2, 0.4, 0.2}},
      {"AC", {0.1, 0.6, 0.2, 0.1}}, {"ABC", {0.0, 0.2, 0.2, 0.6}}, {"ACB", {0.1, 0.2, 0.1, 0.6}}};
  const auto found = table.find(written);
  return found == table.end() ? std::vector<double>(4, 0.25) : found->second;
}

/// The table as a model, with all that a search needs: the text so far, one step, and a choice of rows.
class Table : public nn::Stepper {
 public:
  std::int64_t batch() const override { return std::ssize(written_); }

  Tensor step(const Index& tokens) override {
    Array logits(Shape{batch(), 4});
    Real* out = logits.mutable_data();
    for (std::size_t b = 0; b < written_.size(); ++b) {
      if (tokens.data()[b] != table_bos) written_[b] += letters[tokens.data()[b]];
      for (const double p : probabilities(written_[b])) *out++ = std::log(p);
    }
    steps_.push_back(written_);
    return logits;
  }

  void select(const Index& rows) override {
    std::vector<std::string> chosen;
    for (const std::int64_t row : rows) chosen.push_back(written_[row]);
    written_ = std::move(chosen);
  }

  /// The open prefixes at the beginning of each step.
  const std::vector<std::vector<std::string>>& steps() const { return steps_; }
  /// The rows that all steps together were given: what a search costs.
  std::int64_t rows() const {
    std::int64_t count = 0;
    for (const std::vector<std::string>& step : steps_) count += std::ssize(step);
    return count;
  }

 private:
  std::vector<std::string> written_{""};
  std::vector<std::vector<std::string>> steps_;
};

}  // namespace decoding
