#include "tests/behaviour/story.h"

#include <cctype>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace fairlead::behaviour {

namespace {
constexpr std::string_view kTitle = "story:";
}

Result<std::vector<Story>> parse_stories(const std::string& file, std::string_view text) {
  std::vector<Story> stories;
  std::vector<Line> setting;
  std::set<std::string> names;
  int number = 0;
  for (std::string_view raw : split(text, '\n')) {
    ++number;
    std::string_view line = trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with(kTitle)) {
      (stories.empty() ? setting : stories.back().lines).push_back({number, std::string(line)});
      continue;
    }
    std::string title(trim(line.substr(kTitle.size())));
    if (!names.insert(test_name(title)).second || test_name(title).empty()) {
      return fail(ErrorCode::kInvalid,
                  fmt::format("{}:{}: a story needs a title of its own", file, number));
    }
    stories.push_back({file, number, std::move(title), setting});
  }
  if (stories.empty()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{}: no stories: each begins with a line \"story: title\"", file));
  }
  for (const Story& story : stories) {
    if (story.lines.size() > setting.size()) continue;
    return fail(ErrorCode::kInvalid, fmt::format("{}:{}: the story \"{}\" has no lines", file,
                                                 story.number, story.title));
  }
  return stories;
}

std::string test_name(std::string_view title) {
  std::string name;
  bool begins = true;
  for (char c : title) {
    if (!std::isalnum(static_cast<unsigned char>(c))) {
      begins = begins || c != '\'';
      continue;
    }
    name += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = false;
  }
  return name;
}

}  // namespace fairlead::behaviour
