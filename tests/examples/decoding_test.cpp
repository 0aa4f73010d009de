// What the searches cost on the worked table: the rows that they give to the model.
#include <doctest/doctest.h>

#include <decoding/table.h>

namespace decoding {
namespace {

TEST_CASE("Rows given to the model on the worked table: greedy 4, a beam at most 1 + k (T - 1), exhaustive 40") {
  constexpr std::int64_t T = 4;
  Table one, all, two;
  nn::greedy(one, {.bos = table_bos, .eos = table_eos, .max_length = T});
  CHECK(one.rows() == 4);
  nn::exhaustive_search(all, {.bos = table_bos, .eos = table_eos, .max_length = T});
  CHECK(all.rows() == 1 + 3 + 9 + 27);  // prefixes that have not ended
  nn::beam_search(two, {.bos = table_bos, .eos = table_eos, .max_length = T, .num_beams = 2});
  CHECK(two.rows() == 7);
  for (std::int64_t k = 1; k <= 5; ++k) {
    CAPTURE(k);
    Table beam;
    nn::beam_search(
        beam,
        {.bos = table_bos, .eos = table_eos, .max_length = T, .num_beams = k, .stopping = nn::Stopping::impossible});
    CHECK(beam.rows() <= 1 + k * (T - 1));
  }
}

}  // namespace
}  // namespace decoding
