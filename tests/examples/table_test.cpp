// Tables for terminals.
#include <doctest/doctest.h>

#include <xgrad/core/base/error.h>
#include <xgrad/kit/program/table.h>

using xgrad::kit::Table;

TEST_CASE("a table's columns are as wide as what stands in them, the first at the left, the others at the right") {
  Table table({"", "loss", "été"});
  table.row({"attention", 0.25, "a"}).row({"猫", 1, ""});
  CHECK(table.text() ==
        "            loss   été\n"
        "attention   0.25     a\n"
        "猫             1\n");
  CHECK_THROWS_WITH_AS(table.row({1, 2}), "table: 2 values for 3 columns", xgrad::ValueError);
  CHECK_THROWS_AS(Table({}), xgrad::ValueError);
}
