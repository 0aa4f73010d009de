// Tests of core/base/error.h, core/base/scope.h and core/base/text.h: what messages look like and where they say that
// code is.
#include <xgrad/core/base/error.h>

#include <limits>
#include <memory>
#include <thread>

#include <xgrad/core/array/shape.h>
#include <xgrad/core/base/scope.h>

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
