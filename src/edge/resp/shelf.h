// Where the payloads are: does sessions' requests on the store, on the loop. The requests of one
// client take effect in their order; so do all requests for one key.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "edge/resp/exchange.h"
#include "runtime/clock.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"

namespace fairlead::edge::resp {

class Shelf {
 public:
  // Gets answers in batches, on the loop's thread.
  using Outlet = std::function<void(std::vector<Answer>)>;

  // All must outlive the shelf. Values without a time to live of their own are kept for `kept`.
  Shelf(Loop& loop, const Clock& clock, store::Store& store, Duration kept, Outlet outlet);

  void obey(std::vector<Request> requests);

  // Requests that are not answered.
  size_t in_hand() const { return in_hand_; }
  // Gives what is ready to the outlet now.
  void flush();

 private:
  // Values that may be read for one client at once: each may be as large as a blob can be.
  static constexpr size_t kReadsAtOnce = 4;

  struct Client {
    std::deque<Request> waiting;
    size_t reading = 0;
    bool pumping = false;
  };

  void pump(uint64_t client);
  Task<void> serve(Request request);
  Task<Result<std::string>> carry_out(Request& request);
  Task<Result<std::string>> get(const Request& request);
  Task<Result<std::string>> get_many(const Request& request);
  Task<Result<std::string>> count(const Request& request);
  Task<Result<std::string>> erase(const Request& request);
  Task<Result<std::string>> expire(const Request& request);
  Task<Result<std::string>> time_left(const Request& request);
  // Waits until no EXPIRE is at work on one of the keys: that reads and writes.
  Task<Result<void>> keys_free(const Request& request);
  void put(Answer answer);

  Loop& loop_;
  const Clock& clock_;
  store::Store& store_;
  const Duration kept_;
  Outlet outlet_;
  std::shared_ptr<Shelf*> self_;  // names the living shelf to work that may outlive it
  std::map<uint64_t, Client> clients_;
  std::map<std::string, std::deque<Completer<Result<void>>>> expiring_;  // and who waits for it
  size_t in_hand_ = 0;
  std::vector<Answer> answers_;
  bool flush_posted_ = false;
  Nursery tasks_;
};

}  // namespace fairlead::edge::resp
