#include <sstream>

#include <xgrad/nn/models/gpt.h>
#include <xgrad/optim/optimizers/adam.h>

#include "check.h"

namespace xgrad::exercises {
namespace {

// The words: those of all subjects, and for each subject its name, five nouns and three verbs. The last one is new.
constexpr int adjectives = 6, nouns = 5, verbs = 3, subjects = 6, sentence = 9;
const char* const vocabulary =
    ". the old wise brave small quiet happy "
    "farm: dog cat horse cow hen sees follows fears house: mother father sister brother baby calls kisses helps "
    "town: baker tailor teacher doctor mayor greets visits praises wood: fox owl wolf bear deer hunts hears avoids "
    "court: king queen knight jester page honours obeys serves sea: sailor captain pirate cook pilot warns joins "
    "leaves";
std::int64_t first_word(std::int64_t subject) { return 2 + adjectives + subject * (1 + nouns + verbs); }

// Sentences of the subjects [from, to): the first noun decides the verb, and the second noun is another one.
Index sentences_of(std::int64_t from, std::int64_t to, std::int64_t count, Seed seed) {
  std::vector<std::int64_t> ids;
  const Index drawn = randint(0, 1'000'000, {count, 5}, {.seed = seed});
  for (std::int64_t i = 0; i < count; ++i) {
    const auto draw = [&](std::int64_t which, std::int64_t n) { return drawn.at({i, which}) % n; };
    const std::int64_t first = first_word(from + draw(0, to - from)), who = draw(1, nouns);
    for (const std::int64_t word : {first, std::int64_t{1}, 2 + draw(2, adjectives), first + 1 + who,
                                    first + 1 + nouns + who % verbs, std::int64_t{1}, 2 + draw(3, adjectives),
                                    first + 1 + (who + 1 + draw(4, nouns - 1)) % nouns, std::int64_t{0}})
      ids.push_back(word);
  }
  return index(Shape{count, sentence}, ids);
}

Tensor loss_of(const nn::Gpt& gpt, const Index& text) {
  return cross_entropy(gpt(text[{_, slice(0, sentence - 1)}]), text[{_, slice(1, sentence)}]);
}

// The likeliest sentence of the new subject.
std::string written_by(const nn::Gpt& gpt) {
  std::vector<std::string> words;
  std::istringstream all(vocabulary);
  for (std::string word; all >> word;) words.push_back(word);
  std::vector<std::int64_t> ids{first_word(subjects - 1)};
  std::string text = words[static_cast<std::size_t>(ids[0])];
  while (std::ssize(ids) < sentence) {
    const Tensor logits = gpt(index(Shape{1, std::ssize(ids)}, ids))[{0, -1}];
    ids.push_back(argmax(logits, 0).at({}));
    text += " " + words[static_cast<std::size_t>(ids.back())];
  }
  return text;
}

// Makes it know the first five subjects: trained once in a program, with random numbers of its own.
void pretrain(const nn::Gpt& gpt) {
  static const std::vector<Array> weights = [&] {
    const RandomState before = random_state();
    manual_seed(1);
    const nn::Gpt trained{nn::root, gpt.options};
    const Index text = sentences_of(0, subjects - 1, 2000, 1);
    optim::Adam adam{trained.parameters(), {.lr = 3e-3}};
    for (int step = 0; step < 300; ++step)
      adam.step(grad(loss_of(trained, text[randint(0, 2000, {32})]), trained.parameters()));
    set_random_state(before);
    std::vector<Array> values;
    for (const Tensor& parameter : trained.parameters()) values.push_back(parameter.value());
    return values;
  }();
  for (std::size_t i = 0; i < weights.size(); ++i) gpt.parameters()[i].assign(weights[i]);
}

}  // namespace

void check::fine_tune_gpt(void (*answer)(const Tuning&)) {
  const nn::Gpt gpt{
      nn::root,
      {.vocabulary = first_word(subjects), .context = sentence - 1, .dim = 32, .heads = 4, .layers = 2, .ffn = 64}};
  pretrain(gpt);
  const Index first = sentences_of(0, subjects - 1, 200, 2), fresh = sentences_of(subjects - 1, subjects, 200, 3);
  const auto now = [&](const Index& text) {
    const NoGrad off;
    return loss_of(gpt, text).item();
  };
  const double known = now(first), guessing = now(fresh);
  std::vector<Array> before;
  for (const Tensor& parameter : gpt.parameters()) before.push_back(parameter.value());

  const Tuning tuning{gpt.named_parameters(),
                      sentences_of(subjects - 1, subjects, 32, 4),
                      sentences_of(subjects - 1, subjects, 32, 5),
                      {}};
  int calls = 0, steps = 0;
  bool cheated = false;
  Tuning given = tuning;
  given.loss = [&](const Index& text) {
    ++calls;
    const bool held_out = equal(text, tuning.held_out);
    const Tensor loss = loss_of(gpt, text);
    // Its gradient says what is trained on.
    return record("loss", loss.value(), wrt(loss, [&steps, &cheated, held_out](const Tensor& gy) {
                    ++steps, cheated = cheated || held_out;
                    return gy;
                  }));
  };
  answer(given);
  written(calls > 0,
          "for (int step = 0; step < 100; ++step) adam.step(grad(tuning.loss(tuning.text), trained)), with a list of "
          "some parameters, or all");
  if (cheated)
    not_yet(
        "it trained on tuning.held_out: a loss that was trained on says nothing of new sentences; take the gradient of "
        "tuning.loss(tuning.text) alone");
  int moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += !equal(gpt.parameters()[i].value(), before[i]);
  const std::string trained = str(steps, " steps of ", moved, " of the ", before.size(), " parameters");
  if (moved == 0)
    not_yet(
        "no parameter changed: adam{trained, {.lr = ...}} and grad(loss, trained) take leaves of tuning.parameters");
  const double old = now(first), loss = now(fresh), seen = now(tuning.text);
  const std::string both = str("loss on the new subject ", digits(guessing), " -> ", digits(loss),
                               ", on the first five ", digits(known), " -> ", digits(old), " after ", trained);
  if (!std::isfinite(loss) || !std::isfinite(old)) not_yet("the loss is not finite any more: the rate is too high");
  if (loss > guessing) not_yet(both, ": the loss grew; the rate is far too high, or a step goes with the gradient");
  if (loss >= 1.5 && seen < 1)
    not_yet(both, ": the 32 sentences are memorised, with a loss of ", digits(seen),
            ", and new ones are not understood; fewer steps, and a lower rate");
  if (old >= 1.15)
    not_yet(both,
            ": it forgot the first five. Adam moves each element by about the rate in each step: take a tenth of "
            "the 0.003 of the first training or less, end as soon as tuning.held_out is below 1.5",
            moved < 20 ? ", and train more of the blocks: a few parameters have to move far" : "");
  if (loss >= 1.5)
    not_yet(both, ": it has not learned the new subject; more steps, ",
            moved < 20 ? "or more parameters: those of both blocks" : "or a higher rate");
  right_because() = str(both, ". It writes: ", written_by(gpt));
}

}  // namespace xgrad::exercises
