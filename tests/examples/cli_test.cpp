// The options that examples share.
#include <doctest/doctest.h>

#include <CLI/CLI.hpp>

#include <kit/cli.h>

TEST_CASE("the shared options are read, checked and described") {
  CLI::App app("Trains.", "translate");
  kit::CommonOptions options;
  kit::add_common_options(app, options);
  CHECK_THROWS_AS(app.parse("--resume"), CLI::ExtrasError);
  kit::add_resume_option(app, options);
  app.parse("--seed 18446744073709551615 --out \"my run\" --threads 2 --resume");
  CHECK(options.seed == ~std::uint64_t{0});
  CHECK(options.out == "my run");
  CHECK(options.threads == 2);
  CHECK(options.resume);
  CHECK(app.help().find("out/translate") != std::string::npos);
  CHECK_THROWS_AS(app.parse("--threads -1"), CLI::ValidationError);
  CHECK_THROWS_AS(app.parse("--seed x"), CLI::ConversionError);
}
