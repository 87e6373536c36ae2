// Between the thread that serves HTTP and the loop: calls go over in batches, answers come back in
// batches, so that many cost one wake-up each way.
//
// It lives on the loop's thread; send() is called on the other one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "edge/http/answer_bytes.h"
#include "edge/http/api/backend.h"
#include "edge/http/api/route.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"

namespace fairlead::http {

class Bridge : public std::enable_shared_from_this<Bridge> {
 public:
  using CallId = uint64_t;
  struct Finished {
    CallId id = 0;
    Reply reply;
  };
  // Takes answers to the other thread; called on the loop's.
  using Deliver = std::function<void(std::vector<Finished>)>;

  Bridge(Loop& loop, Backend& backend, AnswerBytes& answer_bytes, Deliver deliver)
      : loop_(loop), backend_(backend), answer_bytes_(answer_bytes), deliver_(std::move(deliver)) {}

  // The other thread. The answer comes through `Deliver`, unless the bridge is closed.
  void send(CallId id, Call call);

  // Nothing runs any more and nothing is delivered. Loop thread.
  void close();
  size_t running() const { return calls_.running(); }

 private:
  void take_inbox();
  Task<void> run(CallId id, Call call);
  void finish(CallId id, Reply reply);

  Loop& loop_;
  Backend& backend_;
  AnswerBytes& answer_bytes_;
  Deliver deliver_;

  std::mutex mutex_;
  std::vector<std::pair<CallId, Call>> inbox_;

  // The loop's.
  std::vector<Finished> finished_;
  bool closed_ = false;
  Nursery calls_;
};

}  // namespace fairlead::http
