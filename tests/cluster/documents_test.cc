// What docs/ promises names the tests that show it: they must be there.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace fairlead::cluster {
namespace {

namespace fs = std::filesystem;

fs::path source() {
  const char* folder = std::getenv("FAIRLEAD_SOURCE_DIR");
  return folder ? folder : ".";
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The groups of a pattern wherever it is found, with a dot between them.
std::set<std::string> names_in(const std::string& text, const char* pattern) {
  std::set<std::string> found;
  const std::regex regex(pattern);
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.insert((*at)[1].str() + ((*at)[2].matched ? "." + (*at)[2].str() : ""));
  }
  return found;
}

// Suites, tests with their suites, and stories.
std::set<std::string> told_in_tests() {
  std::set<std::string> names;
  for (const char* folder : {"src", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source() / folder)) {
      const std::string file = entry.path().filename().string();
      if (file.ends_with(".story")) {
        names.merge(names_in(text_of(entry.path()), "story: ([^\n]+)"));
      } else if (file.ends_with("_test.cc")) {
        const std::string text = text_of(entry.path());
        names.merge(names_in(text, R"(TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\))"));
        names.merge(names_in(text, R"(TEST(?:_[FP])?\(\s*(\w+),)"));
      }
    }
  }
  return names;
}

class Documents : public testing::TestWithParam<const char*> {};

TEST_P(Documents, NameOnlyTestsThatExist) {
  const std::string text = text_of(source() / "docs" / GetParam());
  const std::set<std::string> known = told_in_tests();
  // `Suite.Name`, `Suite.*` and *“The sentence of a story”*.
  std::set<std::string> named = names_in(text, R"(`([A-Z]\w+)\.([A-Z]\w+)`)");
  named.merge(names_in(text, R"(`([A-Z]\w+)\.\*`)"));
  named.merge(names_in(text, "\\*“([^”]+)”\\*"));
  EXPECT_GE(named.size(), 2u);
  for (const std::string& name : named) EXPECT_TRUE(known.contains(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(, Documents, testing::Values("guarantees.md", "cluster.md"),
                         [](const auto& param) {
                           const std::string name = param.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace fairlead::cluster
