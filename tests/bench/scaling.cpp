// How time and memory grow: a GPT's training step against batch, context, width, depth and vocabulary, decoding with
// and without the key/value cache, and attention's memory. Writes scaling.csv and pictures.
//
//   tests/bench/scaling [FOLDER]
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <exception>

#include <xgrad/kit/draw/plot.h>
#include <xgrad/kit/files/csv.h>
#include <xgrad/kit/program/output.h>

#include "models.h"

using namespace bench;

namespace {

// Milliseconds that this process has been computing, on its one thread: what others take of a shared machine is not in
// it.
double processor_ms() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

// Milliseconds of one call of f: the median of at least three, for a quarter of a second.
template <class F>
double milliseconds(const F& f) {
  std::vector<double> times;
  double total = 0;
  while (times.size() < 3 || (total < 250 && times.size() < 200)) {
    const double begin = processor_ms();
    f();
    times.push_back(processor_ms() - begin);
    total += times.back();
  }
  return median(std::move(times));
}

// A line of slope 1 on logarithmic axes, to the last point of a series.
kit::Series in_proportion(const kit::Series& series) {
  kit::Series line{.name = "slope 1", .x = series.x, .style = kit::Series::Style::dashed};
  for (const double x : line.x) line.y.push_back(series.y.back() * x / series.x.back());
  return line;
}

// The measurements, in a table and in pictures, whose axes are logarithmic.
class Report {
 public:
  explicit Report(const std::filesystem::path& folder)
      : folder_(folder), csv_(folder / "scaling.csv", {"measurement", "at", "value"}) {}

  kit::Series& add(const std::string& name, kit::Series& series, double x, double y) {
    series.x.push_back(x);
    series.y.push_back(y);
    csv_.row({name, x, y});
    std::printf("%-32s %8.0f %12.4g\n", name.c_str(), x, y);
    std::fflush(stdout);
    return series;
  }
  void plot(const std::string& name, const std::vector<kit::Series>& series, kit::PlotOptions options) const {
    options.width = 480;
    options.height = 320;
    options.x_scale = options.y_scale = kit::Scale::log;
    kit::save_text(folder_ / (name + ".svg"), kit::line_plot(series, options));
  }

 private:
  std::filesystem::path folder_;
  kit::CsvLogger csv_;
};

// ---- A training step against one size at a time

struct Size {
  const char* name;
  std::int64_t GptOptions::*member;
  std::vector<std::int64_t> values;
};

void training_steps(Report& report) {
  const GptOptions usual{
      .batch = 8, .context = 64, .vocabulary = 256, .dim = 128, .heads = 4, .layers = 2, .ffn = 512, .lr = 1e-3};
  const std::vector<Size> sizes = {
      {"batch", &GptOptions::batch, {1, 2, 4, 8, 16, 32}},
      {"context", &GptOptions::context, {16, 32, 64, 128, 256, 512, 1024}},
      {"width", &GptOptions::dim, {32, 64, 128, 256, 384, 512}},
      {"layers", &GptOptions::layers, {1, 2, 4, 6, 8, 12}},
      {"vocabulary", &GptOptions::vocabulary, {64, 256, 1024, 2048, 4096, 8192}},
  };
  for (const auto& [name, member, values] : sizes) {
    kit::Series series{.name = "step", .style = kit::Series::Style::marked};
    for (const std::int64_t value : values) {
      GptOptions options = usual;
      options.*member = value;
      if (member == &GptOptions::dim) options.ffn = 4 * value;
      Data data(1);
      const Workload workload = gpt(data, "gpt", options);
      for (int i = 0; i < 2; ++i) workload.step();
      report.add(std::string("step_ms/") + name, series, static_cast<double>(value), milliseconds(workload.step));
    }
    report.plot(std::string("step_") + name, {series, in_proportion(series)},
                {.title = std::string("Training step, ") + name, .x_label = name, .y_label = "ms"});
  }
}

// ---- The next token after so many others

void decoding(Report& report) {
  const NoGrad off;
  const nn::Gpt model(nn::root, {.vocabulary = 256, .context = 2048, .dim = 128, .heads = 4, .layers = 4});
  Data data(1);
  kit::Series cached{.name = "cache", .style = kit::Series::Style::marked},
      anew{.name = "recomputation", .style = kit::Series::Style::marked};
  nn::LanguageState state = model.begin(1);
  std::int64_t length = 0;
  for (const std::int64_t T : {16, 32, 64, 128, 256, 512, 1024}) {
    std::vector<double> steps;
    for (; length < T; ++length) {
      const Index token = data.ids({1, 1}, 256);
      const double begin = processor_ms();
      (void)model.next(token, state);
      steps.push_back(processor_ms() - begin);
    }
    steps.erase(steps.begin(), steps.end() - std::min<std::ptrdiff_t>(16, std::ssize(steps)));
    report.add("tokens_per_s/cache", cached, static_cast<double>(T), 1000 / median(steps));
    const Index ids = data.ids({1, T}, 256);
    report.add("tokens_per_s/recomputation", anew, static_cast<double>(T), 1000 / milliseconds([&] { (void)model(ids); }));
  }
  report.plot("decoding", {cached, anew},
              {.title = "Decoding: the next token", .x_label = "tokens before", .y_label = "tokens/s"});
}

// ---- What attention needs beside its operands

std::int64_t pool_size() {
  const PoolStats stats = pool_stats();
  return stats.bytes_in_use + stats.bytes_cached;
}

void attention_memory(Report& report) {
  constexpr std::int64_t H = 4, C = 128;
  kit::Series full{.name = "multi_head_attention", .style = kit::Series::Style::marked},
      square{.name = "weights of T x T", .style = kit::Series::Style::dashed};
  for (const std::int64_t T : {256, 512, 1024, 2048, 4096}) {
    const auto input = [&] { return variable(randn({1, T, C}).value()); };
    const Tensor q = input(), k = input(), v = input(), gy = randn({1, T, C});
    detail::pool_trim();
    const std::int64_t before = pool_size();
    (void)grad(multi_head_attention(q, k, v, H, {.mask = nn::causal}), {q, k, v}, {.seed = gy});
    report.add("attention_mb/causal", full, static_cast<double>(T),
               static_cast<double>(pool_size() - before) / (1 << 20));
    report.add("attention_mb/one_square_of_weights", square, static_cast<double>(T),
               static_cast<double>(H * T * T * std::int64_t{sizeof(Real)}) / (1 << 20));
  }
  report.plot("attention_memory", {full, square},
              {.title = "Attention, forward and backward: memory", .x_label = "T", .y_label = "MB"});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    manual_seed(1);
    set_threads(1);
    const std::filesystem::path folder = kit::output_folder("scaling", argc > 1 ? argv[1] : "");
    std::printf("%s\n", to_string(build_info()).c_str());
    Report report(folder);
    training_steps(report);
    decoding(report);
    attention_memory(report);
    std::printf("table and pictures: %s\n", folder.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
