// Every story of every *.story file in this folder is a test, once in each mode:
// --gtest_filter='Hints/*' runs one file, '*/memory' one mode.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "tests/behaviour/runner.h"

namespace fairlead::behaviour {

namespace {

class StoryTest : public testing::Test {
 public:
  StoryTest(const Story& story, Mode mode) : story_(story), mode_(mode) {}

  void TestBody() override {
    if (auto failure = run_story(story_, mode_)) {
      ADD_FAILURE_AT(failure->file.c_str(), failure->line) << failure->message;
    }
  }

 private:
  const Story story_;
  const Mode mode_;
};

class UnreadableStories : public testing::Test {
 public:
  explicit UnreadableStories(std::string problem) : problem_(std::move(problem)) {}
  void TestBody() override { ADD_FAILURE() << problem_; }

 private:
  const std::string problem_;
};

// `place` is the story's in its file.
void register_story(const std::string& suite, const Story& story, size_t place) {
  struct Kind {
    Mode mode;
    const char* name;
  };
  std::vector<Kind> kinds = {
      {Mode::kMemory, "memory"}, {Mode::kRocksDb, "rocksdb"}, {Mode::kCluster, "cluster"}};
  // With a sanitizer all of it takes minutes, and finds what the stores' own tests find too.
#if __has_feature(address_sanitizer)
  constexpr size_t kOneOf = 4;
  kinds.resize(place % kOneOf == 0 ? 2 : 1);
#else
  (void)place;
#endif
  for (const Kind& kind : kinds) {
    std::string name = test_name(story.title) + "/" + kind.name;
    testing::RegisterTest(
        suite.c_str(), name.c_str(), nullptr, nullptr, story.file.c_str(), story.number,
        [story, kind]() -> testing::Test* { return new StoryTest(story, kind.mode); });
  }
}

void register_file(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  std::string suite = test_name(file.stem().string());
  auto stories = parse_stories(file.string(), text.str());
  if (!stories) {
    testing::RegisterTest(suite.c_str(), "CanBeRead", nullptr, nullptr, file.c_str(), 1,
                          [problem = stories.error().message]() -> testing::Test* {
                            return new UnreadableStories(problem);
                          });
    return;
  }
  for (size_t i = 0; i < stories->size(); ++i) register_story(suite, (*stories)[i], i);
}

std::filesystem::path story_folder() {
  const char* root = std::getenv("FAIRLEAD_SOURCE_DIR");
  return std::filesystem::path(root ? root : FAIRLEAD_SOURCE_DIR) / "tests" / "behaviour";
}

}  // namespace

// Returns the number of files.
size_t register_stories() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(story_folder())) {
    if (entry.path().extension() == ".story") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& file : files) register_file(file);
  return files.size();
}

}  // namespace fairlead::behaviour

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (fairlead::behaviour::register_stories() == 0) {
    std::fprintf(stderr, "no stories found; is FAIRLEAD_SOURCE_DIR right?\n");
    return EXIT_FAILURE;
  }
  return RUN_ALL_TESTS();
}
