// From a file of sentence pairs to arrays of ids; decoding and the width of texts.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>

#include <xgrad/kit/files/text_file.h>
#include <xgrad/core/array/random.h>
#include <xgrad/kit/program/error.h>
#include <xgrad/kit/program/fingerprint.h>
#include <xgrad/kit/text/corpus.h>
#include <xgrad/kit/text/text.h>
#include <xgrad/kit/unicode/unicode.h>
#include <xgrad/ops/elementwise/compare.h>

#include "support.h"

namespace xgrad::kit::testing {
namespace {

using detail::read_pairs, detail::SentencePair, detail::Split, detail::split_at;

std::vector<Tokens> sentences(std::initializer_list<std::string_view> texts) {
  std::vector<Tokens> result;
  for (const std::string_view text : texts) result.push_back(words(text));
  return result;
}

/// The reason why such a text is not read, with its line.
std::string refusal_of_pairs(std::string_view text) {
  const TemporaryFolder folder;
  const auto path = write_text(folder / "pairs", text);
  return refusal<DataError>(folder, [&] { read_pairs(path); });
}

}  // namespace

TEST_CASE("pairs are read from what people's files look like") {
  const TemporaryFolder folder;
  const std::vector<SentencePair> expected = {{"Go.", "Va !"}, {"Run!", "Cours !"}};
  for (const char* text :
       {"Go.\tVa !\nRun!\tCours !\n", "Go.\tVa !\nRun!\tCours !",
        // A third column, as downloads have today.
        "Go.\tVa !\tCC-BY 2.0\nRun!\tCours !\tCC-BY\tmore\n",
        // A byte order mark, CRLF and empty lines; no-break spaces, and spaces around.
        "\xEF\xBB\xBFGo.\tVa !\r\n\r\n  \nRun!\tCours !\r\n", " Go. \tVa\u202F!\nRun!\tCours\u00A0! \n"}) {
    CAPTURE(text);
    CHECK(read_pairs(write_text(folder / "f", text)) == expected);
    CHECK(read_pairs(write_gzip(folder / "f.gz", text)) == expected);
  }
  CHECK(read_pairs(write_text(folder / "f", "")).empty());
}

TEST_CASE("a line may be longer than the buffer it is read through") {
  const TemporaryFolder folder;
  const std::string word(100'000, 'a');
  const auto pairs = read_pairs(write_text(folder / "f", "x\ty\n" + word + "\tb\nGo.\tVa !\n"));
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[1].source == word);
  CHECK(pairs[2].target == "Va !");
}

TEST_CASE("what is no such text is refused with its line") {
  CHECK(refusal_of_pairs("Go.\tVa !\n\nRun! Cours !\n") ==
        "pairs:3: expected source<TAB>target, found no tab in \"Run! Cours !\"");
  for (const char* text : {"Go.\t\n", "Go.\t\tCC-BY 2.0\n"}) {
    CHECK(refusal_of_pairs(text) == "pairs:1: expected source<TAB>target, found an empty target");
  }
  CHECK(refusal_of_pairs("a\tb\n\tVa !\n") == "pairs:2: expected source<TAB>target, found an empty source");
  CHECK(refusal_of_pairs("Go.\t\xC9t\xE9\n") == "pairs:1: bytes that are not UTF-8");
  CHECK(refusal_of_pairs(std::string("Go.\tV\0a\n", 8)) == "pairs:1: a zero byte");
  CHECK(refusal_of_pairs("<!DOCTYPE html>\n") ==
        "pairs:1: expected source<TAB>target, found no tab in \"<!DOCTYPE html>\"");
  CHECK(refusal_of_pairs("a\tb\n" + std::string(3 << 20, 'x')) == "pairs:2: longer than 1 MiB: not a text file?");
  const TemporaryFolder folder;
  const std::string longest(1 << 20, 'x');
  CHECK(read_lines(write_text(folder / "f", longest + "\n")) == std::vector<std::string>{longest});
  CHECK_THROWS_AS(read_lines(write_text(folder / "f", longest + "x\n")), DataError);
}

TEST_CASE("files that cannot be read are errors with a reason") {
  const TemporaryFolder folder;
  const auto said = [&](const std::filesystem::path& path) {
    return refusal<IoError>(folder, [&] { read_pairs(path); });
  };
  CHECK(said(folder / "missing.tsv") == "cannot open missing.tsv: No such file or directory");
  CHECK(said(folder.path()) == "cannot read " + folder.path().string() + ": not a regular file");
  const auto pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);  // it has no writer
  CHECK(said(pipe) == "cannot read pipe: not a regular file");
  CHECK_THROWS_AS(read_pairs("/dev/zero"), IoError);
  CHECK_THROWS_AS(read_lines(pipe), IoError);

  std::string text;
  for (int i = 0; i < 5000; ++i) text += "sentence " + std::to_string(i * 7919) + "\tphrase\n";
  std::string packed = read_text(write_gzip(folder / "f.gz", text));
  CHECK_THROWS_AS(read_pairs(write_text(folder / "cut.gz", packed.substr(0, packed.size() / 2))), IoError);
  packed[packed.size() - 6] ^= 1;  // in the checksum
  CHECK_THROWS_AS(read_pairs(write_text(folder / "damaged.gz", packed)), IoError);
}

TEST_CASE("lines and whole texts are read with any line ends, and only if they are text") {
  const TemporaryFolder folder;
  const auto lines = [&](std::string_view text) { return read_lines(write_text(folder / "f", text)); };
  CHECK(lines("\xEF\xBB\xBFone\r\n\ntwo") == std::vector<std::string>{"one", "", "two"});
  CHECK(lines("").empty());
  CHECK(read_lines(write_gzip(folder / "f.gz", "one\n")) == std::vector<std::string>{"one"});
  const auto whole = [&](std::string_view text) { return load_text(write_text(folder / "f", text)); };
  CHECK(whole("\xEF\xBB\xBFone\r\n\ntwo\rthree\r\n four") == "one\n\ntwo\rthree\n four");
  CHECK(whole("").empty());
  CHECK(whole("a\r\n") == "a\n");
  CHECK(whole("a\r") == "a\r");
  CHECK(whole(std::string(3 << 20, 'x')) == std::string(3 << 20, 'x'));  // also in a single line
  CHECK(load_text(folder / "f.gz") == "one\n");
  for (const auto& wrong : {std::pair(std::string("one\n\xC9t\xE9\n"), "f:2: bytes that are not UTF-8"),
                            std::pair(std::string("a\n\nb\0", 5), "f:3: a zero byte")}) {
    CHECK(refusal<DataError>(folder, [&] { lines(wrong.first); }) == wrong.second);
    CHECK(refusal<DataError>(folder, [&] { whole(wrong.first); }) == wrong.second);
  }
  CHECK_THROWS_AS(load_text(folder / "none"), IoError);
  CHECK_THROWS_AS(load_text(folder.path()), IoError);
}

TEST_CASE("a fingerprint is FNV-1a, and goes on where another stopped") {
  CHECK(fingerprint("") == 0xcbf29ce484222325);
  CHECK(fingerprint("a") == 0xaf63dc4c8601ec8c);
  CHECK(fingerprint("foobar") == 0x85944171f73967e8);
  CHECK(fingerprint("bar", fingerprint("foo")) == fingerprint("foobar"));
}

TEST_CASE("lower case knows the letters of French and its neighbours") {
  CHECK(lower_case("ÀÂÆÇÉÈÊËÎÏÔŒÙÛÜŸ") == "àâæçéèêëîïôœùûüÿ");
  CHECK(lower_case("ŁÓDŹ ŽŇ ĞÑÖß × ÷") == "łódź žň ğñöß × ÷");
  CHECK(lower_case("déjà 猫") == "déjà 猫");
  CHECK(lower_case("ЖАР ΛΌΓΟΣ İ") == "жар λόγοσ i");
}

TEST_CASE("preprocessing separates the marks from the words") {
  CHECK(preprocess("Ça va, Tom ?") == "ça va , tom ?");
  CHECK(preprocess("Go.") == "go .");
  CHECK(preprocess("Va\u202F!") == "va !");
  CHECK(preprocess("I'm home.") == "i'm home .");
  CHECK(preprocess("Wait...") == "wait . . .");
  CHECK(preprocess("!") == "!");
  CHECK(preprocess("").empty());
}

TEST_CASE("words are what stands between spaces") {
  CHECK(words("  j'ai  perdu . ") == Tokens{"j'ai", "perdu", "."});
  CHECK(words("   ").empty());
  CHECK(joined(words(" j'ai  perdu .")) == "j'ai perdu .");
  CHECK(joined(Tokens{}).empty());
}

TEST_CASE("a vocabulary ranks by frequency, then in byte order, behind the reserved tokens") {
  const auto text = sentences({"b a c .", "a b .", "c d .", "e"});
  const Vocab vocab(text, {.min_freq = 2});
  CHECK(vocab.tokens() == Tokens{"<pad>", "<bos>", "<eos>", "<unk>", ".", "a", "b", "c"});
  CHECK(vocab.id("<pad>") == 0);
  CHECK(vocab.id("a") == 5);
  CHECK(vocab.id("d") == 3);
  CHECK(vocab.token(7) == "c");
  CHECK(vocab.size() == 8);
  CHECK(vocab.contains("c"));
  CHECK_FALSE(vocab.contains("d"));
  CHECK_THROWS_WITH_AS(vocab.token(8), "vocab: id 8 is not in [0, 8)", ValueError);
  CHECK_THROWS_AS(vocab.token(-1), ValueError);

  auto reordered = text;
  std::reverse(reordered.begin(), reordered.end());
  CHECK(Vocab(reordered, {.min_freq = 2}).tokens() == vocab.tokens());
  CHECK(Vocab(vocab.tokens()).id("b") == vocab.id("b"));
}

TEST_CASE("reserved tokens are counted once, and unknown ones need <unk>") {
  const auto text = sentences({"<eos> a <eos>"});
  CHECK(Vocab(text).tokens() == Tokens{"<pad>", "<bos>", "<eos>", "<unk>", "a"});
  const Vocab plain(text, {.reserved = {}});
  CHECK(plain.tokens() == Tokens{"<eos>", "a"});
  CHECK_THROWS_WITH_AS(plain.id("b"), "vocab: unknown token 'b' and no <unk>", ValueError);
  CHECK_THROWS_WITH_AS(Vocab(text, {.reserved = {"x", "x"}}), "vocab: token 'x' is given twice", ValueError);
}

TEST_CASE("sentences become rows of ids with <eos>, padding and their lengths") {
  const Vocab vocab(sentences({"a b c"}));
  const auto array = to_array(sentences({"a", "c b", "a b c", "a zebra", ""}), vocab, 3);
  const std::int64_t pad = 0, eos = 2, unk = 3, a = 4, b = 5, c = 6;
  CHECK(equal(array.ids, Index({5, 3}, {a, eos, pad, c, b, eos, a, b, c, a, unk, eos, eos, pad, pad})));
  CHECK(equal(array.lengths, Index({5}, {2, 3, 3, 3, 1})));
  CHECK(to_array({}, vocab, 3).ids.shape() == Shape{0, 3});
  CHECK(to_array({}, vocab, 1).ids.shape() == Shape{0, 1});

  CHECK_THROWS_AS(to_array({}, vocab, 0), ValueError);
  CHECK_REFUSED(ValueError, to_array({}, Vocab(Tokens{"<pad>"}), 3), "to_array", "the vocabulary has no <eos>");
}

TEST_CASE("held-out sentences were not seen in training, whatever their translation") {
  const std::vector<SentencePair> pairs = {
      {"Go.", "Va !"}, {"Run!", "Cours !"}, {"Run!", "Courez !"}, {"Wait.", "Attends."}, {"go.", "Allez !"}};
  const Split first = split_at(pairs, 2);
  CHECK(first.train == std::vector<SentencePair>{pairs[0], pairs[1]});
  CHECK(first.held_out == std::vector<SentencePair>{pairs[3]});
  CHECK(split_at(pairs, 9).train == pairs);
}

TEST_CASE("the bundled corpus keeps what its description promises") {
  const auto pairs = read_pairs(std::filesystem::path(XGRAD_EXAMPLES_DIR) / "translate/data/en-fr.tsv");
  REQUIRE(pairs.size() == 760);
  std::vector<Tokens> source, target;
  for (const auto& pair : pairs) {
    source.push_back(words(preprocess(pair.source)));
    target.push_back(words(preprocess(pair.target)));
    CHECK(source.back().size() <= 8);
    CHECK(target.back().size() <= 8);
  }
  CHECK(std::is_sorted(pairs.begin(), pairs.end(),
                       [](const auto& a, const auto& b) { return a.source.size() < b.source.size(); }));

  const std::vector<SentencePair> in_the_page{
      {"Go.", "Va !"}, {"I lost.", "J'ai perdu."}, {"He's calm.", "Il est calme."}, {"I'm home.", "Je suis chez moi."}};
  for (const SentencePair& known : in_the_page) {
    CHECK(std::count(pairs.begin(), pairs.begin() + 600, known) == 1);
    CHECK(std::count_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.source == known.source; }) ==
          1);
  }

  const std::span<const Tokens> train_source(source.data(), 600), train_target(target.data(), 600);
  CHECK(Vocab(train_source).size() == 4 + 162);
  CHECK(Vocab(train_source, {.min_freq = 2}).size() == 4 + 160);
  CHECK(Vocab(train_target).size() == 4 + 245);
  CHECK(Vocab(train_target, {.min_freq = 2}).size() == 4 + 224);
  const Split split = split_at(pairs, 600);
  CHECK(split.train.size() == 600);
  CHECK(split.held_out.size() == 160);
}

TEST_CASE("a small packed file that becomes a large text is refused") {
  const TemporaryFolder folder;
  for (const char letter : {'x', '\n'}) {
    CAPTURE(letter);
    std::string text;
    for (int i = 0; i < 17; ++i) text += std::string((1 << 20) - 1, letter) + '\n';  // 16 MiB are always read
    write_gzip(folder / "bomb.gz", text);
    CHECK_THROWS_AS(load_text(folder / "bomb.gz"), LimitError);
    CHECK_THROWS_AS(read_lines(folder / "bomb.gz"), LimitError);
    if (letter == '\n') CHECK_THROWS_AS(read_pairs(folder / "bomb.gz"), LimitError);
  }
  // A long text of which a thirtieth cannot be packed is a text.
  std::string text, noise;
  for (const std::int64_t byte : randint('a', 'z', {1 << 15}, {.seed = 1})) noise += static_cast<char>(byte);
  for (int i = 0; i < 17; ++i) text += noise + std::string((1 << 20) - noise.size(), 'x') + '\n';
  CHECK(load_text(write_gzip(folder / "long.gz", text)) == text);
  // Short files may be as regular as they like.
  const std::string blanks(1'000'000, ' ');
  CHECK(load_text(write_gzip(folder / "blanks.gz", blanks)) == blanks);
}

TEST_CASE("a text beyond memory is refused before it is read") {
  const TemporaryFolder folder;
  const auto path = write_text(folder / "hole.txt", "");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 42);
  CHECK_THROWS_AS(load_text(path), LimitError);
}

TEST_CASE("well-formed UTF-8 is told from everything else") {
  const auto is_utf8 = [](std::string_view text) { return utf8_prefix(text) == text.size(); };
  CHECK(is_utf8(""));
  CHECK(is_utf8("ça va → 猫 😀"));
  CHECK(is_utf8("\xF4\x8F\xBF\xBF"));        // U+10FFFF
  CHECK_FALSE(is_utf8("\xE9t\xE9"));         // Latin-1
  CHECK_FALSE(is_utf8("\xC3"));              // cut short
  CHECK_FALSE(is_utf8("\xC0\xAF"));          // overlong
  CHECK_FALSE(is_utf8("\xE0\x80\xAF"));      // overlong
  CHECK_FALSE(is_utf8("\xED\xA0\x80"));      // surrogate
  CHECK_FALSE(is_utf8("\xF4\x90\x80\x80"));  // past U+10FFFF
  CHECK_FALSE(is_utf8("\xFF\xFEG\x00"));     // UTF-16
}

TEST_CASE("decoding and encoding are inverse, and bad bytes become U+FFFD one by one") {
  const std::string text = "L'œuf, ça va ? → 猫 😀";
  CHECK(encode_utf8(decode_utf8(text)) == text);
  CHECK(decode_utf8("a\xFF\xC3z") == U"a\uFFFD\uFFFDz");
  for (const char32_t c : {0xD7FFu, 0xE000u, 0x10FFFFu}) CHECK(decode_utf8(encode_utf8({&c, 1})) == std::u32string(1, c));
  for (const char32_t c : {0xD800u, 0xDFFFu, 0x110000u}) CHECK(encode_utf8({&c, 1}) == "\uFFFD");
}

TEST_CASE("columns count what a terminal shows") {
  CHECK(columns("été") == 3);
  CHECK(columns("猫") == 2);
  CHECK(columns("e\u0301") == 1);
}

TEST_CASE("texts are cut to columns with an ellipsis, and cannot move the cursor") {
  CHECK(fit_columns("été", 3) == "été");
  CHECK(fit_columns("étés", 3) == "ét…");
  CHECK(fit_columns("猫猫猫", 4) == "猫…");
  CHECK(fit_columns("abc", 1) == "…");
  CHECK(fit_columns("abc", 0).empty());
  CHECK(fit_columns("a\n\x1b[2Jb", 20) == "a  [2Jb");
  CHECK(fit_columns("\x1F !~\x7F|\u009F\u00A0", 20) == "  !~ | \u00A0");
}

}  // namespace xgrad::kit::testing
