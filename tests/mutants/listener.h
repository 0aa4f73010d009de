// Appends to the file $XGRAD_REACHED a line for each test case: its name, seconds, 1 if it failed, and the mutants that it reached. The
// first line has an empty name and the mutants that are reached before main. For the main function of the test programs.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "switch.h"

class ReachedListener : public doctest::IReporter {
 public:
  explicit ReachedListener(const doctest::ContextOptions&) {}
  void test_run_start() override { write("", 0, false); }
  void test_case_start(const doctest::TestCaseData& started) override {
    name_ = started.m_name;
    for (auto& reached : xgrad_mutants::reached()) reached = false;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& ended) override {
    write(name_, ended.seconds, ended.failure_flags != 0);
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  void write(const char* name, double seconds, bool failed) {
    const char* file = std::getenv("XGRAD_REACHED");
    if (!file) return;
    std::ofstream out(file, std::ios::app);
    out << name << '\t' << seconds << '\t' << failed << '\t';
    for (int i = 0; i < xgrad_mutants::most; ++i) {
      if (xgrad_mutants::reached()[i]) out << i << ' ';
    }
    out << '\n';
  }

  const char* name_ = "";
};

REGISTER_LISTENER("reached", 1, ReachedListener);
