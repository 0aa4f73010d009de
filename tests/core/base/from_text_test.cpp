// Tests of core/base/from_text.h: std::from_chars of every standard library, also by the C library.
#include <xgrad/core/base/from_text.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <xgrad/core/base/text.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct Read {
  double value = 7;  // what it is where nothing is read
  std::size_t length = 0;
  std::errc error{};
  friend bool operator==(const Read&, const Read&) = default;
};

template <class Read_number>
Read read(std::string_view text, Read_number read_number) {
  Read result;
  const auto [end, error] = read_number(text.data(), text.data() + text.size(), result.value);
  result.length = static_cast<std::size_t>(end - text.data());
  result.error = error;
  return result;
}

// A number of any magnitude: all bits are random.
template <class Number, class Bits>
Number any_number(std::mt19937_64& generator) {
  const auto bits = static_cast<Bits>(generator());
  Number number = 0;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

template <class Number, class Bits>
void check_round_trips() {
  std::mt19937_64 generator(1);
  for (int i = 0; i < 20000; ++i) {
    const auto number = any_number<Number, Bits>(generator);
    if (std::isnan(number)) continue;
    const std::string text = str(number);
    for (const auto& by : {detail::from_text<Number>, detail::real_by_c_library<Number>}) {
      Number again = 0;
      const auto [end, error] = by(text.data(), text.data() + text.size(), again);
      const bool whole = error == std::errc() && end == text.data() + text.size();
      if (!whole || std::memcmp(&again, &number, sizeof number) != 0) FAIL_CHECK(text << " became " << again);
    }
  }
}

}  // namespace

TEST_CASE("real numbers are read from text as std::from_chars does, also where the standard library lacks it") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr auto invalid = std::errc::invalid_argument, out_of_range = std::errc::result_out_of_range;
  const std::vector<std::pair<std::string_view, Read>> cases{
      {"1.5", {1.5, 3}},
      {"-2e3,", {-2000, 4}},
      {".5", {0.5, 2}},
      {"5.", {5, 2}},
      {"1e", {1, 1}},
      {"1e+2", {100, 4}},
      {"1,5", {1, 1}},
      {"0x10", {0, 1}},
      {"-0X1p3", {-0.0, 2}},
      {"inf", {inf, 3}},
      {"-Infinity", {-inf, 9}},
      {"5e-324", {5e-324, 6}},
      {"2.2250738585072011e-308", {0x0.fffffffffffffp-1022, 23}},
      {"0.1000000000000000055511151231257827", {0.1, 36}},
      {"9007199254740993", {9007199254740992., 16}},
      {std::string_view("1\0002", 3), {1, 1}},
      {"1e400", {7, 5, out_of_range}},
      {"-1e400;", {7, 6, out_of_range}},
      {"1e-400", {7, 6, out_of_range}},
      {"", {7, 0, invalid}},
      {"+1", {7, 0, invalid}},
      {" 1", {7, 0, invalid}},
      {"\n1", {7, 0, invalid}},
      {"-", {7, 0, invalid}},
      {"-+1", {7, 0, invalid}},
      {"e5", {7, 0, invalid}},
      {"one", {7, 0, invalid}},
  };
  for (const auto& each : cases) {
    const auto& [text, expected] = each;
    CAPTURE(each.first);
    CHECK(read(text, detail::from_text<double>) == expected);
    CHECK(read(text, detail::real_by_c_library<double>) == expected);
  }
  CHECK(std::isnan(read("nan", detail::real_by_c_library<double>).value));
  std::int64_t whole = 0;
  const std::string_view digits = "-12";
  CHECK(detail::from_text(digits.begin(), digits.end(), whole).ec == std::errc());
  CHECK(whole == -12);
}

TEST_CASE("the shortest text of any number gives the same bits again") {
  check_round_trips<double, std::uint64_t>();
  check_round_trips<float, std::uint32_t>();
}
