// CTC loss: the recursion of Graves et al. by a kernel (ops/kernels/network/ctc.cpp), and in operations.
#include "ctc_loss.h"

#include <algorithm>
#include <span>

#include "../../core/base/formula.h"
#include "../arrange/broadcast.h"
#include "../arrange/create.h"
#include "../arrange/index.h"
#include "../elementwise/integer.h"
#include "../arrange/join.h"
#include "../arrange/shape.h"
#include "../arrange/slice.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../kernels/network/ctc.h"
#include "../record_fused.h"
#include "../reduce/reduce.h"

namespace xgrad {
namespace {


// The losses of all samples at once, in operations.
Tensor composed_losses(const Tensor& log_probs, const CtcTexts& texts) {
  const std::int64_t T = log_probs.dim(0), N = log_probs.dim(1), L = texts.labels.dim(1);
  const Tensor at = gather(log_probs, 2, broadcast_to(texts.labels, {T, N, L}));
  const Index before = concat(std::vector<Index>{Index(Shape{N, 2}, -1), texts.labels}, 1);
  const Index column = arange(L).reshaped({1, L});
  const Mask may_skip = texts.labels != before[{_, slice(0, L)}] && column % 2 == 1;
  // Shifted by `distance` labels, -inf where there is none.
  const auto from = [&](const Tensor& alpha, std::int64_t distance) {
    return narrow(pad(alpha, {{0, 0}, {distance, 0}}, -infinity), 1, 0, L);
  };
  const auto step = [&](std::int64_t t) { return reshape(narrow(at, 0, t, 1), {N, L}); };
  Tensor alpha = where(column < 2 && column < texts.lengths.reshaped({N, 1}), step(0), -infinity);
  for (std::int64_t t = 1; t < T; ++t) {
    const Tensor skipped = where(may_skip, from(alpha, 2), -infinity);
    const Tensor next = logaddexp(logaddexp(alpha, from(alpha, 1)), skipped) + step(t);
    alpha = where(texts.input_lengths.reshaped({N, 1}) > t, next, alpha);
  }
  // It ends at the last letter or the blank after it.
  Index blank = texts.lengths.reshaped({N, 1}) - 1, letter = blank;
  for (std::int64_t n = 0; n < N; ++n) letter.mutable_data()[n] = std::max<std::int64_t>(0, blank.data()[n] - 1);
  const Tensor at_letter = where(blank > 0, gather(alpha, 1, letter), -infinity);
  return reshape(-logaddexp(gather(alpha, 1, blank), at_letter), {N});
}

// The loss by way of losses(log_probs, texts).
template <class Losses>
Tensor ctc_by(const Losses& sample_losses, const Tensor& log_probs, const Index& targets, const Index& input_lengths,
              const Index& target_lengths, const CtcLossOptions& options);

}  // namespace

XGRAD_FORMULA ctc_formula{"ctc_loss", "y = -ln sum over ways of e^(sum_t x_t,way_t)",
                          "dL/dx_tc = -gy P(way_t = c) among the ways of the target"};
Tensor plain::ctc_loss(const Tensor& log_probs, const Index& targets, const Index& input_lengths,
                       const Index& target_lengths, const CtcLossOptions& options) {
  return ctc_by(composed_losses, log_probs, targets, input_lengths, target_lengths, options);
}

namespace {

void check_lengths(const char* name, const Index& lengths, std::int64_t N, std::int64_t most) {
  if (lengths.shape() != Shape{N}) {
    fail<ShapeError>("ctc_loss", name, " of shape ", lengths.shape(), " for ", N, " samples");
  }
  for (std::int64_t n = 0; n < N; ++n) {
    const std::int64_t length = lengths.data()[n];
    if (length < 0 || length > most) {
      fail<ValueError>("ctc_loss", name, " ", length, " of sample ", n, " is not in [0, ", most, "]");
    }
  }
}

Index one_length(const char* name, const Index& length) {
  if (length.size() != 1) fail<ShapeError>("ctc_loss", name, " of shape ", length.shape(), " for one sample");
  return length.reshaped({1});
}

// Where the target of each sample begins in `targets`.
Index target_starts(const Index& targets, const Index& lengths) {
  Index starts(lengths.shape());
  std::int64_t total = 0;
  for (std::int64_t n = 0; n < lengths.size(); ++n) {
    starts.mutable_data()[n] = targets.rank() == 2 ? n * targets.dim(1) : total;
    total += lengths.data()[n];
  }
  if (targets.rank() == 1 && total != targets.size()) {
    fail<ShapeError>("ctc_loss", targets.size(), " targets for target_lengths that add up to ", total);
  }
  return starts;
}

CtcTexts with_blanks(const Index& targets, const Index& target_lengths, const Index& input_lengths, std::int64_t C,
                     std::int64_t blank) {
  const Index starts = target_starts(targets, target_lengths);
  const std::int64_t N = starts.size(), S = N == 0 ? 0 : std::ranges::max(target_lengths);
  CtcTexts texts{Index(Shape{N, 2 * S + 1}, blank), target_lengths * 2 + 1, input_lengths};
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t s = 0; s < target_lengths.data()[n]; ++s) {
      const std::int64_t target = targets.data()[starts.data()[n] + s];
      if (target < 0 || target >= C || target == blank) {
        fail<ValueError>("ctc_loss", "target ", target, " of sample ", n, " at ", s, " is not in [0, ", C,
                         ") or is the blank");
      }
      texts.labels.mutable_data()[n * (2 * S + 1) + 2 * s + 1] = target;
    }
  }
  return texts;
}

// Without any step there is one way, the empty one.
Tensor losses_without_steps(const Index& target_lengths) {
  return where(target_lengths == 0, 0, Tensor(Array(target_lengths.shape(), infinity)));
}

template <class Losses>
Tensor ctc_by(const Losses& sample_losses, const Tensor& log_probs, const Index& targets, const Index& input_lengths,
              const Index& target_lengths, const CtcLossOptions& options) {
  const char* op = "ctc_loss";
  if (log_probs.rank() == 2) {
    const Tensor loss =
        ctc_by(sample_losses, unsqueeze(log_probs, 1), targets.reshaped({1, targets.size()}),
               one_length("input_lengths", input_lengths), one_length("target_lengths", target_lengths), options);
    return reshape(loss, {});
  }
  if (log_probs.rank() != 3) fail<ShapeError>(op, "needs log_probs (T, N, C) or (T, C), got ", log_probs.shape());
  const std::int64_t T = log_probs.dim(0), N = log_probs.dim(1), C = log_probs.dim(2);
  if (targets.rank() != 1 && !(targets.rank() == 2 && targets.dim(0) == N)) {
    fail<ShapeError>(op, "needs targets (", N, ", S), or all in a list, got ", targets.shape());
  }
  if (options.blank < 0 || options.blank >= C) fail<ValueError>(op, "blank ", options.blank, " is not in [0, ", C, ")");
  check_lengths("input_lengths", input_lengths, N, T);
  check_lengths("target_lengths", target_lengths, N, targets.rank() == 2 ? targets.dim(1) : targets.size());

  Index steps = input_lengths;
  for (std::int64_t& length : std::span(steps.mutable_data(), static_cast<std::size_t>(N))) length += length == 0;
  const CtcTexts texts = with_blanks(targets, target_lengths, steps, C, options.blank);
  Tensor losses = losses_without_steps(target_lengths);
  if (T > 0) losses = where(input_lengths == 0, losses, sample_losses(log_probs, texts));
  if (options.zero_infinity) losses = where(losses == infinity, 0, losses);
  if (options.reduction == Reduction::mean) losses = losses / maximum(to_real(target_lengths), 1);
  return detail::reduced(op, losses, options.reduction);
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Index& targets, const Index& input_lengths, const Index& target_lengths,
                const CtcLossOptions& options) {
  const auto sample_losses = [](const Tensor& x, const CtcTexts& texts) {
    return record_fused(
        "ctc_loss", std::array{x}, [texts](const Tensor& own) { return composed_losses(own, texts); },
        [&] {
          const CtcForward forward = ctc_forward(x.value(), texts);
          return std::pair(forward.losses, [texts, forward](const std::array<Tensor, 1>& in, const Tensor& gy, Wanted) {
            return std::array<Tensor, 1>{ctc_gradient(in[0].value(), texts, forward, gy.value())};
          });
        },
        attribute("labels", texts.labels), attribute("input_lengths", texts.input_lengths));
  };
  return ctc_by(sample_losses, log_probs, targets, input_lengths, target_lengths, options);
}

}  // namespace xgrad
