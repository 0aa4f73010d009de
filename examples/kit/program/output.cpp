// Folders, whole files, and the result line.
#include <xgrad/kit/program/output.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <system_error>

#include <xgrad/core/files/file.h>
#include <xgrad/kit/program/error.h>

namespace xgrad::kit {
namespace {

std::string quoted_if_needed(std::string_view value) {
  const auto plain = [](unsigned char c) { return c > ' ' && c != 0x7F && c != '"' && c != '\\'; };
  if (!value.empty() && std::all_of(value.begin(), value.end(), plain)) return std::string(value);
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' || c == 0x7F ? ' ' : c;
  }
  return result + '"';
}

/// Writes a little into the folder. The file loses its name before it gets its content: nothing can be left behind.
void try_to_write(const std::filesystem::path& folder) {
  std::string name = (folder / ".writable-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0) throw io_error("write to folder", folder);
  unlink(name.c_str());
  const std::string content(4096, ' ');
  errno = ENOSPC;  // the meaning of a partial write
  const bool written = write(file, content.data(), content.size()) == std::ssize(content);
  const int reason = errno;
  close(file);
  errno = reason;
  if (!written) throw io_error("write to folder", folder);
}

}  // namespace

std::filesystem::path output_folder(std::string_view example, const std::filesystem::path& chosen) {
  const std::filesystem::path folder = chosen.empty() ? std::filesystem::path("out") / example : chosen;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && !std::filesystem::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw IoError("cannot make folder " + folder.string() + ": " + error.message());
  try_to_write(folder);
  return folder;
}

void save_text(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path.string(), {&text, 1}, "save_text");
}

ResultLine& ResultLine::add(std::string_view name, const Field& value) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/";
  if (name.empty() || name.find_first_not_of(allowed) != name.npos) {
    fail<ValueError>("result", "'", name, "' cannot be a name");
  }
  line_ += str(" ", name, "=", quoted_if_needed(value.text()));
  return *this;
}

void ResultLine::print() const {
  if (!std::cout) throw IoError("cannot write to standard output: earlier lines were lost");
  if (!(std::cout << line_ + '\n' << std::flush)) throw io_error("write to", "standard output");
}

}  // namespace xgrad::kit
