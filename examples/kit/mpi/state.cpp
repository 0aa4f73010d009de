// Names, shapes and numbers one after the other.
#include <xgrad/kit/mpi/state.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <variant>

namespace xgrad::mpi::detail {
namespace {

void put(std::string& bytes, std::int64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put(std::string& bytes, const std::string& text) {
  put(bytes, std::ssize(text));
  bytes += text;
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}

  std::int64_t number() {
    std::int64_t value = 0;
    copy(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string value(static_cast<std::size_t>(number()), '\0');
    copy(value.data(), value.size());
    return value;
  }
  template <class T>
  BasicArray<T> array() {
    Shape shape;
    for (std::int64_t axes = number(); axes > 0; --axes) shape.push_back(number());
    BasicArray<T> value(shape);
    copy(value.mutable_data(), static_cast<std::size_t>(value.size()) * sizeof(T));
    return value;
  }

 private:
  void copy(void* to, std::size_t size) {
    if (size > 0) std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::string packed(const StateFile& state) {
  std::string bytes;
  put(bytes, std::ssize(state.metadata));
  for (const auto& [name, text] : state.metadata) {
    put(bytes, name);
    put(bytes, text);
  }
  put(bytes, std::ssize(state.arrays));
  for (const auto& [name, array] : state.arrays) {
    put(bytes, name);
    put(bytes, static_cast<std::int64_t>(array.index()));
    std::visit(
        [&](const auto& values) {
          put(bytes, values.rank());
          for (const std::int64_t size : values.shape()) put(bytes, size);
          const auto raw = std::as_bytes(std::span(values.begin(), values.end()));
          bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
        },
        array);
  }
  return bytes;
}

StateFile unpacked(const std::string& bytes) {
  Reader from(bytes);
  StateFile state;
  for (std::int64_t n = from.number(); n > 0; --n) {
    std::string name = from.text();
    state.metadata[std::move(name)] = from.text();
  }
  for (std::int64_t n = from.number(); n > 0; --n) {
    std::string name = from.text();
    AnyArray& value = state.arrays[std::move(name)];
    switch (from.number()) {
      case 0: value = from.array<Real>(); break;
      case 1: value = from.array<std::int64_t>(); break;
      default: value = from.array<bool>();
    }
  }
  return state;
}

}  // namespace xgrad::mpi::detail
