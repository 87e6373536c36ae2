// Runs the handlers of groups that have something to do. All of them start in one posted turn of
// the loop, however many messages it moves, so no handler runs inside a call to the bus.
//
//   make_ready ──► turn ──► the handler ──► its verdict ──► Owner::answer
//                            │ delivered too often
//                            └──► the hook, then terminate
//
// The server, and the bus around it, may be dropped or destroyed at any time but by a handler.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bus/group.h"
#include "runtime/loop.h"
#include "runtime/nursery.h"

namespace fairlead::bus {

struct HandlingCounters {
  uint64_t delivered = 0;    // handlers started
  uint64_t redelivered = 0;  // of these, with a message that was delivered before
  uint64_t panicked = 0;     // handlers that threw
};

class GroupServer {
 public:
  using GroupPtr = std::shared_ptr<Group>;

  // The bus around it.
  class Owner {
   public:
    // The first of every turn.
    virtual void begin_turn() = 0;
    // The group has no members, or the bus has stopped: nobody will handle what waits.
    virtual void put_away(const GroupPtr& group) = 0;
    // What is to be done about a message; a task if that takes time. REQUIRES: the member has not
    // left.
    virtual std::optional<Task<void>> answer(GroupPtr group, const Group::Start& start,
                                             const Verdict& verdict) = 0;
    // What the handler of a member that has left said.
    virtual void heard(Envelope&, const Verdict&) {}

   protected:
    ~Owner() = default;
  };

  // Both must outlive the server.
  GroupServer(Loop& loop, Owner& owner, HandlingCounters& counters);

  void on_terminated(TerminatedHook hook) { terminated_hook_ = std::move(hook); }

  // The group is served in the next turn.
  void make_ready(const GroupPtr& group);
  void post_turn();
  // Runs a task until the end of the server; false: it has stopped.
  bool spawn(Task<void> task) { return tasks_.spawn(std::move(task)); }

  bool stopped() const { return stopped_; }
  // Handlers are told to stop and still answer; nothing else starts.
  void cancel();
  Future<Result<void>> idle() { return tasks_.idle(); }
  // The end, at once.
  void drop();

 private:
  void turn();
  void serve(const GroupPtr& group);
  Task<void> handle(GroupPtr group, Group::Start start);
  Task<Verdict> start_handler(const Group::Start& start);
  Task<Verdict> give_up(Delivery delivery);

  Loop& loop_;
  Owner& owner_;
  HandlingCounters& counters_;
  TerminatedHook terminated_hook_;
  // Names the living server to what is posted: empty once dropped.
  std::shared_ptr<GroupServer*> self_;
  bool stopped_ = false;
  bool turn_posted_ = false;
  std::vector<GroupPtr> ready_;  // to be served in the next turn
  Nursery tasks_;
};

}  // namespace fairlead::bus
