// A user's program.
#include <cstdio>

#include <xgrad/core/array.h>

int main() {
  const xgrad::Array ones({2, 3}, xgrad::Real(1));
  std::printf("%lld numbers\n", static_cast<long long>(ones.size()));
}
