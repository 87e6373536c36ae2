// A job as the hash job:meta:<id> holds it: the fields that the Go services know, in their
// encodings, and ours beside them, which begin with `fl_`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cordum/agent/v1/job.pb.h"
#include "store/redis/client/reply.h"
#include "store/store.h"

namespace fairlead::store::redis {

// Names and values in turn.
using Fields = std::vector<std::pair<std::string_view, std::string>>;

// What a commit writes of its record, which walked the given path: what it may have changed.
// `admits`: the commit makes the job.
Fields fields_of(const job::Record& record, const std::vector<job::State>& path, bool admits);
// Whether those include the policy's decision, which may have been written before.
bool writes_decision(const job::Record& record, const std::vector<job::State>& path, bool admits);
// The decision as the Go services list it.
std::string decision_json(const job::Record& record);
// What the Go services keep of a request beside it.
Fields fields_of(const cordum::agent::v1::JobRequest& request);

struct Found {
  job::Record record;
  std::string request;  // if it was asked for
};

// A job as the scripts' `bundle` tells it. One that a Go service wrote is made of its fields; one
// that a Go service changed since our last commit is ours with those changes.
Result<Found> found_job(const JobId& id, Reply bundle, bool with_request);

}  // namespace fairlead::store::redis
