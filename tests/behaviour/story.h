// A story: one behaviour of the scheduler, told line by line. README.md describes the lines.
//
//   # what stands before the first story is the setting of all stories of the file
//   given topic job.default -> pool default
//
//   story: A job finds a worker
//     worker w1 joins pool default capacity 4
//     submit job j1 topic job.default
//     expect job j1 RUNNING on w1
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::behaviour {

struct Line {
  int number = 0;
  std::string text;
};

struct Story {
  std::string file;
  int number = 0;  // of its title's line
  std::string title;
  std::vector<Line> lines;
};

// kInvalid when the file has no stories, one without lines, or two of the same title.
Result<std::vector<Story>> parse_stories(const std::string& file, std::string_view text);

// The title as the name of a test: "A job finds a worker" is AJobFindsAWorker.
std::string test_name(std::string_view title);

}  // namespace fairlead::behaviour
