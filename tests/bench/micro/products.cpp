// Matrix products: every shape of linear layer in the workloads, and the products of its two gradients, beside the BLAS,
// if there is one, on the same numbers and a plain loop.
#include <algorithm>
#include <memory>

#if defined(XGRAD_OPENBLAS) || defined(XGRAD_OTHER_BLAS)
#include <xflens/cxxblas/drivers/cblas.h>
#define XGRAD_BENCH_BLAS
#endif

#include <xgrad/ops/products/build_info.h>
#include <xgrad/ops/products/matmul.h>

#include "table.h"

namespace {

using namespace micro;

struct Layer {
  const char* name;
  std::int64_t rows, in, out;
};
constexpr Layer layers[] = {
    {"W1_attention", 640, 32, 32},   {"W1_ffn_in", 640, 32, 64},       {"W1_ffn_out", 640, 64, 32},
    {"W1_head", 640, 32, 210},       {"W2_qkv", 768, 128, 384},        {"W2_attention", 768, 128, 128},
    {"W2_ffn_in", 768, 128, 512},    {"W2_ffn_out", 768, 512, 128},    {"W2_head", 768, 128, 65},
    {"W3_qkv", 1024, 512, 1536},     {"W3_attention", 1024, 512, 512}, {"W3_ffn_in", 1024, 512, 2048},
    {"W3_ffn_out", 1024, 2048, 512}, {"W3_head", 1024, 512, 8192},     {"W4_qkv", 1088, 64, 192},
    {"W4_ffn_in", 1088, 64, 256},    {"W4_ffn_out", 1088, 256, 64},    {"W4b_qkv", 3200, 64, 192},
    {"W6_first", 64, 784, 256},      {"W6_second", 64, 256, 128},      {"W6_third", 64, 128, 10},
};

double flops(const Layer& l) { return 2.0 * double(l.rows) * double(l.in) * double(l.out); }
double sizes(const Layer& l) { return double(l.rows * l.in + l.in * l.out + l.rows * l.out); }

std::vector<Row> table(double products, const std::function<std::function<void()>(const Layer&)>& make) {
  std::vector<Row> rows;
  for (const Layer& l : layers)
    rows.push_back({l.name, products * sizes(l), products * flops(l), [=] { return make(l); }});
  return rows;
}

// y = x w^T + b
std::function<void()> linear_forward(const Layer& l) {
  const Tensor x = numbers({l.rows, l.in}), w = numbers({l.out, l.in}), b = numbers({l.out});
  return forward([=] { return linear(x, w, b); });
}

std::function<void()> linear_gradients(const Layer& l) {
  const Tensor x = parameter({l.rows, l.in}), w = parameter({l.out, l.in}), b = parameter({l.out});
  return backward({x, w, b}, [=] { return linear(x, w, b); });
}

std::function<void()> medium_forward(const Layer& l) { return in_medium(linear_forward(l)); }
std::function<void()> medium_gradients(const Layer& l) { return in_medium(linear_gradients(l)); }

#ifdef XGRAD_BENCH_BLAS
std::function<void()> blas_forward(const Layer& l) {
  (void)build_info();  // chooses the BLAS's kernels
  const Tensor x = numbers({l.rows, l.in}), w = numbers({l.out, l.in});
  const auto y = std::make_shared<Array>(Shape{l.rows, l.out});
  const int m = static_cast<int>(l.rows), n = static_cast<int>(l.out), k = static_cast<int>(l.in);
  return [=] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, x.value().data(), k, w.value().data(), k, 0,
                y->mutable_data(), n);
    benchmark::ClobberMemory();
  };
}

const bool blas_added = add("blas", table(1, blas_forward));
#endif

std::function<void()> hand_forward(const Layer& l) {
  const Tensor x = numbers({l.rows, l.in}), w = numbers({l.in, l.out});
  const auto y = std::make_shared<Array>(Shape{l.rows, l.out});
  return [=] {
    Real* __restrict out = y->mutable_data();
    std::fill_n(out, l.rows * l.out, Real(0));
    for (std::int64_t i = 0; i < l.rows; ++i) {
      for (std::int64_t k = 0; k < l.in; ++k) {
        const Real factor = x.value().data()[i * l.in + k];
        const Real* row = w.value().data() + k * l.out;
        for (std::int64_t j = 0; j < l.out; ++j) out[i * l.out + j] += factor * row[j];
      }
    }
    benchmark::ClobberMemory();
  };
}

const bool added = add("linear", table(1, linear_forward)) && add("linear'", table(2, linear_gradients)) &&
                   add("linear_medium", table(1, medium_forward)) &&
                   add("linear_medium'", table(2, medium_gradients)) &&
                   add("hand_linear", table(1, hand_forward));

}  // namespace
