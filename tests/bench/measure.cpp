// The timed loop.
#include "measure.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <xgrad/core/profile/profile.h>

namespace bench {

xgrad::Index Data::ids(const xgrad::Shape& shape, int vocabulary) {
  xgrad::Index result(shape);
  std::generate_n(result.mutable_data(), result.size(), [&] { return below(vocabulary); });
  return result;
}

xgrad::Array Data::numbers(const xgrad::Shape& shape) {
  xgrad::Array result(shape);
  std::generate_n(result.mutable_data(), result.size(), [&] { return static_cast<xgrad::Real>(uniform()); });
  return result;
}

namespace {

// Where the time of a step goes, in steps of their own, because looking at the clock takes time.
void print_split(const Workload& workload, int steps) {
  xgrad::Profile profile;
  for (int i = 0; i < steps; ++i) workload.step();
  double total = 0;
  for (const auto& line : profile.lines()) total += line.milliseconds;
  for (const auto& [what, calls, milliseconds, bytes] : profile.lines()) {
    if (milliseconds < total / 200) break;
    std::fprintf(stderr, "#   %-24s %5.1f %%  %9.4f ms  %7.1f calls\n", what.c_str(), milliseconds / total * 100,
                 milliseconds / steps, static_cast<double>(calls) / steps);
  }
}

}  // namespace

void run(const Workload& workload, int threads, int steps, bool losses) {
  using Clock = std::chrono::steady_clock;
  double first = 0, last = 0;
  const auto step = [&] {
    last = workload.step();
    if (losses) std::fprintf(stderr, "# loss %.7g\n", last);
  };
  for (int i = 0; i < workload.warm_up; ++i) {
    step();
    if (i == 0) first = last;
  }
  std::vector<double> times;
  for (int i = 0; i < steps; ++i) {
    const auto begin = Clock::now();
    step();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);  // before the profile, which keeps every call
  print_split(workload, steps);
  std::ranges::sort(times);
  const std::size_t n = times.size();
  const double median = n % 2 ? times[n / 2] : (times[n / 2 - 1] + times[n / 2]) / 2;
  std::fprintf(stderr, "# xgrad %s threads=%d steps=%d loss first=%.5g last=%.5g ms min=%.3f median=%.3f max=%.3f\n",
               workload.name.c_str(), threads, steps, first, last, times.front(), median, times.back());
  std::printf("xgrad %s %d %.3f %.1f %.1f\n", workload.name.c_str(), threads, median, workload.items / median * 1000,
              static_cast<double>(usage.ru_maxrss) / 1024);
}

}  // namespace bench
