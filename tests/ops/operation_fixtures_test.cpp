#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/fixtures.h"

namespace xgrad::testing {
namespace {

using Operation = std::function<Results(const Case&)>;

Operation of_one(Tensor (*f)(const Tensor&)) {
  return [f](const Case& c) { return f(c.x()); };
}
Operation of_two(Tensor (*f)(const Tensor&, const Tensor&)) {
  return [f](const Case& c) { return f(c.x(0), c.x(1)); };
}
Operation of_integers(Index (*f)(const Index&, const Index&)) {
  return [f](const Case& c) { return f(c.index(0), c.index(1)); };
}

template <class E>
E named(const Case& c, const char* option, std::initializer_list<std::pair<const char*, E>> values) {
  for (const auto& [name, value] : values) {
    if (c.text(option) == name) return value;
  }
  FAIL(c.line(), ": no ", option, " of that name");
  return values.begin()->second;
}

fft::FftNorm norm_of(const Case& c) {
  return named<fft::FftNorm>(
      c, "norm",
      {{"backward", fft::FftNorm::backward}, {"forward", fft::FftNorm::forward}, {"ortho", fft::FftNorm::ortho}});
}

std::optional<std::int64_t> given(const Case& c, const char* option) {
  if (!c.has(option)) return {};
  return c.numbers(option).at(0);
}

Real real(const Case& c, const char* option, double otherwise = 0) {
  return static_cast<Real>(c.number(option, otherwise));
}

ScatterReduce reduce_of(const Case& c) {
  return named<ScatterReduce>(c, "reduce",
                              {{"sum", ScatterReduce::sum},
                               {"prod", ScatterReduce::prod},
                               {"mean", ScatterReduce::mean},
                               {"amax", ScatterReduce::amax},
                               {"amin", ScatterReduce::amin}});
}

Results index_put_of(const Case& c) {
  std::vector<Index> indices;
  for (int i = 1; i <= c.integer("indices"); ++i) {
    indices.push_back(c.index(i) + (c.has("shift") ? c.integer("shift") : 0));
  }
  return index_put(c.x(0), indices, c.x(c.integer("indices") + 1), {.accumulate = c.flag("accumulate")});
}

// A split into parts, or before places.
template <class ByCount, class ByPlaces>
Operation split_of(const ByCount& by_count, const ByPlaces& by_places) {
  return [=](const Case& c) {
    return c.flag("is_list") ? by_places(c.x(), c.numbers("at")) : by_count(c.x(), c.numbers("at").at(0));
  };
}

Results several(const ValuesAndIndices& found) { return {found.values, found.indices}; }

std::optional<Size2d> size_of(const Case& c) {
  if (!c.has("size")) return {};
  return Size2d{c.numbers("size")[0], c.numbers("size")[1]};
}

Results grid_sample_of(const Case& c) {
  const bool nearest = c.text("mode") == "nearest";
  return grid_sample(
      c.x(0), c.x(1),
      {.mode = nearest ? Interpolation::nearest : Interpolation::bilinear,
       .padding = named<GridPadding>(
           c, "padding_mode",
           {{"zeros", GridPadding::zeros}, {"border", GridPadding::border}, {"reflection", GridPadding::reflection}}),
       .align_corners = c.flag("align_corners") ? AlignCorners::yes : AlignCorners::no});
}

Reduction reduction_of(const Case& c) {
  return named<Reduction>(c, "reduction",
                          {{"mean", Reduction::mean}, {"sum", Reduction::sum}, {"none", Reduction::none}});
}

}  // namespace

TEST_CASE("Fourier transforms and their gradients of two orders equal PyTorch's") {
  check_fixtures("fourier",
                 {{"rfft",
                   [](const Case& c) {
                     return fft::rfft(c.x(), {.n = given(c, "n"), .axis = c.integer("axis"), .norm = norm_of(c)});
                   }},
                  {"irfft",
                   [](const Case& c) {
                     return fft::irfft(c.x(), {.n = given(c, "n"), .axis = c.integer("axis"), .norm = norm_of(c)});
                   }},
                  {"rfftfreq", [](const Case& c) { return fft::rfftfreq(c.numbers("n").at(0), real(c, "d")); }}});
}

TEST_CASE("special functions and their gradients of two orders equal PyTorch's") {
  check_fixtures("special",
                 {{"lgamma", of_one(lgamma)},
                  {"digamma", of_one(digamma)},
                  {"polygamma", [](const Case& c) { return polygamma(c.integer("n"), c.x()); }},
                  {"erfinv", of_one(erfinv)},
                  {"i0", of_one(i0)},
                  {"i1", of_one(i1)},
                  {"sinc", of_one(sinc)},
                  {"hardshrink", [](const Case& c) { return hardshrink(c.x(), real(c, "width")); }},
                  {"softshrink", [](const Case& c) { return softshrink(c.x(), real(c, "width")); }},
                  {"xlogy", of_two(xlogy)},
                  {"logaddexp2", of_two(logaddexp2)},
                  {"fmax", of_two(fmax)},
                  {"fmin", of_two(fmin)},
                  {"copysign", of_two(copysign)},
                  {"heaviside", of_two(heaviside)},
                  {"ldexp", [](const Case& c) { return ldexp(c.x(0), c.index(1)); }},
                  {"gcd", of_integers(gcd)},
                  {"lcm", of_integers(lcm)},
                  {"bitwise_and", [](const Case& c) { return c.index(0) & c.index(1); }},
                  {"bitwise_or", [](const Case& c) { return c.index(0) | c.index(1); }},
                  {"bitwise_xor", [](const Case& c) { return c.index(0) ^ c.index(1); }},
                  {"bitwise_not", [](const Case& c) { return ~c.index(0); }},
                  {"left_shift", [](const Case& c) { return c.index(0) << c.index(1); }},
                  {"right_shift", [](const Case& c) { return c.index(0) >> c.index(1); }}},
                 {.tolerance = 3e-12, .ulps_of = {{"logaddexp2", 16}, {"sinc/1", 250}}});  // a second slope near its zero
}

// PyTorch's polygamma(1, x), which is in its gradients, is off by up to 1e-9; special_test.cpp has the right ones.
TEST_CASE("gradients of two orders of functions of the gamma family are near PyTorch's") {
  check_fixtures("gammas",
                 {{"lgamma", of_one(lgamma)},
                  {"digamma", of_one(digamma)},
                  {"polygamma", [](const Case& c) { return polygamma(c.integer("n"), c.x()); }}},
                 {.tolerance = 2e-9});
}

TEST_CASE("writing by number and its gradients of two orders equal PyTorch's") {
  check_fixtures(
      "writing",
      {{"index_copy", [](const Case& c) { return index_copy(c.x(0), c.integer("axis"), c.index(1), c.x(2)); }},
       {"index_reduce",
        [](const Case& c) {
          return index_reduce(c.x(0), c.integer("axis"), c.index(1), c.x(2), reduce_of(c),
                              {.include_self = c.flag("include_self")});
        }},
       {"scatter_reduce",
        [](const Case& c) {
          return scatter_reduce(c.x(0), c.integer("axis"), c.index(1), c.x(2), reduce_of(c),
                                {.include_self = c.flag("include_self")});
        }},
       {"index_put", index_put_of},
       {"put", [](const Case& c) { return put(c.x(0), c.index(1), c.x(2), {.accumulate = c.flag("accumulate")}); }},
       {"masked_scatter", [](const Case& c) { return masked_scatter(c.x(0), c.mask(1), c.x(2)); }},
       {"slice_scatter",
        [](const Case& c) {
          return slice_scatter(c.x(0), {_, slice(1, 6, 2)}, c.x(1));
        }},
       {"select_scatter",
        [](const Case& c) { return select_scatter(c.x(0), c.x(1), c.integer("axis"), c.integer("at")); }}});
}

TEST_CASE("combinations and searches, and their gradients of two orders, equal PyTorch's") {
  check_fixtures(
      "combining",
      {{"kron", of_two(kron)},
       {"cross", [](const Case& c) { return cross(c.x(0), c.x(1), c.integer("axis")); }},
       {"vander",
        [](const Case& c) { return vander(c.x(), {.n = given(c, "n"), .increasing = c.flag("increasing")}); }},
       {"cartesian_prod", [](const Case& c) { return cartesian_prod(c.xs()); }},
       {"combinations",
        [](const Case& c) {
          return combinations(c.x(), {.r = c.integer("r"), .with_replacement = c.flag("with_replacement")});
        }},
       {"pdist", [](const Case& c) { return pdist(c.x(), {.p = c.number("p")}); }},
       {"renorm",
        [](const Case& c) {
          return renorm(c.x(), {.p = c.number("p"), .axis = c.integer("axis"), .maxnorm = real(c, "maxnorm")});
        }},
       {"tensor_split",
        split_of([](const Tensor& x, std::int64_t count) { return tensor_split(x, count); },
                 [](const Tensor& x, const std::vector<std::int64_t>& at) { return tensor_split(x, at); })},
       {"hsplit", split_of([](const Tensor& x, std::int64_t count) { return hsplit(x, count); },
                           [](const Tensor& x, const std::vector<std::int64_t>& at) { return hsplit(x, at); })},
       {"vsplit", split_of([](const Tensor& x, std::int64_t count) { return vsplit(x, count); },
                           [](const Tensor& x, const std::vector<std::int64_t>& at) { return vsplit(x, at); })},
       {"dsplit", split_of([](const Tensor& x, std::int64_t count) { return dsplit(x, count); },
                           [](const Tensor& x, const std::vector<std::int64_t>& at) { return dsplit(x, at); })},
       {"atleast_1d", of_one(atleast_1d)},
       {"atleast_2d", of_one(atleast_2d)},
       {"atleast_3d", of_one(atleast_3d)},
       {"isin", [](const Case& c) { return c.x(0).defined() ? isin(c.x(0), c.x(1)) : isin(c.index(0), c.index(1)); }},
       {"unravel_index",
        [](const Case& c) {
          Results all{Tensor()};
          all.all.clear();
          for (const Index& along : unravel_index(c.index(0), c.shape("shape"))) all.all.emplace_back(along);
          return all;
        }},
       {"unique_consecutive",
        [](const Case& c) {
          const auto results = [](const auto& runs, auto values) {
            Results all{std::move(values)};
            all.all.emplace_back(runs.inverse);
            all.all.emplace_back(runs.counts);
            return all;
          };
          if (c.x().defined()) {
            const auto runs = unique_consecutive(c.x());
            return results(runs, Tensor(runs.values));
          }
          const auto runs = unique_consecutive(c.index(0));
          return results(runs, runs.values);
        }},
       {"histogram",
        [](const Case& c) {
          const auto [hist, edges] = histogram(
              c.x(), c.integer("bins"), {.density = c.flag("density"), .min = real(c, "low"), .max = real(c, "high")});
          return Tensors{hist, edges};
        }},
       {"histogram_weights", [](const Case& c) {
          const auto [hist, edges] = histogram(c.x(0), c.x(2), {.weight = c.x(1), .density = c.flag("density")});
          return Tensors{hist, edges};
        }}});
}

TEST_CASE("operations on pictures and their gradients of two orders equal PyTorch's") {
  check_fixtures(
      "pictures",
      {{"pad",
        [](const Case& c) {
          ShortList<Padding> paddings;
          const auto widths = c.numbers("pads");
          for (std::size_t i = 0; i < widths.size(); i += 2) paddings.push_back({widths[i], widths[i + 1]});
          return pad(
              c.x(), paddings,
              named<PadMode>(
                  c, "mode",
                  {{"reflect", PadMode::reflect}, {"replicate", PadMode::replicate}, {"circular", PadMode::circular}}));
        }},
       {"pixel_shuffle", [](const Case& c) { return pixel_shuffle(c.x(), c.integer("factor")); }},
       {"pixel_unshuffle", [](const Case& c) { return pixel_unshuffle(c.x(), c.integer("factor")); }},
       {"channel_shuffle", [](const Case& c) { return channel_shuffle(c.x(), c.integer("groups")); }},
       {"local_response_norm",
        [](const Case& c) {
          return local_response_norm(c.x(), c.integer("size"),
                                     {.alpha = c.number("alpha"), .beta = c.number("beta"), .k = c.number("k")});
        }},
       {"lp_pool1d",
        [](const Case& c) {
          return lp_pool1d(c.x(), c.number("p"), 3, {.stride = given(c, "stride"), .ceil_mode = c.flag("ceil_mode")});
        }},
       {"lp_pool2d",
        [](const Case& c) {
          return lp_pool2d(c.x(), c.number("p"), {2, 3},
                           {.stride = Size2d(c.integer("stride")), .ceil_mode = c.flag("ceil_mode")});
        }},
       {"max_pool1d_with_indices",
        [](const Case& c) {
          return several(
              max_pool1d_with_indices(c.x(), 3, {.stride = given(c, "stride"), .padding = c.integer("padding")}));
        }},
       {"max_pool2d_with_indices",
        [](const Case& c) {
          return several(max_pool2d_with_indices(
              c.x(), 3, {.stride = Size2d(c.integer("stride")), .padding = c.integer("padding")}));
        }},
       {"adaptive_max_pool1d_with_indices",
        [](const Case& c) { return several(adaptive_max_pool1d_with_indices(c.x(), c.integer("size"))); }},
       {"adaptive_max_pool2d_with_indices",
        [](const Case& c) { return several(adaptive_max_pool2d_with_indices(c.x(), c.integer("size"))); }},
       {"max_unpool1d",
        [](const Case& c) {
          return max_unpool1d(
              c.x(0), c.index(1), 2,
              {.stride = given(c, "stride"), .padding = c.integer("padding"), .output_size = given(c, "size")});
        }},
       {"max_unpool2d",
        [](const Case& c) {
          return max_unpool2d(
              c.x(0), c.index(1), 2,
              {.stride = Size2d(c.integer("stride")), .padding = c.integer("padding"), .output_size = size_of(c)});
        }},
       {"conv_transpose1d",
        [](const Case& c) {
          return conv_transpose1d(c.x(0), c.x(1), c.x(2),
                                  {.stride = c.integer("stride"),
                                   .padding = c.integer("padding"),
                                   .output_padding = c.integer("output_padding"),
                                   .dilation = c.integer("dilation"),
                                   .groups = c.integer("groups")});
        }},
       {"affine_grid",
        [](const Case& c) {
          return affine_grid(c.x(), c.shape("size"), c.flag("align") ? AlignCorners::yes : AlignCorners::no);
        }},
       {"grid_sample", grid_sample_of}},
      {.ulps_of = {{"grid_sample", 24}}});  // places of pixels, sums that cancel
}

TEST_CASE("margins of several classes, divergences by batch, and their gradients of two orders equal PyTorch's") {
  check_fixtures(
      "margins",
      {{"multi_margin",
        [](const Case& c) {
          return multi_margin_loss(
              c.x(0), c.index(1),
              {.p = c.integer("p"), .margin = real(c, "margin"), .weight = c.x(2), .reduction = reduction_of(c)});
        }},
       {"multilabel_margin",
        [](const Case& c) { return multilabel_margin_loss(c.x(0), c.index(1), {.reduction = reduction_of(c)}); }},
       {"kl_div", [](const Case& c) {
          return kl_div(c.x(0), c.x(1), {.reduction = batchmean, .log_target = c.flag("log_target")});
        }}});
}

}  // namespace xgrad::testing
