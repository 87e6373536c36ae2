// What a filter chooses, dealt with in one command: batch after batch, each a call that is soon
// answered.
#pragma once

#include <string>

#include <boost/json/object.hpp>

#include "cli/call.h"

namespace fairlead::cli {

struct BulkWork {
  std::string target;
  json::object body;       // with its filter; how many and whether it is a dry run is added
  const char* done_field;  // of the answer: how many were dealt with, or which
  const char* done_word;   // for people: "deleted"
};

// Up to --max are dealt with; those that fail are told, and do not keep others from being reached.
// A dry run is one call. Shows the outcome of all batches as that of one call, also when a later
// one is not answered. kFailed when any failed.
int run_bulk(const Call& call, BulkWork work);

}  // namespace fairlead::cli
