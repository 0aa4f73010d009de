// Safetensors: eight bytes with the length of a header, the header in JSON, the elements of all arrays.
//
//     {"__metadata__": {"key": "text"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
//
// Two entries of the metadata are ours. "xgrad.checksum" says "crc32"; "xgrad.crc32" has one number for all other
// metadata and one for each array, in the order of their names. If either of them is lost, the other reveals it.
#include "safetensors.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "../base/error.h"
#include "../base/text.h"
#include "file.h"

namespace xgrad {
namespace {

static_assert(std::endian::native == std::endian::little, "the elements in a file are little-endian");

constexpr std::string_view load_op = "load_safetensors";
constexpr std::string_view save_op = "save_safetensors";
constexpr std::string_view metadata_key = "__metadata__";
constexpr std::string_view own_prefix = "xgrad.";
constexpr std::string_view algorithm_key = "xgrad.checksum";
constexpr std::string_view algorithm = "crc32";
constexpr std::string_view checksums_key = "xgrad.crc32";

using detail::max_header_bytes;
constexpr std::int64_t max_arrays = 100'000;
constexpr std::int64_t max_name_bytes = 4096;

/// The file and the array in it that an error is about.
struct ArrayInFile {
  const std::string& path;
  std::string_view name;

  template <class E, class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    xgrad::fail<E>(load_op, path, ": ", escaped(name), ": ", parts...);
  }
};

// ---- Element types ----

/// IEEE half precision: 1 bit of sign, 5 of exponent, 10 of fraction.
struct Half {
  std::uint16_t bits;
  explicit operator Real() const {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    Real size;
    if (exponent == 31) {
      size = fraction ? std::numeric_limits<Real>::quiet_NaN() : std::numeric_limits<Real>::infinity();
    } else {
      size = std::ldexp(Real(exponent ? fraction + 1024 : fraction), std::max(exponent, 1) - 25);
    }
    return bits >> 15 ? -size : size;
  }
};

/// The upper half of a float.
struct BrainFloat {
  std::uint16_t bits;
  explicit operator Real() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

/// A byte that has to be 0 or 1.
struct Boolean {
  std::uint8_t byte;
  explicit operator bool() const { return byte != 0; }
};

template <class To, class From>
AnyArray convert(std::string_view bytes, const Shape& shape, const ArrayInFile& where) {
  BasicArray<To> result(shape);
  To* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i, bytes.remove_prefix(sizeof(From))) {
    From value;
    std::memcpy(&value, bytes.data(), sizeof(From));
    if constexpr (std::same_as<From, Boolean>) {
      if (value.byte > 1) where.fail<FormatError>("element ", i, " is neither 0 nor 1 but ", int{value.byte});
    }
    if constexpr (std::same_as<From, std::uint64_t>) {
      if (!std::in_range<std::int64_t>(value)) where.fail<FormatError>("element ", i, " is too large: ", value);
    }
    out[i] = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): bytes are numbers here
  }
  return result;
}

struct Dtype {
  std::string_view name;
  std::int64_t bytes;       // of an element in the file
  std::int64_t bytes_here;  // and in an array
  AnyArray (*read)(std::string_view bytes, const Shape& shape, const ArrayInFile& where);
};

template <class To, class From>
constexpr Dtype dtype(std::string_view name) {
  return {name, sizeof(From), sizeof(To), convert<To, From>};
}

constexpr Dtype dtypes[] = {
    dtype<Real, double>("F64"),
    dtype<Real, float>("F32"),
    dtype<Real, Half>("F16"),
    dtype<Real, BrainFloat>("BF16"),
    dtype<std::int64_t, std::int64_t>("I64"),
    dtype<std::int64_t, std::int32_t>("I32"),
    dtype<std::int64_t, std::int16_t>("I16"),
    dtype<std::int64_t, std::int8_t>("I8"),
    dtype<std::int64_t, std::uint64_t>("U64"),
    dtype<std::int64_t, std::uint32_t>("U32"),
    dtype<std::int64_t, std::uint16_t>("U16"),
    dtype<std::int64_t, std::uint8_t>("U8"),
    dtype<bool, Boolean>("BOOL"),
};

// ---- Headers ----

/// The entry of an array in a header.
struct Entry {
  const Dtype* dtype = nullptr;
  Shape shape;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct Header {
  std::map<std::string, Entry, std::less<>> entries;
  Metadata metadata;
};

/// Receives the parser's events and refuses everything that does not belong in a header. The parser keeps a stack of
/// its own, so brackets without end cost no recursion. Not by read_json: the destructor of nlohmann::json asks for
/// memory, and ends the program where there is none.
class HeaderReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& path) : path_(path) {}

  Header take() { return std::move(header_); }

  bool null() override { refuse(); }
  bool boolean(bool) override { refuse(); }
  bool number_integer(std::int64_t) override { refuse(); }
  bool number_float(double, const std::string&) override { refuse(); }
  bool binary(binary_t&) override { refuse(); }

  bool number_unsigned(std::uint64_t number) override {
    if (depth_ != 3 || !std::in_range<std::int64_t>(number)) refuse();
    if (field_ == "data_offsets" && numbers_.size() == 2) refuse();
    if (numbers_.size() == max_rank) where().fail<LimitError>("has more than ", max_rank, " axes");
    numbers_.push_back(static_cast<std::int64_t>(number));
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ != 2) refuse();
    if (in_metadata()) {
      header_.metadata.emplace(field_, std::move(text));
    } else {
      if (field_ != "dtype") refuse();
      entry_.dtype = std::ranges::find(dtypes, text, &Dtype::name);
      if (entry_.dtype == std::end(dtypes)) where().fail<FormatError>("dtype ", escaped(text), " is not known");
    }
    return true;
  }

  bool key(std::string& text) override {
    if (std::ssize(text) > max_name_bytes) {
      fail<LimitError>(load_op, path_, ": a name of ", text.size(), " bytes, allowed are ", max_name_bytes);
    }
    std::string& name = depth_ == 1 ? name_ : field_;
    name = std::move(text);
    const bool known = depth_ == 1
                           ? (in_metadata() ? std::exchange(has_metadata_, true) : header_.entries.contains(name_))
                       : in_metadata() ? header_.metadata.contains(field_)
                                       : std::ranges::count(fields_, field_) != 0;
    if (known) fail<FormatError>(load_op, path_, ": duplicate key ", escaped(name));
    if (depth_ == 2) fields_.push_back(field_);
    return true;
  }

  bool start_object(std::size_t) override {
    open_bracket(depth_ < 2);
    if (depth_ == 2) {
      entry_ = {};
      fields_.clear();
    }
    return true;
  }

  bool end_object() override {
    if (--depth_ == 1 && !in_metadata()) add_entry();
    return true;
  }

  bool start_array(std::size_t) override {
    open_bracket(depth_ == 2 && !in_metadata() && (field_ == "shape" || field_ == "data_offsets"));
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    --depth_;
    if (field_ == "shape") {
      entry_.shape = Shape(std::span<const std::int64_t>(numbers_));
    } else {
      if (numbers_.size() != 2) refuse();
      entry_.begin = numbers_[0];
      entry_.end = numbers_[1];
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    fail<FormatError>(load_op, path_, ": the header is not valid JSON at byte ",
                      8 + std::max<std::size_t>(position, 1) - 1);
  }

 private:
  ArrayInFile where() const { return {path_, name_}; }
  bool in_metadata() const { return name_ == metadata_key; }

  void open_bracket(bool expected) {
    if (depth_ == 3) where().fail<FormatError>("brackets are nested deeper than 3");
    if (!expected) refuse();
    ++depth_;
  }

  /// Refuses a value of the wrong kind.
  [[noreturn]] void refuse() const {
    if (depth_ == 0) fail<FormatError>(load_op, path_, ": the header is not an object");
    if (depth_ == 1) where().fail<FormatError>("is not an object");
    if (in_metadata()) where().fail<FormatError>(escaped(field_), " is not a string");
    if (field_ == "dtype") where().fail<FormatError>("dtype is not a string");
    if (field_ == "shape") where().fail<FormatError>("shape is not a list of unsigned integers");
    if (field_ == "data_offsets") where().fail<FormatError>("data_offsets is not two unsigned integers");
    where().fail<FormatError>("unknown field ", escaped(field_));
  }

  void add_entry() {
    for (const char* field : {"dtype", "shape", "data_offsets"}) {
      if (std::ranges::count(fields_, field) == 0) where().fail<FormatError>(field, " is missing");
    }
    if (entry_.begin > entry_.end) {
      where().fail<FormatError>("data_offsets ", entry_.begin, " and ", entry_.end, " are reversed");
    }
    const std::int64_t span = entry_.end - entry_.begin;
    std::int64_t bytes = 0;
    try {
      bytes = entry_.shape.numel() * entry_.dtype->bytes;
    } catch (const LimitError&) {
      where().fail<FormatError>("the size of shape ", entry_.shape, " overflows");
    }
    if (bytes != span) {
      where().fail<FormatError>("shape ", entry_.shape, " of ", entry_.dtype->name, " takes ", bytes,
                                " bytes, data_offsets span ", span);
    }
    if (std::ssize(header_.entries) == max_arrays) {
      fail<LimitError>(load_op, path_, ": more than ", max_arrays, " arrays");
    }
    header_.entries.emplace(name_, entry_);
  }

  const std::string& path_;
  Header header_;
  int depth_ = 0;  // of open brackets
  bool has_metadata_ = false;
  std::string name_;                   // the last key at depth 1
  std::string field_;                  // the last key at depth 2
  std::vector<std::string> fields_;    // all keys of this object at depth 2
  std::vector<std::int64_t> numbers_;  // of this list at depth 3
  Entry entry_;
};

/// A guess at the kind of a file without a safetensors header.
std::string_view guess(std::string_view start) {
  if (start.starts_with("\x1f\x8b")) return " (it looks like gzip)";
  if (start.starts_with("PK\x03\x04")) return " (it looks like a zip archive, perhaps of pickled objects)";
  if (start.starts_with("version ")) return " (it looks like a Git LFS pointer)";
  if (start.starts_with("<")) return " (it looks like HTML)";
  return "";
}

std::string read_header(const InputFile& file) {
  if (file.size() < 8) fail<FormatError>(load_op, file.path(), ": too small (", file.size(), " bytes, need 8)");
  const std::string start = file.read(0, 8);
  std::uint64_t length;
  std::memcpy(&length, start.data(), sizeof length);
  if (std::cmp_greater(length, file.size() - 8)) {
    fail<FormatError>(load_op, file.path(), ": a header of ", length, " bytes does not fit a file of ", file.size(),
                      " bytes", guess(start));
  }
  if (std::cmp_greater(length, max_header_bytes)) {
    fail<LimitError>(load_op, file.path(), ": a header of ", length, " bytes, allowed are ", max_header_bytes);
  }
  std::string header = file.read(8, static_cast<std::int64_t>(length));
  // The parser would skip a byte order mark and leading blanks, and take a NUL for the end.
  if (!header.starts_with('{')) fail<FormatError>(load_op, file.path(), ": the header does not begin with { at byte 8");
  if (const std::size_t nul = header.find('\0'); nul != std::string::npos) {
    fail<FormatError>(load_op, file.path(), ": the header has a NUL at byte ", 8 + nul);
  }
  return header;
}

/// The arrays must fill the file after its header, without holes and without sharing a byte.
void check_layout(const std::string& path, const Header& header, std::int64_t data_size) {
  using Item = std::pair<const std::string, Entry>;
  std::vector<const Item*> items;
  for (const Item& item : header.entries) items.push_back(&item);
  std::ranges::sort(items, {}, [](const Item* item) { return std::pair(item->second.begin, item->second.end); });
  std::int64_t position = 0;
  for (const Item* item : items) {
    const auto& [name, entry] = *item;
    const ArrayInFile where{path, name};
    if (entry.begin > position) where.fail<FormatError>("a gap of ", entry.begin - position, " bytes before it");
    if (entry.begin < position) where.fail<FormatError>("overlaps another array by ", position - entry.begin, " bytes");
    if (entry.end > data_size) where.fail<FormatError>("the file ends ", entry.end - data_size, " bytes too early");
    position = entry.end;
  }
  if (position < data_size) {
    fail<FormatError>(load_op, path, ": ", data_size - position, " bytes after the last array");
  }
}

/// The arrays must fit into memory, as they will be there.
void check_memory(const std::string& path, const Header& header) {
  std::int64_t left = machine_memory();
  for (const auto& [name, entry] : header.entries) {
    const std::int64_t more = entry.shape.numel() * entry.dtype->bytes_here;
    if (more > left) {
      fail<LimitError>(load_op, path, ": its arrays take more than the memory of ", machine_memory(), " bytes");
    }
    left -= more;
  }
}

// ---- Checksums ----

/// The CRC-32 of two texts, one after the other, in eight hexadecimal digits.
std::string checksum(std::string_view first, std::string_view second) {
  std::uint32_t sum = 0;
  for (const std::string_view bytes : {first, second}) {
    if (!bytes.empty()) {
      sum = static_cast<std::uint32_t>(crc32_z(sum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    }
  }
  char digits[8];
  const auto end = std::to_chars(digits, digits + 8, sum, 16).ptr;
  return std::string(static_cast<std::size_t>(digits + 8 - end), '0').append(digits, end);
}

std::string checksum(const Metadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    if (!key.starts_with(own_prefix)) append(text, str(key, '\0', value, '\0'));
  }
  return checksum(text, "");
}

/// The checksums of a file, each with a blank after it; nothing if it has none.
std::string checksums_of(const std::string& path, const Header& header) {
  const auto name = header.metadata.find(algorithm_key), sums = header.metadata.find(checksums_key);
  const auto end = header.metadata.end();
  if (name == end && sums == end) return "";
  if (name == end || sums == end || name->second != algorithm || sums->second.size() != 9 * header.entries.size() + 8) {
    fail<FormatError>(load_op, path, ": the checksums are damaged");
  }
  return str(sums->second, ' ');
}

// ---- Writing ----

/// The elements of an array as they are stored.
struct Stored {
  std::string_view dtype;
  std::string_view bytes;
  Shape shape;
};

template <class T>
Stored store(const BasicArray<T>& array) {
  constexpr std::string_view dtype = std::same_as<T, double>         ? "F64"
                                     : std::same_as<T, float>        ? "F32"
                                     : std::same_as<T, std::int64_t> ? "I64"
                                                                     : "BOOL";
  return {dtype,
          {reinterpret_cast<const char*>(array.data()), sizeof(T) * static_cast<std::size_t>(array.size())},
          array.shape()};
}

/// The text as a JSON string. Throws ValueError unless it is UTF-8.
std::string json_string(std::string_view text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    fail<ValueError>(save_op, escaped(text), " is not UTF-8");
  }
}

void check_name(std::string_view name, bool reserved) {
  if (reserved) fail<ValueError>(save_op, "the name ", escaped(name), " is reserved");
  if (std::ssize(name) > max_name_bytes) {
    fail<LimitError>(save_op, "a name of ", name.size(), " bytes, allowed are ", max_name_bytes);
  }
}

}  // namespace

void save_safetensors(const std::string& path, const StateFile& content) {
  for (const auto& [key, value] : content.metadata) check_name(key, key.starts_with(own_prefix));
  for (const auto& [name, array] : content.arrays) check_name(name, name == metadata_key);
  if (std::ssize(content.arrays) > max_arrays) {
    fail<LimitError>(save_op, content.arrays.size(), " arrays, allowed are ", max_arrays);
  }

  Metadata metadata = content.metadata;
  metadata.emplace("format", "pt");
  std::string sums = checksum(metadata);
  std::vector<std::pair<std::string_view, Stored>> items;
  for (const auto& [name, array] : content.arrays) {
    const Stored stored = std::visit([](const auto& values) { return store(values); }, array);
    append(sums, str(' ', checksum(str(name, '\0', stored.dtype, stored.shape), stored.bytes)));
    items.emplace_back(name, stored);
  }
  metadata.emplace(algorithm_key, algorithm);
  metadata.emplace(checksums_key, sums);
  // After wider elements narrower ones are always aligned. The names are in order already.
  constexpr std::string_view order[] = {"I64", "F64", "F32", "BOOL"};
  std::ranges::stable_sort(items, {}, [&](const auto& item) { return std::ranges::find(order, item.second.dtype); });

  std::string header = str("{", json_string(metadata_key), ":{");
  for (const char* separator = ""; const auto& [key, value] : metadata) {
    append(header, str(std::exchange(separator, ","), json_string(key), ":", json_string(value)));
  }
  header += '}';
  std::size_t position = 0;
  for (const auto& [name, stored] : items) {
    const std::size_t end = position + stored.bytes.size();
    append(header, str(",", json_string(name), ":{\"dtype\":\"", stored.dtype, "\",\"shape\":", stored.shape,
                       ",\"data_offsets\":[", position, ",", end, "]}"));
    position = end;
  }
  header += '}';
  header.append((8 - header.size() % 8) % 8, ' ');
  if (std::ssize(header) > max_header_bytes) {
    fail<LimitError>(save_op, "a header of ", header.size(), " bytes, allowed are ", max_header_bytes);
  }

  const std::uint64_t length = header.size();
  std::vector<std::string_view> pieces{{reinterpret_cast<const char*>(&length), sizeof length}, header};
  for (const auto& [name, stored] : items) pieces.push_back(stored.bytes);
  write_file_atomically(path, pieces, save_op);
}

StateFile load_safetensors(const std::string& path) {
  const InputFile file(path, load_op);
  const std::string text = read_header(file);
  HeaderReader reader(path);
  nlohmann::json::sax_parse(text, &reader);
  Header header = reader.take();
  const std::int64_t data_begin = 8 + std::ssize(text);
  check_layout(path, header, file.size() - data_begin);
  check_memory(path, header);

  const std::string sums = checksums_of(path, header);
  auto verify = [&, next = std::size_t{0}](std::string_view name, const std::string& sum) mutable {
    if (sums.compare(next, 9, str(sum, ' ')) != 0) ArrayInFile{path, name}.fail<FormatError>("checksum mismatch");
    next += 9;
  };
  if (!sums.empty()) verify(metadata_key, checksum(header.metadata));
  StateFile content{.source = path};
  for (const auto& [name, entry] : header.entries) {
    const ArrayInFile where{path, name};
    const std::string bytes = file.read(data_begin + entry.begin, entry.end - entry.begin);
    if (!sums.empty()) verify(name, checksum(str(name, '\0', entry.dtype->name, entry.shape), bytes));
    content.arrays.emplace_hint(content.arrays.end(), name, entry.dtype->read(bytes, entry.shape, where));
  }
  std::erase_if(header.metadata, [](const auto& entry) { return entry.first.starts_with(own_prefix); });
  content.metadata = std::move(header.metadata);
  return content;
}

}  // namespace xgrad
