// Runs a story in virtual time in one of the modes.
#pragma once

#include <optional>
#include <string>

#include "tests/behaviour/story.h"
#include "tests/behaviour/world.h"

namespace fairlead::behaviour {

struct Failure {
  std::string file;
  int line = 0;
  std::string message;  // the line, what was expected, what was there
};

// The first thing that was not as the story says. All lines are read before the first one runs.
//
// Beyond its lines a story demands that no epoch of a job was handed to the bus twice, and that
// every fault it ordered did strike.
std::optional<Failure> run_story(const Story& story, Mode mode);

}  // namespace fairlead::behaviour
