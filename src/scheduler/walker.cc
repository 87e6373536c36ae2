#include "scheduler/walker.h"

#include "job/request.h"

namespace fairlead::scheduler {

WalkerPtr walker_of(LeaseKeeper::Taken taken) {
  auto walker = std::make_unique<Walker>();
  walker->token = std::move(taken.token);
  walker->record = *taken.loaded.record;
  walker->request_bytes = std::move(taken.loaded.request);
  cap::JobRequest& request = *walker->packet->mutable_job_request();
  if (request.ParseFromString(walker->request_bytes)) {
    job::trim_names(request);
  } else {
    walker->packet->clear_job_request();
  }
  return walker;
}

Ending unreadable_request() {
  return {job::State::kFailed,
          job::ReasonCode::kDispatchFailed,
          {},
          "the stored request cannot be read"};
}

Walked failed(Error error) {
  return {Outcome::kFailed, std::move(error)};
}

}  // namespace fairlead::scheduler
