// Folders, whole files, and the result line.
#include <kit/output.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include <kit/error.h>

namespace kit {
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

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.-/").find(c) != std::string_view::npos;
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

std::filesystem::path output_folder(std::string_view example, const std::filesystem::path& chosen) {
  const std::filesystem::path folder = chosen.empty() ? std::filesystem::path("out") / example : chosen;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error && !std::filesystem::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw IoError("cannot make folder " + folder.string() + ": " + error.message());
  return folder;
}

void save_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::path unfinished = path;
  unfinished += ".tmp";
  errno = 0;
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (!file) throw IoError::from_errno("write", unfinished);
  file.close();
  std::error_code error;
  std::filesystem::rename(unfinished, path, error);
  if (error) throw IoError("cannot write " + path.string() + ": " + error.message());
}

ResultLine& ResultLine::add(std::string_view name, const Field& value) {
  if (!is_name(name)) throw std::invalid_argument("result: '" + std::string(name) + "' cannot be a name");
  line_ += " " + std::string(name) + "=" + quoted_if_needed(value.text());
  return *this;
}

void ResultLine::print() const {
  errno = 0;
  std::cout << line_ + '\n' << std::flush;
  if (!std::cout) throw IoError::from_errno("write to", "standard output");
}

}  // namespace kit
