// Lambdas of a program without flags for a processor run on the levels that the library has.
#include "support/wide.h"

using namespace xgrad::testing;

TEST_CASE("lambdas give on every level of the processor what the library's operations give") {
  check_all_functions();
}

TEST_CASE("an operation of a program without flags broadcasts and has gradients") {
  check_own_operation();
}
