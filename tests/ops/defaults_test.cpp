// What operations and gradients do without options: the defaults of PyTorch's functions of the same name, or of
// numpy's.
#include "support/check.h"

#include <cmath>
#include <vector>

#include <xgrad/core/debug/anomaly.h>
#include <xgrad/core/debug/gradcheck.h>
#include <xgrad/ops/ops.h>

namespace xgrad::testing {
namespace {

using Numbers = std::vector<double>;

// Numbers of options, of a size both.
template <class... Ts>
Numbers all_of(const Ts&... values) {
  Numbers all;
  const auto add = [&]<class T>(const T& value) {
    if constexpr (std::same_as<T, Size2d>) {
      all.insert(all.end(), {static_cast<double>(value.height), static_cast<double>(value.width)});
    } else {
      all.push_back(static_cast<double>(value));
    }
  };
  (add(values), ...);
  return all;
}

TEST_CASE("Options of operations have PyTorch's defaults") {
  const Conv1dFuncOptions conv1;
  CHECK(all_of(conv1.stride, conv1.dilation, conv1.groups) == Numbers{1, 1, 1});
  const Conv2dFuncOptions conv2;
  CHECK(all_of(conv2.stride, conv2.dilation, conv2.groups) == Numbers{1, 1, 1, 1, 1});
  const ConvTranspose2dFuncOptions transposed;
  CHECK(all_of(transposed.stride, transposed.dilation, transposed.groups) == Numbers{1, 1, 1, 1, 1});
  CHECK(all_of(transposed.padding, transposed.output_padding) == Numbers{0, 0, 0, 0});
  const UnfoldOptions unfold;
  CHECK(all_of(unfold.stride, unfold.dilation, unfold.padding) == Numbers{1, 1, 1, 1, 0, 0});
  CHECK(all_of(MaxPool1dOptions{}.padding, MaxPool1dOptions{}.ceil_mode) == Numbers{0, false});
  CHECK(all_of(MaxPool2dOptions{}.padding, MaxPool2dOptions{}.ceil_mode) == Numbers{0, 0, false});
  const AvgPool1dOptions avg1;
  CHECK(all_of(avg1.padding, avg1.ceil_mode, avg1.count_include_pad) == Numbers{0, false, true});
  const AvgPool2dOptions avg2;
  CHECK(all_of(avg2.padding, avg2.ceil_mode, avg2.count_include_pad) == Numbers{0, 0, false, true});
  const InterpolateOptions interpolate{.size = 1};
  CHECK(interpolate.mode == Interpolation::nearest);
  CHECK(interpolate.align_corners == AlignCorners::no);
  CHECK(!interpolate.antialias);
  const RotaryOptions rotary;
  CHECK(all_of(rotary.heads, rotary.first, rotary.theta) == Numbers{1, 0, 10000});
  CHECK(rotary.layout == RotaryLayout::halves);
  CHECK(!rotary.scaling);
  CHECK(all_of(LayerNormFuncOptions{}.eps, RmsNormFuncOptions{}.eps, BatchNormFuncOptions{}.eps) ==
        Numbers{1e-5, std::numeric_limits<Real>::epsilon(), 1e-5});
  CHECK(all_of(AttentionOptions{}.dropout, LinearAttentionFuncOptions{}.causal, RecurrenceOptions{}.reverse) ==
        Numbers{0, false, false});

  CHECK(LossOptions{}.reduction == Reduction::mean);
  CHECK(all_of(CrossEntropyOptions{}.label_smoothing, SoftCrossEntropyOptions{}.label_smoothing) == Numbers{0, 0});
  CHECK(KlDivOptions{}.reduction.each() == Reduction::mean);
  CHECK(!KlDivOptions{}.reduction.by_batch());
  CHECK(!KlDivOptions{}.log_target);
  CHECK(all_of(GaussianNllLossOptions{}.full, GaussianNllLossOptions{}.eps) == Numbers{false, 1e-6});
  CHECK(all_of(SmoothL1LossOptions{}.beta, HuberLossOptions{}.delta) == Numbers{1, 1});
  const TripletMarginLossOptions triplet;
  CHECK(all_of(triplet.margin, triplet.p, triplet.eps, triplet.swap) == Numbers{1, 2, 1e-6, false});
  const PairwiseDistanceOptions pairwise;
  CHECK(all_of(pairwise.p, pairwise.eps, pairwise.keepdim) == Numbers{2, 1e-6, false});
  CHECK(all_of(NormalizeOptions{}.eps, CosineSimilarityOptions{}.eps) == Numbers{1e-12, 1e-8});

  CHECK(!MultinomialOptions{}.replacement);
  CHECK(all_of(linalg::TriangularOptions{}.upper, linalg::CholeskyOptions{}.upper) == Numbers{false, false});
  CHECK(all_of(MatmulOptions{}.transpose_a, MatmulOptions{}.transpose_b) == Numbers{false, false});
  CHECK(!EmbeddingFuncOptions{}.padding_idx);
  CHECK(all_of(IndexPutOptions{}.accumulate, SortOptions{}.descending, TopkOptions{}.largest) ==
        Numbers{false, false, true});
  CHECK(all_of(KeepdimOptions{}.keepdim, VarOptions{}.keepdim, VarOptions{}.correction) == Numbers{false, false, 1});
  CHECK(BincountOptions{}.minlength == 0);
  CHECK(MeshgridOptions{}.indexing == MeshIndexing::ij);
  CHECK(all_of(NanToNumOptions{}.nan, NanToNumOptions{}.posinf, NanToNumOptions{}.neginf) ==
        Numbers{0, std::numeric_limits<Real>::max(), std::numeric_limits<Real>::lowest()});
  CHECK(all_of(LeakyReluOptions{}.negative_slope, HardtanhOptions{}.min_val, HardtanhOptions{}.max_val) ==
        Numbers{0.01, -1, 1});
  CHECK(all_of(IsCloseOptions{}.rtol, IsCloseOptions{}.atol, IsCloseOptions{}.equal_nan) == Numbers{1e-5, 1e-8, false});
}

TEST_CASE("Options of gradients have the defaults that their headers say") {
  CHECK(!FunctionalOptions{}.create_graph);
  const GradOptions grad;
  CHECK(all_of(grad.create_graph, grad.retain_graph, BackwardOptions{}.retain_graph) == Numbers{false, false, false});
  CHECK(grad.unused == Unused::refuse);
  CHECK(AnomalyOptions{}.infinity);
  const GradcheckOptions check;
  CHECK(all_of(check.eps, check.atol, check.rtol) ==
        (sizeof(Real) == 8 ? Numbers{1e-6, 1e-5, 1e-3} : Numbers{1e-2, 1e-3, 1e-2}));
}

}  // namespace
}  // namespace xgrad::testing
