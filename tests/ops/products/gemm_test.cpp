// Tests of ops/kernels/products/gemm.h: products of all shapes against three loops.
#include <xgrad/ops/derivatives/build_info.h>
#include <xgrad/ops/kernels/products/gemm.h>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include <xgrad/core/base/error.h>
#include <xgrad/core/base/text.h>

#include "support/again.h"
#include "support/check.h"
#include "support/products.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("products of all sizes and transpositions equal three loops and write nothing else") {
  for (const ProductCase& test : product_cases()) {
    const std::string sizes =
        cat(test.p.m, " x ", test.p.k, " x ", test.p.n, ", transposed: ", test.a_transposed, test.b_transposed);
    CAPTURE(sizes);
    CHECK(run_product(test).error < 1e-14);
  }
}

TEST_CASE("a product has the same bits for any number of threads") {
  for (const std::int64_t m : {65, 150, 1}) {
    const ProductCase test{.p = {.m = m, .n = 2000 / m * 10, .k = 1300}, .with_bias = true};
    const ThreadCount one(1);
    const ProductResult alone = run_product(test);
    for (const int count : {2, 3, 7}) {
      const ThreadCount several(count);
      CHECK(run_product(test).c == alone.c);
    }
  }
}

#ifdef XGRAD_OPENBLAS
extern "C" int openblas_get_num_threads();

namespace {

// For the BLAS, because it has few rows.
const ProductCase few_rows{.p = {.m = 2, .n = 300, .k = 200}};

}  // namespace

TEST_CASE("a program may keep the library from setting OpenBLAS up") {
  if (const char* variable = std::getenv("XGRAD_TEST_ROLE")) {
    const std::string role = variable;
    if (role == "decline") set_up_blas({.one_thread = false, .choose_kernels = false});
    if (role == "call") set_up_blas({});
    const std::string core = detail::blas_name().core;
    CHECK(run_product(few_rows).error < 1e-13);
    CHECK(detail::blas_name().core == core);  // OpenBLAS is not initialised anew where threads may be inside it
    CHECK(openblas_get_num_threads() == (role == "decline" || role == "none" ? 2 : 1));
    CHECK(error_of<ValueError>([] { set_up_blas({}); }) ==
          "set_up_blas: the BLAS has been set up already, by an earlier call or a product");
    return;
  }
  const auto run = [](const std::string& environment) {
    return run_again("a program may keep the library from setting OpenBLAS up",
                     "OPENBLAS_NUM_THREADS=2 " + environment);
  };
  for (const std::string role : {"XGRAD_TEST_ROLE=default", "XGRAD_TEST_ROLE=call", "XGRAD_TEST_ROLE=decline",
                                 "XGRAD_TEST_ROLE=none XGRAD_BLAS_SETUP=none"}) {
    const Again again = run(role);
    CAPTURE(again.output);
    CHECK(again.status == 0);
  }
  const Again wrong = run("XGRAD_TEST_ROLE=default XGRAD_BLAS_SETUP=off");
  CHECK(wrong.status != 0);
  CHECK(wrong.output.find("XGRAD_BLAS_SETUP: 'off' is neither all nor none") != std::string::npos);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these need more than any limit
TEST_CASE("without memory for the BLAS a product says so and can be tried again") {
  if (!std::getenv("XGRAD_TEST_ROLE")) {
    const Again again = run_again("without memory for the BLAS a product says so and can be tried again",
                                  "XGRAD_TEST_ROLE=child XGRAD_THREADS=1");
    CAPTURE(again.output);
    CHECK(again.status == 0);
    return;
  }
  alarm(20);  // a hang ends the child
  // Few rows, and not so small that the BLAS needs no memory to work in.
  const Gemm p{.m = 7, .n = 1200, .k = 1000};
  const std::vector<Real> a(7 * 1000, 1), b(1000 * 1200, 1);
  std::vector<Real> c(7 * 1200);
  const auto multiply = [&] { gemm(p, {a.data(), p.k}, {b.data(), p.n}, c.data(), p.n); };
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file);
  unsigned long pages = 0;
  REQUIRE(std::fscanf(file, "%lu", &pages) == 1);
  std::fclose(file);
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
  const rlim_t usual = limit.rlim_cur;
  limit.rlim_cur = pages * static_cast<unsigned long>(sysconf(_SC_PAGESIZE)) + (32 << 20);
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  CHECK_THROWS_AS(multiply(), std::bad_alloc);
  CHECK_THROWS_AS(multiply(), std::bad_alloc);
  limit.rlim_cur = usual;
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
  multiply();
  CHECK(std::ranges::count(c, Real(1000)) == 7 * 1200);
}
#endif
#endif
