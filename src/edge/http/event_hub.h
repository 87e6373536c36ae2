// The event stream: what happened lately, and who wants to hear of it. One thread, the one that
// serves HTTP; no sockets.
//
//   published ──► [ 1 2 3 4 5 6 7 8 9 ]      one store of events for all readers
//                       ▲         ▲
//                    reader     reader       each takes them at its own pace
//
// Every event has a number; its id is "<life>-<number>", where `life` names this process. A reader
// who comes back with the id it saw last begins behind it, if that is still remembered; if not, an
// event `stream.gap` tells it so, and what its job is now, where it reads of one. One that reads so
// slowly that its next event is forgotten is given up. So is one who reads of a job when events are
// lost: it comes back, and is told what the job is. Events that are worth nothing later
// (heartbeats) are forgotten soon, and missed by a slow reader without harm.
//
// An event is put into words when the first reader who may want it comes to it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "edge/http/api/event_tap.h"
#include "edge/http/api/message.h"
#include "edge/http/http_limits.h"

namespace fairlead::http {

struct StreamEvent {
  std::string name;  // "job.status_changed", "worker.heartbeat", …
  TenantId tenant;   // empty: known only to those who see every tenant
  std::string data;  // JSON
};

class EventHub {
 public:
  class Reader {
   public:
    virtual ~Reader() = default;
    // There is something to take.
    virtual void events_wait() = 0;
    // It is too far behind, and was removed.
    virtual void left_behind() = 0;
  };
  struct Told {
    std::string id;
    std::shared_ptr<const StreamEvent> event;
  };

  explicit EventHub(std::string life) : life_(std::move(life)) {}

  void publish(TappedEvent event);
  // Drops what is remembered: events may be missing from here on.
  void forget();

  // Begins with what the reader missed since `last_id` ("": from now on). The reader must be
  // removed before it goes away.
  void add(Reader* reader, StreamWish wish, std::string_view last_id);
  void remove(Reader* reader) { readers_.erase(reader); }
  // The reader's next event, once; none: it has had all there are.
  std::optional<Told> next(Reader* reader);

  size_t readers() const { return readers_.size(); }
  // Events that were looked at for somebody who was to begin or go on.
  uint64_t looks() const { return looks_; }

 private:
  struct Entry {
    uint64_t number = 0;
    TappedEvent tapped;
    size_t bytes = 0;
    bool made = false;
    std::shared_ptr<const StreamEvent> event;  // once it is made; none: nobody is told of it
  };
  struct Listening {
    StreamWish wish;
    std::deque<Told> first;  // before all others
    uint64_t next = 0;       // the number of the next that it wants, or published_ + 1
    uint64_t joined = 0;     // what was published up to it is known by the job's revision
  };
  using Entries = std::deque<Entry>;

  std::string id_of(uint64_t number) const;
  const StreamEvent* event_of(Entry& entry);
  bool wants(const Listening& listening, Entry& entry);
  // The first entry with that number or a higher one.
  Entry* find(uint64_t number);
  void move_on(Listening& listening);
  void trim(Entries& entries, size_t& bytes, size_t bytes_max);
  std::optional<uint64_t> number_in(std::string_view id) const;
  void begin_behind(Listening& listening, std::string_view last_id);
  void begin_with_state(Listening& listening);
  uint64_t first_after(uint64_t tapped) const;
  void give_up(std::map<Reader*, Listening>::iterator reader);
  void give_up_readers_of_jobs();

  const std::string life_;
  uint64_t published_ = 0;
  uint64_t lost_ = 0;  // up to this number some may be missing
  uint64_t gap_ = 0;   // of the last that tells of others that were lost before they came here
  uint64_t looks_ = 0;
  Entries kept_;
  Entries passing_;
  size_t kept_bytes_ = 0;
  size_t passing_bytes_ = 0;
  std::map<Reader*, Listening> readers_;
};

}  // namespace fairlead::http
