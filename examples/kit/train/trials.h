// Trials: comparison of variants over several seeds. The result of one seed may be chance.
//
//     const auto all = kit::trials({"without", "with dropout"}, {.first = example.seed, .count = 5},
//                                  [&](std::size_t variant, Seed seed) { return learn(variant == 1, seed); });
//     for (const auto& one : all) std::cout << one.name << " " << one.mean(&Outcome::bleu) << "\n";
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/program/format.h>
#include <xgrad/kit/program/progress.h>

namespace xgrad::kit {

/// The results of one variant, one for each seed. In the functions below, a number or a list is a member of Result, or
/// a function of a Result.
///
/// Threads: the same rules as for a std::vector.
template <class Result>
struct Trials {
  std::string name;
  std::vector<Result> results = {};  ///< in the order of the seeds

  /// The mean of a number over the seeds.
  template <class Number>
  double mean(const Number& number) const {
    double sum = 0;
    for (const Result& result : results) sum += static_cast<double>(std::invoke(number, result));
    return sum / static_cast<double>(results.size());
  }
  /// The number for each seed: "0.531 0.498 0.512".
  template <class Number>
  std::string each(const Number& number) const {
    std::string text;
    for (const Result& result : results) {
      text += (text.empty() ? "" : " ") + fixed(static_cast<double>(std::invoke(number, result)), 3);
    }
    return text;
  }
  /// A curve with the name of the variant: the mean over the seeds of a list, for example of the losses of all epochs.
  /// All lists must have the same length.
  template <class List>
  Series curve(const List& list) const {
    Series series{.name = name};
    for (std::size_t i = 0; i < std::invoke(list, results.front()).size(); ++i) {
      series.y.push_back(mean([&](const Result& result) { return std::invoke(list, result)[i]; }));
    }
    return series;
  }
};

struct Seeds {
  Seed first = 1;
  std::int64_t count = 1;
};
/// Runs each variant with each seed: sets the seed of the generator, then calls f(number of the variant, seed), which
/// returns a Result. A progress bar shows the number of completed runs.
template <class F, class Result = std::invoke_result_t<const F&, std::size_t, Seed>>
std::vector<Trials<Result>> trials(const std::vector<std::string>& names, const Seeds& seeds, const F& f) {
  std::vector<Trials<Result>> all;
  ProgressBar bar({.total = std::ssize(names) * seeds.count, .title = "trials"});
  std::int64_t done = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    all.push_back({.name = names[i]});
    for (std::int64_t k = 0; k < seeds.count; ++k) {
      const Seed seed = seeds.first + static_cast<std::uint64_t>(k);
      manual_seed(seed);
      all.back().results.push_back(f(i, seed));
      bar.update(++done, {{"last", names[i]}});
    }
  }
  return all;
}

}  // namespace xgrad::kit
