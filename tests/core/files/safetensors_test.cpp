#include <xgrad/core/files/safetensors.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include <xgrad/core/base/error.h>
#include <xgrad/core/files/file.h>

#include "support/check.h"
#include "support/files.h"
#include "support/fixtures.h"
#include "support/thorough.h"

namespace xgrad::testing {
namespace {

/// The bytes of a file: length, header, data.
std::string file_bytes(std::string_view header, std::string_view data = "") {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes.append(header).append(data);
}

/// An entry of a header.
std::string entry(std::string_view name, std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return str("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape, ",\"data_offsets\":", offsets, "}");
}

StateFile load_bytes(const std::string& bytes) {
  const TemporaryFolder folder;
  return load_safetensors(write_text(folder / "f", bytes));
}

struct BadFile {
  const char* what;
  std::string bytes;
  const char* message;  ///< part of it
};

template <class E>
void check_files(const std::vector<BadFile>& files) {
  for (const BadFile& file : files) {
    CAPTURE(file.what);
    CHECK_REFUSED(E, load_bytes(file.bytes), "load_safetensors", file.message);
  }
}

template <class E>
void check_headers(std::vector<BadFile> files) {
  for (BadFile& file : files) file.bytes = file_bytes(file.bytes);
  check_files<E>(files);
}

StateFile sample() {
  return {.arrays = {{"weight", Array({2, 3}, {1, -2, 0.5, 1e30f, 0, -0.0})},
                     {"bias", Array({3}, {7, 8, 9})},
                     {"scalar", Array({}, {4})},
                     {"ids", Index({2, 2}, {0, -1, 1LL << 60, std::numeric_limits<std::int64_t>::min()})},
                     {"mask", Mask({3}, {true, false, true})},
                     {"empty", Array(Shape{2, 0})}},
          .metadata = {{"epoch", "3"}, {"note", "d\u00e9j\u00e0 \"vu\"\n"}}};
}

void check_equal(const StateFile& a, const StateFile& b) {
  REQUIRE(a.arrays.size() == b.arrays.size());
  for (const auto& named : a.arrays) {
    const std::string& name = named.first;
    CAPTURE(name);
    std::visit(
        [&]<class T>(const BasicArray<T>& expected) {
          const auto& values = b.get<BasicArray<T>>(name);
          CHECK(values.shape() == expected.shape());
          CHECK(std::memcmp(values.data(), expected.data(), sizeof(T) * static_cast<std::size_t>(values.size())) == 0);
        },
        named.second);
  }
  CHECK(a.metadata == b.metadata);
}

// ---- Round trips ----

TEST_CASE("what is saved is what is loaded, bit for bit") {
  const TemporaryFolder folder;
  const std::string path = folder / "state.safetensors";
  StateFile state = sample();
  state.arrays.insert_or_assign("nan", Array({2}, {std::nan(""), -std::numeric_limits<Real>::infinity()}));
  save_safetensors(path, state);
  state.metadata["format"] = "pt";
  check_equal(state, load_safetensors(path));
  save_safetensors(path, load_safetensors(path));  // over what it was loaded from
  check_equal(state, load_safetensors(path));
  save_safetensors(path, {});
  CHECK(load_safetensors(path).arrays.empty());
  CHECK(load_bytes(file_bytes("{}")).arrays.empty());
  CHECK(load_bytes(file_bytes("{\"__metadata__\":{}}  ")).metadata.empty());
}

TEST_CASE("a file of an earlier version is read, and the same content makes the same bytes") {
  // Written by tests/fixtures/make_stored_files.py, which computes the checksums itself.
  const std::string path = fixture_path("stored/arrays.safetensors");
  StateFile state = sample();
  state.arrays.erase("bias");
  state.arrays.insert_or_assign("weight", Array({2, 3}, {1, -2, 0.5, 1e300, 0, -0.0}));
  const TemporaryFolder folder;
  save_safetensors(folder / "now", state);
  CHECK(read_text(folder / "now") == read_text(path));
  state.metadata["format"] = "pt";
  check_equal(state, load_safetensors(path));
}

TEST_CASE("states of several parts go into one and come out again") {
  const StateFile model{.arrays = {{"w", Array({2}, {1, 2})}}},
      optimizer{.arrays = {{"w.step", Index({}, 3)}}, .metadata = {{"kind", "adam"}}};
  StateFile all;
  all.add("model", model);
  all.add("optimizer", optimizer);
  CHECK(all.arrays.size() == 2);
  CHECK(equal(all.get<Array>("model.w"), Array({2}, {1, 2})));
  CHECK(all.text("optimizer.kind") == "adam");
  CHECK(all.part("optimizer").get<Index>("w.step").item() == 3);
  CHECK(all.part("optimizer").metadata == optimizer.metadata);
  CHECK(all.part("model").arrays.size() == 1);
  CHECK(all.part("mod").arrays.empty());
  // Under "model.ema" it would be a part of "model" as well; dots in names are no matter.
  const StateFile twice{.arrays = {{"a", Index({}, 1)}, {"w", Index({}, 1)}}, .metadata = {{"note", "x"}}};
  const StateFile key{.arrays = {{"w.exp_avg", Array({}, {1})}}, .metadata = {{"kind", "sgd"}}};
  CHECK_REFUSED(ValueError, all.add("model", model), "add", "\"model.w\" exists already");
  CHECK_REFUSED(ValueError, all.add("model.ema", model), "add",
                "the prefix \"model.ema\" has a dot: part(\"model\") would have it, too");
  CHECK_REFUSED(ValueError, all.add("model", twice), "add", "\"model.w\" exists already");
  CHECK_REFUSED(ValueError, all.add("optimizer", key), "add", "\"optimizer.kind\" exists already");
  CHECK(all.arrays.size() == 2);
  CHECK(all.metadata.size() == 1);
}

TEST_CASE("equal content gives equal bytes, whatever the locale") {
  const TemporaryFolder folder;
  StateFile state = sample();
  state.arrays["large"] = Array({1234, 1}, Real(1));
  save_safetensors(folder / "a", state);
  {
    const CommaLocale locale;
    save_safetensors(folder / "b", load_safetensors(folder / "a"));
  }
  CHECK(read_text(folder / "a") == read_text(folder / "b"));
}

TEST_CASE("elements are aligned, whatever the length of the header") {
  const TemporaryFolder folder;
  for (std::string note; note.size() < 8; note += 'x') {
    StateFile state = sample();
    state.metadata["note"] = note;
    save_safetensors(folder / "f", state);
    std::uint64_t length;
    std::memcpy(&length, read_text(folder / "f").data(), 8);
    CHECK(length % 8 == 0);
  }
}

TEST_CASE("names are any text, and never paths") {
  const TemporaryFolder folder;
  StateFile state;
  for (const std::string& name : {std::string(), std::string("../../x"), std::string("a\0b", 3), std::string("a/b"),
                                  std::string("/etc/passwd"), std::string("\u202eevil"), std::string("\"\\\n\x7f"),
                                  std::string("c'\u00e9tait \U0001f600"), std::string(4096, 'n')}) {
    state.arrays[name] = Array({1}, {1});
    state.metadata[name] = name;
  }
  state.metadata["format"] = "mine";
  save_safetensors(folder / "f", state);
  check_equal(state, load_safetensors(folder / "f"));
}

TEST_CASE("a file written by Python's package is read, every element type of it") {
  const StateFile file = load_safetensors(fixture_path("python.safetensors"));
  CHECK(equal(file.get<Array>("f64"), Array({2, 2}, {1.5, -2, 1e-3, 4})));
  CHECK(equal(file.get<Array>("f32"), Array({3}, {1.5, -0.25, 3e8})));
  const Real huge = std::numeric_limits<Real>::infinity();
  CHECK(equal(file.get<Array>("f16"),
              Array({8}, {1.5, -2, 65504, std::ldexp(Real(1), -24), std::ldexp(Real(1), -14), 0, huge, -huge})));
  CHECK(std::isnan(file.get<Array>("f16.nan").item()));
  CHECK(equal(file.get<Array>("bf16"), Array({4}, {1.5, -2, huge, std::ldexp(Real(1), -130)})));
  const std::map<std::string, std::int64_t> largest{{"i64", 1LL << 62}, {"i32", 2147483647}, {"i16", 32767},
                                                    {"i8", 127},        {"u64", 1LL << 62},  {"u32", 4294967295},
                                                    {"u16", 65535},     {"u8", 255}};
  for (const auto& entry : largest) {
    CHECK(equal(file.get<Index>(entry.first), Index({2}, {entry.second, entry.first[0] == 'i' ? -5 : 5})));
  }
  CHECK(equal(file.get<Mask>("bool"), Mask({2, 2}, {true, false, false, true})));
  CHECK(equal(file.get<Array>("scalar"), Array({}, {7})));
  CHECK(equal(file.get<Array>("empty"), Array(Shape{2, 0, 3})));
  CHECK(equal(file.get<Array>("encoder.\u00e9t\u00e9/0"), Array({1}, {1})));
  CHECK(file.arrays.size() == 17);
  CHECK(file.metadata == Metadata{{"epoch", "3"}});
}

// ---- Bad files ----

TEST_CASE("files that are not safetensors") {
  const std::string ten(10, 'x');
  check_files<FormatError>({
      {"seven bytes", "1234567", "too small (7 bytes, need 8)"},
      {"no header", file_bytes(""), "does not begin with { at byte 8"},
      {"length 2^63", std::string("\0\0\0\0\0\0\0\x80", 8) + "{}", "9223372036854775808 bytes does not fit"},
      {"header longer than the file", std::string("\3\0\0\0\0\0\0\0", 8) + "{}", "3 bytes does not fit a file of 10"},
      {"gzip", "\x1f\x8b" + ten, "looks like gzip"},
      {"pickle", "PK\x03\x04" + ten, "zip archive"},
      {"pointer", "version https://git-lfs.github.com/spec/v1", "Git LFS pointer"},
      {"web page", "<!DOCTYPE html><html>", "looks like HTML"},
  });
}

TEST_CASE("a header beyond the limit is refused before it is read") {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_text(folder / "f", std::string("\x01\xe1\xf5\x05\0\0\0\0{", 9));
  std::filesystem::resize_file(path, 200'000'000);  // a hole, no blocks on the disk
  CHECK_REFUSED(LimitError, load_safetensors(path), "load_safetensors",
                "a header of 100000001 bytes, allowed are 100000000");
}

TEST_CASE("headers that are not JSON objects") {
  const std::string deep(200'000, '[');
  check_headers<FormatError>({
      {"invalid UTF-8 in a name", "{\"\xff\":1}", "not valid JSON at byte 10"},
      {"byte order mark", "\xef\xbb\xbf{}", "does not begin with {"},
      {"leading blank", " {}", "does not begin with {"},
      {"unfinished", "{", "not valid JSON at byte 9"},
      {"trailing garbage", "{} x", "not valid JSON at byte 11"},
      {"trailing comma", "{\"a\":1,}", "is not an object"},
      {"comment", "{/**/}", "not valid JSON"},
      {"NUL and more", std::string("{}\0x", 4), "NUL at byte 10"},
      {"NUL inside", std::string("{\"a\0\":1}", 8), "NUL at byte 11"},
      {"nested brackets", "{\"a\":" + deep, "is not an object"},
      {"nested brackets in a field", "{\"a\":{\"shape\":" + deep, "nested deeper than 3"},
      {"nested objects", "{\"a\":{\"b\":{\"c\":{", "unknown field"},
      {"objects in a list", "{\"a\":{\"shape\":[{", "nested deeper than 3"},
  });
}

TEST_CASE("duplicate keys") {
  const std::string a = entry("a", "U8", "[1]", "[0,1]");
  check_headers<FormatError>({
      {"a name", str("{", a, ",", entry("a", "U8", "[1]", "[1,2]"), "}"), "duplicate key \"a\""},
      {"escaped", str("{", a, ",", entry("\\u0061", "U8", "[1]", "[1,2]"), "}"), "duplicate key \"a\""},
      {"dtype", "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"", "duplicate key \"dtype\""},
      {"metadata", "{\"__metadata__\":{},\"__metadata__\":{}}", "duplicate key \"__metadata__\""},
      {"in the metadata", "{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", "duplicate key \"k\""},
  });
}

TEST_CASE("entries that are not what the format says") {
  const auto offsets = [](std::string_view text) { return str("{", entry("a", "U8", "[1]", text), "}"); };
  // Negative, fractional, in quotes, beyond 64 and beyond 63 bits; too few, too many, no list.
  for (const char* text : {"[-1,0]", "[-0,1]", "[0,4.0]", "[0,1e2]", "[0,\"1\"]", "[0,18446744073709551616]",
                           "[0,9223372036854775808]", "[0]", "[0,1,1]", "[]", "null", "{\"0\":1}"}) {
    check_headers<FormatError>({{text, offsets(text), "\"a\": data_offsets is not two unsigned integers"}});
  }
  for (const char* text : {"[-1]", "[1.0]", "[\"1\"]", "[true]", "1"}) {
    const std::string header = str("{", entry("a", "U8", text, "[0,1]"), "}");
    check_headers<FormatError>({{text, header, "\"a\": shape is not a list of unsigned integers"}});
  }
  check_headers<FormatError>({
      {"reversed", offsets("[1,0]"), "\"a\": data_offsets 1 and 0 are reversed"},
      {"beyond 2^53", offsets("[9007199254740993,9007199254740994]"), "gap"},
      {"unknown dtype", "{" + entry("a", "F8_E4M3", "[1]", "[0,1]") + "}", "\"a\": dtype \"F8_E4M3\" is not known"},
      {"number for a dtype", "{\"a\":{\"dtype\":8}}", "\"a\": dtype is not a string"},
      {"unknown field", "{\"a\":{\"strides\":[1]}}", "\"a\": unknown field \"strides\""},
      {"no dtype", "{\"a\":{\"shape\":[],\"data_offsets\":[0,1]}}", "\"a\": dtype is missing"},
      {"no shape", "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", "\"a\": shape is missing"},
      {"no data_offsets", "{\"a\":{\"dtype\":\"U8\",\"shape\":[]}}", "\"a\": data_offsets is missing"},
      {"list for an entry", "{\"a\":[]}", "\"a\": is not an object"},
      {"number in the metadata", "{\"__metadata__\":{\"k\":1}}", "\"__metadata__\": \"k\" is not a string"},
      {"string for the metadata", "{\"__metadata__\":\"k\"}", "\"__metadata__\": is not an object"},
      {"array called metadata", "{" + entry("__metadata__", "U8", "[1]", "[0,1]") + "}", "\"shape\" is not a string"},
      {"a hostile name", "{\"\\u202e\\u0000\\n\":1}", "\"\\u202e\\u0000\\n\": is not an object"},
  });
}

TEST_CASE("shapes and offsets that do not fit the data") {
  const auto one = [](std::string_view dtype, std::string_view shape, std::string_view offsets, std::size_t bytes) {
    return file_bytes(str("{", entry("w", dtype, shape, offsets), "}"), std::string(bytes, '\0'));
  };
  const auto two = [](std::string_view a, std::string_view b, std::size_t bytes) {
    return file_bytes(str("{", entry("a", "U8", "[4]", a), ",", entry("b", "U8", "[4]", b), "}"),
                      std::string(bytes, '\0'));
  };
  check_files<FormatError>({
      {"fewer bytes than the shape", one("F32", "[16]", "[0,16]", 16),
       "\"w\": shape [16] of F32 takes 64 bytes, data_offsets span 16"},
      {"product of 2^64", one("U8", "[4294967296,4294967296]", "[0,0]", 0), "overflows"},
      {"product of 2^64 by the width", one("F64", "[2305843009213693952]", "[0,0]", 0), "overflows"},
      {"product of 2^64 next to a size of 0", one("F32", "[0,4294967296,4294967296]", "[0,0]", 0), "overflows"},
      {"large sizes behind a zero", one("U8", "[0,4294967296,4096]", "[0,1]", 1), "takes 0 bytes, data_offsets span 1"},
      {"a scalar of no bytes", one("U8", "[]", "[0,0]", 0), "takes 1 bytes, data_offsets span 0"},
      {"truncated", one("U8", "[4]", "[0,4]", 3), "\"w\": the file ends 1 bytes too early"},
      {"trailing byte", one("U8", "[4]", "[0,4]", 5), "1 bytes after the last array"},
      {"data and no arrays", file_bytes("{}", "x"), "1 bytes after the last array"},
      {"gap at the beginning", one("U8", "[4]", "[1,5]", 5), "\"w\": a gap of 1 bytes before it"},
      {"gap", two("[0,4]", "[8,12]", 12), "\"b\": a gap of 4 bytes before it"},
      {"overlap", two("[0,4]", "[2,6]", 6), "\"b\": overlaps another array by 2 bytes"},
      {"an empty array inside another",
       file_bytes("{" + entry("a", "U8", "[4]", "[0,4]") + "," + entry("b", "U8", "[0]", "[2,2]") + "}", "1234"),
       "\"b\": overlaps"},
      {"boolean 2", file_bytes("{" + entry("m", "BOOL", "[3]", "[0,3]") + "}", std::string("\0\1\2", 3)),
       "\"m\": element 2 is neither 0 nor 1 but 2"},
      {"unsigned beyond int64", file_bytes("{" + entry("n", "U64", "[1]", "[0,8]") + "}", std::string(8, '\xff')),
       "\"n\": element 0 is too large"},
  });
}

TEST_CASE("sizes beyond the limits") {
  std::string nines = "[1";
  for (int i = 0; i < 4999; ++i) nines += ",1";
  std::string many = "{";
  for (int i = 0; i < 100'001; ++i) append(many, str(i ? "," : "", entry(str(i), "U8", "[0]", "[0,0]")));
  check_headers<LimitError>({
      {"5000 axes", str("{", entry("a", "U8", nines + "]", "[0,1]"), "}"), "\"a\": has more than 8 axes"},
      {"a name of 1 MB", str("{", entry(std::string(1'000'000, 'n'), "U8", "[1]", "[0,1]"), "}"),
       "a name of 1000000 bytes, allowed are 4096"},
      {"many arrays", many + "}", "more than 100000 arrays"},
  });
}

TEST_CASE("arrays beyond memory are refused before any is read") {
  const TemporaryFolder folder;
  const std::string path = folder / "large.safetensors";
  const std::int64_t count = std::int64_t{1} << 40;
  write_text(path, file_bytes(str("{", entry("a", "F32", str("[", count, "]"), str("[0,", 4 * count, "]")), "}")));
  const auto header = static_cast<std::int64_t>(std::filesystem::file_size(path));
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(header + 4 * count));  // a hole, which takes no room
  CHECK_REFUSED(LimitError, load_safetensors(path), "load_safetensors", path,
                "its arrays take more than the memory of ");
  CHECK_THROWS_AS(read_file(path), LimitError);
}

/// Runs `work` once for every bit of the file, with that bit flipped, and counts how often it refuses.
template <class Work>
std::size_t with_every_bit_flipped(const std::filesystem::path& path, const Work& work) {
  const std::string bytes = read_text(path);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t i, char byte) {
    file.seekp(static_cast<std::streamoff>(i));
    file.put(byte).flush();
  };
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      put(i, static_cast<char>(bytes[i] ^ 1 << bit));
      try {
        work();
      } catch (const FormatError&) {
        ++refused;
      } catch (const LimitError&) {  // of the length of a name or the number of axes
        ++refused;
      }
    }
    put(i, bytes[i]);
  }
  return refused;
}

TEST_CASE("every flipped bit and every truncated file is found") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "f";
  save_safetensors(path, sample());
  CHECK(with_every_bit_flipped(path, [&] { load_safetensors(path); }) == 8 * read_text(path).size());
  CHECK_NOTHROW(load_safetensors(path));
  for (std::size_t size = std::filesystem::file_size(path); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    CAPTURE(size);
    error_of<FormatError>([&] { load_safetensors(path); });
  }
}

TEST_CASE("a wrong bit in a file without checksums is an error or other numbers, never a crash") {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_text(folder / "f", read_text(fixture_path("python.safetensors")));
  const std::size_t refused = with_every_bit_flipped(path, [&] { load_safetensors(path); });
  CHECK(refused > 8 * read_text(path).size() / 2);
}

TEST_CASE("a damaged array is named, and a long name is shortened in the message") {
  const TemporaryFolder folder;
  save_safetensors(folder / "f", {.arrays = {{"a", Array({2}, {1, 2})}, {"b", Array({2}, {3, 4})}}});
  std::string bytes = read_text(folder / "f");
  bytes.back() ^= 1;
  CHECK_REFUSED(FormatError, load_bytes(bytes), "load_safetensors", "\"b\": checksum mismatch");
  const std::string header = str("{", entry(std::string(4000, 'n'), "X", "[1]", "[0,1]"), "}");
  CHECK(error_of<FormatError>([&] { load_bytes(file_bytes(header)); }).size() < 300);
}

// ---- Bad arguments ----

TEST_CASE("reserved, broken and endless names are refused, and the old file stays") {
  const TemporaryFolder folder;
  const std::string path = folder / "f";
  write_text(path, "old");
  const Array x({1}, {1});
  const auto save = [&](const StateFile& state) { save_safetensors(path, state); };
  const char *reserved = "is reserved", *checksum = "xgrad.crc32", *allowed = "allowed are";
  const char* broken = "\"\\ufffd\" is not UTF-8";
  CHECK_REFUSED(ValueError, save({.arrays = {{"__metadata__", x}}}), "save_safetensors", "\"__metadata__\"", reserved);
  CHECK_REFUSED(ValueError, save({.metadata = {{checksum, "0"}}}), "save_safetensors", checksum, reserved);
  CHECK_REFUSED(ValueError, save({.arrays = {{"\xff", x}}}), "save_safetensors", broken);
  CHECK_REFUSED(ValueError, save({.metadata = {{"k", "\xff"}}}), "save_safetensors", broken);
  CHECK_REFUSED(LimitError, save({.arrays = {{std::string(4097, 'n'), x}}}), "save_safetensors", allowed);
  if (thorough()) {  // takes seconds
    CHECK_REFUSED(LimitError, save({.metadata = {{"k", std::string(100'000'001, 'n')}}}), "save_safetensors", allowed);
  }
  CHECK(read_text(path) == "old");
}

TEST_CASE("what is missing or of another kind is said by name") {
  const StateFile state = sample();
  CHECK_REFUSED(FormatError, state.get<Array>("none"), "state file", "array \"none\" is missing");
  CHECK_REFUSED(FormatError, state.get<Array>("ids"), "state file",
                "array \"ids\" holds integers, needs real numbers");
  CHECK_REFUSED(FormatError, state.text("none"), "state file", "metadata \"none\" is missing");
  CHECK(state.text("epoch") == "3");
}

TEST_CASE("paths that cannot be read or written are IoErrors with the system's reason") {
  const TemporaryFolder folder;
  CHECK_REFUSED(IoError, load_safetensors(folder / "none"), "load_safetensors", "No such file");
  CHECK_REFUSED(IoError, load_safetensors(folder.path()), "load_safetensors");
  CHECK_REFUSED(IoError, save_safetensors(folder.path(), {}), "save_safetensors");
}

}  // namespace
}  // namespace xgrad::testing
