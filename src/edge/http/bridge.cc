#include "edge/http/bridge.h"

#include <exception>

namespace fairlead::http {

void Bridge::send(CallId id, Call call) {
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    first = inbox_.empty();
    inbox_.emplace_back(id, std::move(call));
  }
  if (first) {
    loop_.post([self = shared_from_this()] { self->take_inbox(); });
  }
}

void Bridge::take_inbox() {
  std::vector<std::pair<CallId, Call>> batch;
  {
    std::lock_guard lock(mutex_);
    batch.swap(inbox_);
  }
  if (closed_) return;
  for (auto& [id, call] : batch) calls_.spawn(run(id, std::move(call)));
}

Task<void> Bridge::run(CallId id, Call call) {
  Reply reply;
  try {
    reply = co_await call(backend_);
  } catch (const std::exception& error) {
    reply = problem(500, "internal error", "internal_error");
    reply.detail = error.what();
  }
  finish(id, std::move(reply));
}

void Bridge::finish(CallId id, Reply reply) {
  answer_bytes_.count(reply);
  bool first = finished_.empty();
  finished_.push_back({id, std::move(reply)});
  if (!first) return;
  // With what else is finished by then.
  loop_.post([self = shared_from_this()] {
    std::vector<Finished> batch;
    batch.swap(self->finished_);
    if (!self->closed_) self->deliver_(std::move(batch));
  });
}

void Bridge::close() {
  closed_ = true;
  calls_.drop();
  finished_.clear();  // what counts their bytes does not outlive the server
}

}  // namespace fairlead::http
