// The tables of ops/numerics_test.cpp in float, where the range is short.
#include "ops/elementwise/numerics_test.cpp"
