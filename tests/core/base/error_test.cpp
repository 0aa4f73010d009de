// Tests of core/base/error.h, core/base/scope.h and core/base/text.h: what messages look like and where they say that
// code is.
#include <xgrad/core/base/error.h>

#include <limits>
#include <memory>
#include <thread>

#include <xgrad/core/array/shape.h>
#include <xgrad/core/base/scope.h>
#include <xgrad/core/base/text.h>

#include "support/check.h"
#include "support/files.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("a message is the operation, a colon and the parts") {
  const auto refuse = [] { fail<ShapeError>("add", "cannot add ", Shape{2, 3}, " and ", 7); };
  CHECK(error_of<ShapeError>(refuse) == "add: cannot add [2, 3] and 7");
}

TEST_CASE_TEMPLATE("every error can be caught as Error", E, ShapeError, ValueError, LimitError, GraphError, FormatError,
                   IoError, NumericError) {
  static_assert(std::is_base_of_v<std::runtime_error, E>);
  CHECK(error_of<Error>([] { fail<E>("op", "what"); }) == "op: what");
}

TEST_CASE("inside a module the message names its path, and what the module is") {
  const Scope outer(intern("decoder"));
  {
    const Scope inner(intern("decoder.k", "Linear 512 -> 64"));
    CHECK(error_message("matmul", "no") == "matmul: no\n  in decoder.k (Linear 512 -> 64)");
  }
  CHECK(error_message("matmul", "no") == "matmul: no\n  in decoder");
  const Scope nowhere(nullptr);
  CHECK(error_message("matmul", "no") == "matmul: no");
}

TEST_CASE("a scope belongs to its thread, and is left when an exception passes through it") {
  const Scope outer(intern("outer"));
  error_of<ValueError>([] {
    const Scope inner(intern("inner"));
    fail<ValueError>("op", "what");
  });
  CHECK(current_place()->path == "outer");
  const Place* there = current_place();
  std::thread([&] { there = current_place(); }).join();
  CHECK(there == nullptr);
}

TEST_CASE("equal places are interned as one") {
  const Place* first = intern("blocks.0");
  CHECK(intern(std::string("blocks.") + "0") == first);
  CHECK(intern("blocks.1") != first);
  CHECK(intern("blocks.0", "Linear") != first);
  const Place* from_thread = nullptr;
  std::thread([&] { from_thread = intern("blocks.0"); }).join();
  CHECK(from_thread == first);
}

TEST_CASE("numbers become text in the shortest form that reads back, under every locale") {
  const CommaLocale commas;
  CHECK(str(1234567, ' ', -5, ' ', std::int64_t{1} << 62, ' ', std::uint8_t{200}) ==
        "1234567 -5 4611686018427387904 200");
  CHECK(str(0.1, ' ', 0.1f, ' ', 1e300, ' ', -0.0) == "0.1 0.1 1e+300 -0");
  CHECK(str(std::numeric_limits<double>::infinity(), ' ', true, ' ', 'c') == "inf true c");
}

TEST_CASE("lists stand in brackets") {
  CHECK(str(std::vector{1, 2, 3}) == "[1, 2, 3]");
  CHECK(str(std::vector<int>()) == "[]");
  CHECK(str(std::vector<std::string>{"a", "b"}) == "[a, b]");
}

TEST_CASE("names from files are shown in printable ASCII, on one line and not too long") {
  CHECK(escaped("a \"b\" \\ c") == R"("a \"b\" \\ c")");
  CHECK(escaped("\n\t\x7f") == R"("\n\u0009\u007f")");
  CHECK(escaped("\u00e9\u20ac\U0001f600") == R"("\u00e9\u20ac\U0001f600")");
  CHECK(escaped("\xff\xc3") == R"("\ufffd\ufffd")");
  CHECK(escaped(std::string(101, 'x')) == str('"', std::string(100, 'x'), "\"..."));
}

TEST_CASE("of UTF-8 the first and last characters of each length are read, and what is next to them is none") {
  const std::string none = "\\ufffd";
  const std::vector<std::pair<std::string, std::string>> rows{{" ~", " ~"},
                                                              {"\x1f", "\\u001f"},
                                                              {"\xc1\xbf", none + none},
                                                              {"\xc2\x80", "\\u0080"},
                                                              {"\xdf\xbf", "\\u07ff"},
                                                              {"\xdf\x7f", none + "\\u007f"},
                                                              {"\xe0\x9f\xbf", none + none + none},
                                                              {"\xe0\xa0\x80", "\\u0800"},
                                                              {"\xed\x9f\xbf", "\\ud7ff"},
                                                              {"\xed\xa0\x80", none + none + none},
                                                              {"\xee\x80\x80", "\\ue000"},
                                                              {"\xef\xbf\xbd", none},
                                                              {"\xef\xbf\xbe", none + none + none},
                                                              {"\xef\xbe\xbf", "\\uffbf"},
                                                              {"\xf0\x8f\xbf\xbf", none + none + none + none},
                                                              {"\xf0\x90\x80\x80", "\\U00010000"},
                                                              {"\xf4\x8f\xbf\xbf", "\\U0010ffff"},
                                                              {"\xf4\x90\x80\x80", none + none + none + none},
                                                              {"\xf5\x80\x80\x80", none + none + none + none}};
  for (const auto& [bytes, shown] : rows) CHECK(escaped(bytes) == '"' + shown + '"');
  CHECK(escaped(std::string(100, 'x')) == '"' + std::string(100, 'x') + '"');
}

TEST_CASE("counts have commas, bytes a unit, and long or broken text is cut and stays on its line") {
  CHECK(str(detail::with_commas(999), ' ', detail::with_commas(1000), ' ', detail::with_commas(1234567)) ==
        "999 1,000 1,234,567");
  CHECK(str(detail::bytes_text(1023), ", ", detail::bytes_text(1024), ", ", detail::bytes_text(1.5 * (1 << 20)), ", ",
            detail::bytes_text(0x1p70)) == "1023 B, 1 KiB, 1.5 MiB, 1024 EiB");
  CHECK(detail::printable("a\nb\tc\x7f\xffé") == "a\\nb\\x09c\\x7f\uFFFDé");
  CHECK(detail::printable(std::string(200, 'x')) == std::string(200, 'x'));
  CHECK(detail::printable(std::string(202, 'x')) == std::string(201, 'x') + "\u2026");
}
