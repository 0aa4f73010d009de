// Numbers and durations as text.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include <xgrad/kit/program/format.h>

#include "support.h"

using namespace xgrad::kit;

TEST_CASE("numbers are written in their shortest form") {
  CHECK(number(0.1) == "0.1");
  CHECK(number(0.1f) == "0.1");
  CHECK(number(1e300) == "1e+300");
  CHECK(number(-2.5) == "-2.5");
  CHECK(number(42) == "42");
  CHECK(number(std::int64_t{-9007199254740993}) == "-9007199254740993");
  CHECK(number(std::nan("")) == "nan");
  CHECK(number(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("a fixed number of decimals never gives a negative zero") {
  CHECK(fixed(3.14159, 2) == "3.14");
  CHECK(fixed(-0.001, 2) == "0.00");
  CHECK(fixed(-0.006, 2) == "-0.01");
  CHECK(fixed(12, 0) == "12");
  CHECK(fixed(1e300, 1).size() == 303);
  CHECK_THROWS_AS(fixed(1, -1), xgrad::ValueError);
}

TEST_CASE("durations have minutes and seconds, and hours when there are any") {
  CHECK(duration(0) == "0:00");
  CHECK(duration(75.2) == "1:15");
  CHECK(duration(59.7) == "1:00");
  CHECK(duration(3725) == "1:02:05");
  CHECK(duration(std::nan("")) == "-:--");
  CHECK(duration(std::numeric_limits<double>::infinity()) == "-:--");
  CHECK(duration(-1) == "-:--");
}

TEST_CASE("no locale changes how numbers are written") {
  const testing::CommaLocale commas;
  std::ostringstream hostile;
  hostile << 1234.5;
  REQUIRE(hostile.str() == "1.234,5");
  CHECK(number(1234.5) == "1234.5");
  CHECK(fixed(1234.5, 2) == "1234.50");
  CHECK(Field(1234567).text() == "1234567");
}
