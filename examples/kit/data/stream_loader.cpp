// Lines out of pieces of a file, and the settings of a stream's loader.
#include <xgrad/kit/data/stream_loader.h>

#include <string_view>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

std::optional<std::string> Lines::Pass::operator()() {
  constexpr std::size_t piece = 1 << 16;
  std::size_t end = read_.find('\n', used_);
  while (end == std::string::npos) {
    read_.erase(0, std::exchange(used_, 0));
    const std::size_t before = read_.size();
    read_.resize(before + piece);
    read_.resize(before + file_.read({read_.data() + before, piece}));
    if (read_.size() == before) {
      if (read_.empty()) return {};
      end = before;
      break;
    }
    end = read_.find('\n', before);
  }
  std::string_view line = std::string_view(read_).substr(used_, end - used_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string result(line);
  used_ = std::min(end + 1, read_.size());
  return result;
}

void detail::check(const StreamLoaderOptions& options) {
  check_loader(options.batch_size, options.num_workers, options.prefetch_factor);
  check_at_least("shuffle_buffer", options.shuffle_buffer, 0);
}

std::string detail::settings_of(const StreamLoaderOptions& options) {
  return cat("a stream, batch_size ", options.batch_size, ", shuffle_buffer ", options.shuffle_buffer, ", drop_last ",
             options.drop_last, ", seed ", options.seed);
}

}  // namespace xgrad::kit
