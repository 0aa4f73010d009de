#include "session.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclContextInternals.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RawCommentList.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Interpreter/CodeCompletion.h>
#include <clang/Interpreter/Interpreter.h>
#include <clang/Sema/Sema.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/TargetSelect.h>

#include <cxxabi.h>

#include "guard.h"

namespace xgrad::notebook {
namespace {

/// The last part of the name of a class of exceptions.
std::string class_of(const std::exception& error) {
  int status = 0;
  char* const whole = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status);
  std::string name = whole == nullptr ? "error" : whole;
  std::free(whole);
  return name.substr(name.rfind(':') == name.npos ? 0 : name.rfind(':') + 1);
}

std::string message(llvm::Error error) { return llvm::toString(std::move(error)); }

template <class T>
T value_or_throw(llvm::Expected<T> value) {
  if (!value) throw std::runtime_error(message(value.takeError()));
  return std::move(*value);
}

std::string line_of(std::string_view text, unsigned line) {
  for (; line > 1 && !text.empty(); --line) {
    const std::size_t end = text.find('\n');
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return std::string(text.substr(0, text.find('\n')));
}

constexpr std::string_view cell_file = "cell ";

/// The namespace of a cell's declarations; all of them have names of the same length (watched.txt).
std::string namespace_of(int number) {
  std::string digits = std::to_string(number);
  return "cell_" + std::string(5 - std::min<std::size_t>(digits.size(), 5), '0') + digits;
}

/// Takes the namespaces of cells out of a text.
std::string without_namespaces(std::string text) {
  for (std::size_t at = 0; (at = text.find("cell_", at)) != text.npos;) {
    std::size_t end = at + 5;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end > at + 5 && text.compare(end, 2, "::") == 0) {
      text.erase(at, end + 2 - at);
    } else {
      at = end;
    }
  }
  return text;
}

/// Where a name is declared.
std::vector<clang::DeclContext*> scopes_of(clang::NamedDecl* decl) {
  std::vector<clang::DeclContext*> scopes;
  for (clang::DeclContext* scope = decl->getDeclContext(); scope != nullptr; scope = scope->getParent())
    scopes.push_back(scope->getPrimaryContext());
  return scopes;
}

void hide(clang::NamedDecl* decl) {
  for (clang::DeclContext* const scope : scopes_of(decl)) {
    clang::StoredDeclsMap* const names = scope->getLookupPtr();
    if (names == nullptr) continue;
    const auto found = names->find(decl->getDeclName());
    if (found == names->end()) continue;
    bool is_there = false, others = false;
    for (const clang::NamedDecl* const other : found->second.getLookupResult()) (other == decl ? is_there : others) = true;
    if (!others && is_there) {
      names->erase(found);
    } else if (is_there) {
      found->second.remove(decl);
    }
  }
}

void show_again(clang::NamedDecl* decl) { decl->getDeclContext()->makeDeclVisibleInContext(decl); }

/// Whether a later declaration takes the place of an earlier one: not a function with other parameters.
bool replaces(const clang::NamedDecl* later, const clang::NamedDecl* earlier) {
  const auto function = [](const clang::NamedDecl* decl) {
    const auto* const made_by = llvm::dyn_cast<clang::FunctionTemplateDecl>(decl);
    return made_by != nullptr ? made_by->getTemplatedDecl() : llvm::dyn_cast<clang::FunctionDecl>(decl);
  };
  const clang::FunctionDecl *const one = function(later), *const other = function(earlier);
  if (one == nullptr || other == nullptr) return true;
  if (one->getNumParams() != other->getNumParams()) return false;
  if (llvm::isa<clang::FunctionTemplateDecl>(later) != llvm::isa<clang::FunctionTemplateDecl>(earlier)) return false;
  for (unsigned i = 0; i < one->getNumParams(); ++i) {
    const clang::QualType a = one->getParamDecl(i)->getType(), b = other->getParamDecl(i)->getType();
    if (!a->isDependentType() && !one->getASTContext().hasSameType(a, b)) return false;
  }
  return true;
}

}  // namespace

/// Collects what the compiler says.
class Diagnostics : public clang::DiagnosticConsumer {
 public:
  struct Entry {
    clang::DiagnosticsEngine::Level level;
    std::string text, file;
    unsigned line = 0, column = 0;
    bool in_cell() const { return file.starts_with(cell_file); }
  };
  std::vector<Entry> entries;

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    if (entries.size() >= 200) return;
    llvm::SmallString<256> text;
    info.FormatDiagnostic(text);
    Entry entry{.level = level, .text = without_namespaces(std::string(text)), .file = {}};
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::SourceManager& sources = info.getSourceManager();
      if (const auto place = sources.getPresumedLoc(sources.getExpansionLoc(info.getLocation())); place.isValid()) {
        entry.file = place.getFilename();
        entry.line = place.getLine();
        entry.column = place.getColumn();
      }
    }
    entries.push_back(std::move(entry));
  }

  /// The first error, the cell's own line, and two notes.
  std::string text(std::string_view part, int first_line) const {
    const auto is_error = [](const Entry& entry) { return entry.level >= clang::DiagnosticsEngine::Error; };
    const auto error = std::ranges::find_if(entries, is_error);
    if (error == entries.end()) return "the compiler gave up";
    const auto next = std::find_if(error + 1, entries.end(), is_error);
    const auto own = std::find_if(error, next, [](const Entry& entry) { return entry.in_cell(); });
    std::string result = error->text;
    if (own != next) {
      result += "\n" + own->file + ", line " + std::to_string(own->line) + ":\n  " +
                line_of(part, own->line - static_cast<unsigned>(first_line) + 1);
      if (own->column > 0) result += "\n  " + std::string(own->column - 1, ' ') + "^";
    }
    int notes = 0;
    for (auto note = error + 1; note != next && notes < 2; ++note) {
      const bool names_a_way = note->text.starts_with("in instantiation") || note->text.starts_with("while ");
      if (note->level != clang::DiagnosticsEngine::Note || names_a_way) continue;
      result += "\n  note: " + note->text;
      ++notes;
    }
    const auto more = std::count_if(next, entries.end(), is_error);
    if (more > 0) result += "\n  and " + std::to_string(more) + (more > 1 ? " more errors" : " more error");
    return result;
  }
};

struct Session::Compiled {
  const Part* part = nullptr;
  clang::PartialTranslationUnit* unit = nullptr;
  std::vector<std::pair<std::string, clang::NamedDecl*>> declared = {}, hidden = {};
};

Session::Session(const SessionOptions& options) : diagnostics_(std::make_unique<Diagnostics>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  // Not optimised: a cell is compiled in the time that the optimiser alone would take.
  arguments_ = {"-std=c++20", "-fPIC", "-O0", "-w", "-pthread", "-fretain-comments-from-system-headers"};
  arguments_.insert(arguments_.end(), options.arguments.begin(), options.arguments.end());
  std::vector<const char*> arguments;
  for (const std::string& argument : arguments_) arguments.push_back(argument.c_str());
  clang::IncrementalCompilerBuilder builder;
  builder.SetCompilerArgs(arguments);
  auto compiler = value_or_throw(builder.CreateCpp());
  compiler->getDiagnostics().setClient(diagnostics_.get(), /*ShouldOwnClient=*/false);
  interpreter_ = value_or_throw(clang::Interpreter::create(std::move(compiler)));

  auto engine = interpreter_->getExecutionEngine();
  if (!engine) throw std::runtime_error(message(engine.takeError()));
  llvm::orc::LLJIT& machine = *engine;
  llvm::orc::SymbolMap symbols;
  for (const auto& [name, function] : replacements())
    symbols[machine.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
  if (auto error = machine.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    throw std::runtime_error(message(std::move(error)));
  for (const std::string& library : options.libraries)
    if (auto error = interpreter_->LoadDynamicLibrary(library.c_str())) throw std::runtime_error(message(std::move(error)));
  if (const Outcome outcome = run(options.preamble, 0); !outcome.ok()) throw std::runtime_error(outcome.text);
}

Session::~Session() = default;

Outcome Session::compile(const Part& part, int number, Compiled& result) {
  const std::string place =
      "#line " + std::to_string(part.line) + " \"" + std::string(cell_file) + std::to_string(number) + "\"\n" + part.text + "\n";
  std::string code = place;
  if (part.kind == Part::Kind::declaration) code = "inline namespace " + namespace_of(number) + " {\n" + place + "}\n";
  if (part.kind == Part::Kind::expression) code = "::xgrad::notebook::Show(),(\n" + place + ");\n";
  diagnostics_->entries.clear();
  auto unit = interpreter_->Parse(code);
  if (!unit) {
    llvm::consumeError(unit.takeError());
    return {.kind = "compiler", .text = diagnostics_->text(part.text, part.line)};
  }
  result.part = &part;
  result.unit = &*unit;
  return {};
}

void Session::declare(Compiled& compiled) {
  for (clang::Decl* const decl : compiled.unit->TUPart->decls()) {
    auto* const cell = llvm::dyn_cast<clang::NamespaceDecl>(decl);
    if (cell == nullptr || !cell->isInline()) continue;
    for (clang::Decl* const inner : cell->decls()) {
      auto* const later = llvm::dyn_cast<clang::NamedDecl>(inner);
      if (later == nullptr || later->getDeclName().isEmpty() || later->isImplicit()) continue;
      const std::string name = later->getNameAsString();
      std::vector<clang::NamedDecl*>& known = names_[name];
      std::erase_if(known, [&](clang::NamedDecl* earlier) {
        const bool same_cell = earlier->getDeclContext()->getPrimaryContext() == later->getDeclContext()->getPrimaryContext();
        if (same_cell || !replaces(later, earlier)) return false;
        hide(earlier);
        compiled.hidden.emplace_back(name, earlier);
        return true;
      });
      known.push_back(later);
      compiled.declared.emplace_back(name, later);
    }
  }
}

void Session::forget(Compiled& compiled) {
  for (const auto& [name, decl] : compiled.declared) {
    hide(decl);
    std::erase(names_[name], decl);
  }
  for (const auto& [name, decl] : compiled.hidden) {
    show_again(decl);
    names_[name].push_back(decl);
  }
}

Outcome Session::run(std::string_view cell, int number) {
  const std::vector<Part> parts = split_cell(cell);
  std::vector<Compiled> compiled;
  const auto forget_from = [&](std::size_t first) {
    for (std::size_t i = compiled.size(); i > first; --i) forget(compiled[i - 1]);
  };
  for (const Part& part : parts) {
    Compiled& next = compiled.emplace_back();
    if (Outcome outcome = compile(part, number, next); !outcome.ok()) {
      compiled.pop_back();
      forget_from(0);
      return outcome;
    }
    declare(next);
  }

  begin_cell();
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const Part& part = *compiled[i].part;
    const std::string place = "cell " + std::to_string(number) + ", line " + std::to_string(part.line) + ": " + line_of(part.text, 1);
    set_place(place);
    Outcome outcome;
    try {
      std::string failure;
      const Ending ending = guarded([&] {
        if (auto error = interpreter_->Execute(*compiled[i].unit)) failure = message(std::move(error));
      });
      if (!failure.empty()) outcome = {.kind = "linker", .text = failure};
      if (!ending.empty()) outcome = {.kind = "ended", .text = ending};
    } catch (const Stopped&) {
      outcome = {.kind = "interrupted", .text = "the cell was stopped; the kernel goes on with what it has"};
    } catch (const std::exception& error) {
      outcome = {.kind = class_of(error), .text = without_namespaces(error.what())};
    } catch (...) {
      outcome = {.kind = "exception", .text = "the cell threw something that is no std::exception"};
    }
    set_place({});
    if (!outcome.ok()) {
      outcome.text += "\n" + place;
      forget_from(i);
      return outcome;
    }
  }
  return {};
}

std::vector<std::string> Session::complete(std::string_view code) {
  std::vector<std::string> words;
  std::vector<const char*> arguments;
  for (const std::string& argument : arguments_) arguments.push_back(argument.c_str());
  clang::IncrementalCompilerBuilder builder;
  builder.SetCompilerArgs(arguments);
  auto compiler = builder.CreateCpp();
  if (!compiler) {
    llvm::consumeError(compiler.takeError());
    return words;
  }
  clang::DiagnosticConsumer nothing;
  (*compiler)->getDiagnostics().setClient(&nothing, /*ShouldOwnClient=*/false);
  const std::size_t last_line = code.rfind('\n') == code.npos ? 0 : code.rfind('\n') + 1;
  const auto line = static_cast<unsigned>(1 + std::ranges::count(code, '\n'));
  clang::ReplCodeCompleter completer;
  completer.codeComplete(compiler->get(), std::string(code), line, static_cast<unsigned>(code.size() - last_line) + 1,
                         interpreter_->getCompilerInstance(), words);
  std::erase_if(words, [&](const std::string& word) { return !word.starts_with(completer.Prefix) || word.starts_with("__"); });
  std::ranges::sort(words);
  const auto doubled = std::ranges::unique(words);
  words.erase(doubled.begin(), doubled.end());
  return words;
}

std::string Session::describe(std::string_view name) {
  clang::ASTContext& context = interpreter_->getASTContext();
  std::vector<std::string> path;
  while (!name.empty()) {
    const std::size_t end = name.find("::");
    if (end != 0) path.emplace_back(name.substr(0, end));
    name.remove_prefix(end == name.npos ? name.size() : end + 2);
  }
  const auto look_up = [&](clang::DeclContext* scope, const std::string& word) {
    return scope->getPrimaryContext()->lookup(clang::DeclarationName(&context.Idents.get(word)));
  };
  std::string result;
  int shown = 0;
  for (const std::string_view prefix : {"", "xgrad", "xgrad::nn", "xgrad::optim", "xgrad::kit", "std"}) {
    std::vector<std::string> whole;
    if (!prefix.empty()) whole.emplace_back(prefix.substr(0, prefix.find("::")));
    if (prefix.find("::") != prefix.npos) whole.emplace_back(prefix.substr(prefix.find("::") + 2));
    whole.insert(whole.end(), path.begin(), path.end());
    clang::DeclContext* scope = context.getTranslationUnitDecl();
    for (std::size_t i = 0; scope != nullptr && i < whole.size(); ++i) {
      clang::DeclContext* inner = nullptr;
      for (clang::NamedDecl* const found : look_up(scope, whole[i])) {
        if (i + 1 < whole.size()) {
          if (auto* const made_by = llvm::dyn_cast<clang::ClassTemplateDecl>(found)) inner = made_by->getTemplatedDecl();
          else if (auto* const decl = llvm::dyn_cast<clang::DeclContext>(found)) inner = decl;
          continue;
        }
        if (++shown > 6) break;
        clang::PrintingPolicy policy = context.getPrintingPolicy();
        policy.TerseOutput = true;
        policy.PolishForDeclaration = true;
        std::string text;
        llvm::raw_string_ostream out(text);
        found->print(out, policy);
        if (const clang::RawComment* const comment = context.getRawCommentForAnyRedecl(found))
          text += "\n" + comment->getFormattedText(context.getSourceManager(), context.getDiagnostics());
        result += (result.empty() ? "" : "\n\n") + without_namespaces(text);
      }
      scope = inner;
    }
    if (!result.empty()) break;
  }
  return result;
}

}  // namespace xgrad::notebook
