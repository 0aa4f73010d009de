#include "session.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclContextInternals.h>
#include <clang/AST/DeclLookups.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RawCommentList.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
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
std::string kind_of(const std::exception& error) {
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

/// Where a part begins, and its first line.
std::string place_of(const Part& part, int number) {
  return "cell " + std::to_string(number) + ", line " + std::to_string(part.line) + ": " + line_of(part.text, 1);
}

/// Around the namespaces of cells: names in it hide those that `using namespace` brings, as variables of a function do.
constexpr std::string_view around = "in_cells";

/// Takes the namespaces of cells out of a text.
std::string without_namespaces(std::string text) {
  const std::string outer = std::string(around) + "::";
  for (std::size_t at = 0; (at = text.find(outer, at)) != text.npos;) text.erase(at, outer.size());
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

void hide(clang::NamedDecl* decl) {
  for (clang::DeclContext* scope = decl->getDeclContext(); scope != nullptr; scope = scope->getParent()) {
    clang::StoredDeclsMap* const names = scope->getPrimaryContext()->getLookupPtr();
    if (names == nullptr) continue;
    const auto found = names->find(decl->getDeclName());
    if (found == names->end()) continue;
    bool is_there = false, others = false;
    for (const clang::NamedDecl* const other : found->second.getLookupResult())
      (other == decl ? is_there : others) = true;
    if (!others && is_there) {
      names->erase(found);
    } else if (is_there) {
      found->second.remove(decl);
    }
  }
}

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

/// The scope that a declaration opens, or none.
clang::DeclContext* scope_of(clang::NamedDecl* decl) {
  if (auto* const made_by = llvm::dyn_cast<clang::ClassTemplateDecl>(decl)) return made_by->getTemplatedDecl();
  return llvm::dyn_cast<clang::DeclContext>(decl);
}

/// The public members of a class and of its bases.
std::vector<clang::NamedDecl*> members_of(clang::CXXRecordDecl* object) {
  std::vector<clang::NamedDecl*> members;
  object = object->getDefinition();
  if (object == nullptr) return members;
  for (clang::Decl* const decl : object->decls()) {
    auto* const member = llvm::dyn_cast<clang::NamedDecl>(decl);
    const bool is_value =
        llvm::isa<clang::FieldDecl, clang::VarDecl, clang::CXXMethodDecl, clang::FunctionTemplateDecl>(decl);
    if (member == nullptr || !is_value || llvm::isa<clang::CXXConstructorDecl>(decl) ||
        member->getAccess() != clang::AS_public)
      continue;
    members.push_back(member);
  }
  for (const clang::CXXBaseSpecifier& base : object->bases())
    if (clang::CXXRecordDecl* const above = base.getType()->getAsCXXRecordDecl())
      for (clang::NamedDecl* const member : members_of(above)) members.push_back(member);
  return members;
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
  const clang::FunctionDecl* function = nullptr;  // with the statements, or none
  clang::PartialTranslationUnit* unit = nullptr;
  std::vector<std::pair<std::string, clang::NamedDecl*>> declared = {}, hidden = {};
};

Session::Session(const SessionOptions& options) : diagnostics_(std::make_unique<Diagnostics>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::vector<const char*> arguments;
  for (const std::string& argument : options.arguments) arguments.push_back(argument.c_str());
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
    symbols[machine.mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                              llvm::JITSymbolFlags::Exported};
  if (auto error = machine.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
    throw std::runtime_error(message(std::move(error)));
  for (const std::string& library : options.libraries)
    if (auto error = interpreter_->LoadDynamicLibrary(library.c_str()))
      throw std::runtime_error(message(std::move(error)));
  const std::string space = "namespace " + std::string(around) + " {}\nusing namespace " + std::string(around) + ";\n";
  if (const Outcome outcome = run(space + options.preamble, 0); !outcome.ok()) throw std::runtime_error(outcome.text);
}

Session::~Session() = default;

Outcome Session::compile(const Part& part, int number, Compiled& result) {
  const std::string place = "#line " + std::to_string(part.line) + " \"" + std::string(cell_file) +
                            std::to_string(number) + "\"\n" + part.text + "\n";
  const std::string outer = "namespace " + std::string(around) + " {";
  const std::string space = outer + "inline namespace " + namespace_of(number) + " {";
  const std::string function = "void xgrad_part_" + std::to_string(++functions_) + "() {";
  std::string code = place;
  switch (part.kind) {
    case Part::Kind::global:
      break;
    case Part::Kind::declaration:
      code = space + "\n" + place + "}}\n";
      break;
    case Part::Kind::member:
      code = outer + "\n" + place + "}\n";
      break;
    case Part::Kind::statement:
      code = space + function + "\n" + place + "}}}\n";
      break;
    case Part::Kind::expression:
      code = space + function + "::xgrad::notebook::Show(),(\n" + place + ");}}}\n";
      break;
  }
  set_place("the compiler, " + place_of(part, number));
  diagnostics_->entries.clear();
  auto unit = interpreter_->Parse(code);
  if (!unit) {
    llvm::consumeError(unit.takeError());
    Outcome outcome{.kind = "compiler", .text = diagnostics_->text(part.text, part.line)};
    forget_failed();
    return outcome;
  }
  result.part = &part;
  result.unit = &*unit;
  return {};
}

void Session::declare(Compiled& compiled) {
  std::vector<clang::NamespaceDecl*> cells;
  for (clang::Decl* const decl : compiled.unit->TUPart->decls()) {
    auto* const outer = llvm::dyn_cast<clang::NamespaceDecl>(decl);
    if (outer == nullptr || outer->getNameAsString() != around) continue;
    around_ = outer;
    for (clang::Decl* const inner : outer->decls())
      if (auto* const cell = llvm::dyn_cast<clang::NamespaceDecl>(inner)) cells.push_back(cell);
  }
  for (const clang::NamespaceDecl* const cell : cells) {
    for (clang::Decl* const inner : cell->decls()) {
      auto* const later = llvm::dyn_cast<clang::NamedDecl>(inner);
      if (later == nullptr || later->getDeclName().isEmpty() || later->isImplicit()) continue;
      const std::string name = later->getNameAsString();
      if (name.starts_with("xgrad_part_")) {
        compiled.function = llvm::cast<clang::FunctionDecl>(later);
        continue;
      }
      std::vector<clang::NamedDecl*>& known = names_[name];
      std::erase_if(known, [&](clang::NamedDecl* earlier) {
        const bool same_cell =
            earlier->getDeclContext()->getPrimaryContext() == later->getDeclContext()->getPrimaryContext();
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

void Session::forget_failed() {
  if (around_ == nullptr) return;
  auto* const latest = llvm::cast<clang::NamespaceDecl>(around_->getMostRecentDecl());
  if (latest != around_) {
    for (clang::Decl* const cell : latest->decls())
      if (auto* const names = llvm::dyn_cast<clang::NamespaceDecl>(cell))
        for (clang::Decl* const decl : names->decls())
          if (auto* const named = llvm::dyn_cast<clang::NamedDecl>(decl)) hide(named);
  }
  // The interpreter takes the namespace away with the part that failed to add to it.
  clang::DeclContext* const global = interpreter_->getASTContext().getTranslationUnitDecl()->getPrimaryContext();
  if (global->lookup(around_->getDeclName()).empty()) global->makeDeclVisibleInContext(around_);
}

void Session::forget(Compiled& compiled) {
  for (const auto& [name, decl] : compiled.declared) {
    hide(decl);
    std::erase(names_[name], decl);
  }
  for (const auto& [name, decl] : compiled.hidden) {
    decl->getDeclContext()->makeDeclVisibleInContext(decl);
    names_[name].push_back(decl);
  }
}

Outcome Session::run(std::string_view cell, int number) {
  begin_cell();
  if (const std::string bracket = open_bracket(cell); !bracket.empty()) return {.kind = "compiler", .text = bracket};
  const std::vector<Part> parts = split_cell(cell);
  const struct Clear {
    ~Clear() { set_place({}); }
  } clear;
  std::vector<Compiled> compiled;
  const auto forget_from = [&](std::size_t first) {
    for (std::size_t i = compiled.size(); i > first; --i) forget(compiled[i - 1]);
  };
  for (const Part& part : parts) {
    if (is_interrupted()) {
      forget_from(0);
      return {.kind = "interrupted", .text = "the cell was stopped before it ran"};
    }
    Compiled& next = compiled.emplace_back();
    if (Outcome outcome = compile(part, number, next); !outcome.ok()) {
      compiled.pop_back();
      forget_from(0);
      return outcome;
    }
    declare(next);
  }

  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const Part& part = *compiled[i].part;
    const std::string place = place_of(part, number);
    set_place(place);
    Outcome outcome;
    try {
      std::string failure;
      const std::string ending = guarded([&] {
        if (auto error = interpreter_->Execute(*compiled[i].unit)) failure = message(std::move(error));
        if (compiled[i].function == nullptr || !failure.empty()) return;
        auto address = interpreter_->getSymbolAddress(clang::GlobalDecl(compiled[i].function));
        if (address)
          address->toPtr<void()>()();
        else
          failure = message(address.takeError());
      });
      if (!failure.empty()) outcome = {.kind = "linker", .text = failure};
      if (!ending.empty()) outcome = {.kind = "ended", .text = ending};
    } catch (const Stopped&) {
      outcome = {.kind = "interrupted", .text = "the cell was stopped; the kernel goes on with what it has"};
    } catch (const std::exception& error) {
      outcome = {.kind = kind_of(error), .text = without_namespaces(error.what())};
    } catch (...) {
      outcome = {.kind = "exception", .text = "the cell threw something that is no std::exception"};
    }
    if (!outcome.ok()) {
      outcome.text += "\n" + place;
      forget_from(i);
      return outcome;
    }
  }
  return {};
}

std::vector<clang::NamedDecl*> Session::find(std::string_view name) {
  clang::ASTContext& context = interpreter_->getASTContext();
  for (const std::string_view prefix :
       {"in_cells::", "", "xgrad::", "xgrad::nn::", "xgrad::optim::", "xgrad::kit::", "std::"}) {
    std::string whole = std::string(prefix) + std::string(name);
    clang::DeclContext* scope = context.getTranslationUnitDecl();
    while (scope != nullptr) {
      const std::size_t end = whole.find("::");
      const auto found =
          scope->getPrimaryContext()->lookup(clang::DeclarationName(&context.Idents.get(whole.substr(0, end))));
      if (end == whole.npos) {
        if (!found.empty()) return {found.begin(), found.end()};
        break;
      }
      scope = nullptr;
      for (clang::NamedDecl* const decl : found) scope = scope_of(decl);
      whole.erase(0, end + 2);
    }
  }
  return {};
}

std::string Session::describe(std::string_view name) {
  clang::ASTContext& context = interpreter_->getASTContext();
  std::string result;
  int shown = 0;
  for (const clang::NamedDecl* const found : find(name)) {
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
  return result;
}

clang::CXXRecordDecl* Session::class_of(std::string_view expression) {
  const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; };
  bool called = false;
  while (expression.ends_with(')') || expression.ends_with(']') || expression.ends_with('}')) {
    int depth = 0;
    do {
      const char last = expression.back();
      expression.remove_suffix(1);
      if (last == ')' || last == ']' || last == '}') ++depth;
      if (last == '(' || last == '[' || last == '{') --depth;
    } while (depth > 0 && !expression.empty());
    called = true;
  }
  std::size_t begin = expression.size();
  while (begin > 0 && is_name(expression[begin - 1])) --begin;
  const std::string_view name = expression.substr(begin);
  std::vector<clang::NamedDecl*> found;
  if (begin > 0 && (expression[begin - 1] == '.' || expression.substr(0, begin).ends_with("->"))) {
    if (clang::CXXRecordDecl* const object =
            class_of(expression.substr(0, begin - (expression[begin - 1] == '.' ? 1 : 2))))
      for (clang::NamedDecl* const member : members_of(object))
        if (member->getNameAsString() == name) found.push_back(member);
  } else {
    found = find(name);
  }
  for (clang::NamedDecl* const decl : found) {
    clang::QualType type;
    if (const auto* const function = llvm::dyn_cast<clang::FunctionDecl>(decl)) type = function->getReturnType();
    if (const auto* const value = llvm::dyn_cast<clang::ValueDecl>(decl); value != nullptr && type.isNull())
      type = value->getType();
    clang::CXXRecordDecl* made =
        type.isNull() ? llvm::dyn_cast<clang::CXXRecordDecl>(decl) : type.getNonReferenceType()->getAsCXXRecordDecl();
    if (made == nullptr && !type.isNull() && type->isPointerType()) made = type->getPointeeType()->getAsCXXRecordDecl();
    if (made == nullptr) continue;
    const bool calls_object = called && llvm::isa<clang::VarDecl>(decl);  // model(x).
    if (!calls_object) return made;
    for (const clang::NamedDecl* const member : members_of(made))
      if (const auto* const method = llvm::dyn_cast<clang::CXXMethodDecl>(member);
          method != nullptr && method->isOverloadedOperator())
        if (auto* const result = method->getReturnType().getNonReferenceType()->getAsCXXRecordDecl()) return result;
  }
  return nullptr;
}

std::vector<std::string> Session::complete(std::string_view code) {
  std::size_t begin = code.size();
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(code[begin - 1])) != 0 || code[begin - 1] == '_'))
    --begin;
  const std::string_view prefix = code.substr(begin), before = code.substr(0, begin);
  std::vector<std::string> words;
  const auto add = [&](const std::string& word) {
    if (word.starts_with(prefix) && !word.starts_with("operator") && !word.starts_with("xgrad_part_") &&
        word[0] != '_' && word[0] != '~' && word[0] != '<')
      words.push_back(word);
  };
  const auto add_scope = [&](clang::DeclContext* scope) {
    if (scope == nullptr) return;
    const auto all = scope->getPrimaryContext()->lookups();
    for (auto names = all.begin(); names != all.end(); ++names)
      if (names.getLookupName().isIdentifier()) add(names.getLookupName().getAsString());
  };
  if (before.ends_with(".") || before.ends_with("->")) {
    if (clang::CXXRecordDecl* const object =
            class_of(before.substr(0, before.size() - (before.ends_with(".") ? 1 : 2))))
      for (const clang::NamedDecl* const member : members_of(object)) add(member->getNameAsString());
  } else if (before.ends_with("::")) {
    std::size_t name = begin - 2;
    while (name > 0 && (std::isalnum(static_cast<unsigned char>(code[name - 1])) != 0 || code[name - 1] == '_' ||
                        code[name - 1] == ':'))
      --name;
    for (clang::NamedDecl* const decl : find(code.substr(name, begin - 2 - name))) add_scope(scope_of(decl));
  } else if (!prefix.empty()) {
    clang::TranslationUnitDecl* const global = interpreter_->getASTContext().getTranslationUnitDecl();
    add_scope(global);
    for (const std::string_view space : {around, std::string_view("xgrad")})
      for (clang::NamedDecl* const decl : find(space)) add_scope(scope_of(decl));
  }
  std::ranges::sort(words);
  const auto doubled = std::ranges::unique(words);
  words.erase(doubled.begin(), doubled.end());
  return words;
}

}  // namespace xgrad::notebook
