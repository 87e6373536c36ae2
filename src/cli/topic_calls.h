// What both dialects do to make a topic.
#pragma once

#include <string>

#include "cli/call.h"

namespace fairlead::cli {

struct MadeTopic {
  json::value topic;
  bool new_pool = false;  // its pool was made for it
};

// Makes the topic, and first its pool when there is none of that name. Throws a Problem.
MadeTopic make_topic(const Call& call, const json::object& body);

}  // namespace fairlead::cli
