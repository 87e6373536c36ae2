// The event stream: what happened lately, and who wants to hear of it. One thread, the one that
// serves HTTP; no sockets.
//
// Every event has a number; its id is "<life>-<number>", where `life` names this process. A reader
// who comes back with the id it saw last gets what it missed, if that is still remembered; if not,
// an event `stream.gap` tells it so.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "edge/http/api/message.h"
#include "edge/http/http_limits.h"

namespace fairlead::http {

struct StreamEvent {
  std::string name;       // "job.status_changed", "worker.heartbeat", …
  std::string job;        // "" when it is about no job
  TenantId tenant;        // empty: known only to those who see every tenant
  std::string data;       // JSON
  uint64_t revision = 0;  // of the job, where the event tells of a commit
};

class EventHub {
 public:
  class Reader {
   public:
    virtual ~Reader() = default;
    // False: it is too far behind, and is forgotten.
    virtual bool deliver(const std::string& id, const StreamEvent& event) = 0;
  };

  explicit EventHub(std::string life) : life_(std::move(life)) {}

  void publish(StreamEvent event);

  // Begins with what the reader missed since `last_id` ("": from now on). False: it could not take
  // even that. The reader must be removed before it goes away.
  bool add(Reader* reader, StreamWish wish, std::string_view last_id);
  void remove(Reader* reader);

  size_t readers() const { return readers_.size(); }
  // Drops what is remembered.
  void forget();

 private:
  struct Entry {
    uint64_t number;
    StreamEvent event;
  };
  struct Listening {
    Reader* reader;
    StreamWish wish;
  };

  std::string id_of(uint64_t number) const;
  bool replay(Reader* reader, const StreamWish& wish, std::string_view last_id);

  const std::string life_;
  uint64_t published_ = 0;
  std::deque<Entry> recent_;
  size_t recent_bytes_ = 0;
  std::list<Listening> readers_;
};

bool wants(const StreamWish& wish, const StreamEvent& event);

}  // namespace fairlead::http
