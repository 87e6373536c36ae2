#include "edge/http/event_hub.h"

#include <algorithm>
#include <charconv>

#include <boost/json/serialize.hpp>

#include "base/text.h"
#include "edge/http/api/event_json.h"

namespace fairlead::http {

namespace {

StreamEvent gap() {
  return {"stream.gap",
          {},
          R"({"type":"stream.gap","reason":"events after the last one seen are missing here"})"};
}

std::optional<StreamEvent> in_words(const TappedEvent& tapped) {
  switch (tapped.kind) {
    case TappedEvent::Kind::kGap:
      return gap();
    case TappedEvent::Kind::kCommit:
      return StreamEvent{kStatusChanged, tapped.record->tenant,
                         well_formed(json::serialize(status_event(*tapped.record)))};
    case TappedEvent::Kind::kPacket:
      break;
  }
  auto packet = packet_event(tapped.bytes);
  if (!packet) return std::nullopt;
  TenantId tenant = packet->tenant.empty() ? tapped.tenant : TenantId(packet->tenant);
  return StreamEvent{std::move(packet->name), std::move(tenant), std::move(packet->data)};
}

std::string_view job_of(const TappedEvent& tapped) {
  return tapped.record ? std::string_view(tapped.record->id.str()) : std::string_view(tapped.job);
}

}  // namespace

std::string EventHub::id_of(uint64_t number) const {
  return life_ + "-" + std::to_string(number);
}

// --- What is remembered --------------------------------------------------------------------------

const StreamEvent* EventHub::event_of(Entry& entry) {
  if (std::exchange(entry.made, true)) return entry.event.get();
  auto event = in_words(entry.tapped);
  if (event) entry.event = std::make_shared<const StreamEvent>(*std::move(event));
  entry.tapped.bytes = {};
  size_t& total = entry.tapped.passing ? passing_bytes_ : kept_bytes_;
  total -= entry.bytes;
  entry.bytes = bytes_of(entry.tapped) + (entry.event ? entry.event->data.size() : 0);
  total += entry.bytes;
  return entry.event.get();
}

bool EventHub::wants(const Listening& listening, Entry& entry) {
  const StreamWish& wish = listening.wish;
  const TappedEvent& tapped = entry.tapped;
  const bool gap = tapped.kind == TappedEvent::Kind::kGap;
  if (!gap && !wish.job.empty() && wish.job != job_of(tapped)) return false;
  if (entry.number <= listening.joined) {
    bool followed = tapped.record && tapped.record->revision.value() > wish.first_revision;
    if (!followed) return false;
  }
  const StreamEvent* event = event_of(entry);
  if (!event || gap) return gap;
  return wish.all_tenants || (!event->tenant.empty() && event->tenant == wish.tenant);
}

EventHub::Entry* EventHub::find(uint64_t number) {
  auto at_least = [&](Entries& entries) {
    auto found = std::ranges::lower_bound(entries, number, {}, &Entry::number);
    return found == entries.end() ? nullptr : &*found;
  };
  Entry* kept = at_least(kept_);
  Entry* passing = at_least(passing_);
  if (!kept || !passing) return kept ? kept : passing;
  return kept->number < passing->number ? kept : passing;
}

// Leaves out what it does not want.
void EventHub::move_on(Listening& listening) {
  auto from = [&](Entries& entries) {
    return std::ranges::lower_bound(entries, listening.next, {}, &Entry::number);
  };
  auto kept = from(kept_);
  auto passing = from(passing_);
  while (kept != kept_.end() || passing != passing_.end()) {
    const bool take_kept =
        passing == passing_.end() || (kept != kept_.end() && kept->number < passing->number);
    Entry& entry = take_kept ? *kept++ : *passing++;
    ++looks_;
    listening.next = entry.number;
    if (wants(listening, entry)) return;
  }
  listening.next = published_ + 1;
}

void EventHub::trim(Entries& entries, size_t& bytes, size_t bytes_max) {
  while (bytes > bytes_max) {
    const uint64_t gone = entries.front().number;
    bytes -= entries.front().bytes;
    entries.pop_front();
    const bool kept = &entries == &kept_;
    if (kept) lost_ = gone;
    for (auto it = readers_.begin(); it != readers_.end();) {
      auto reader = it++;
      if (reader->second.next != gone) continue;
      if (!kept) {
        move_on(reader->second);
        continue;
      }
      give_up(reader);
    }
  }
}

void EventHub::publish(TappedEvent event) {
  const uint64_t number = ++published_;
  const bool passing = event.passing;
  if (event.kind == TappedEvent::Kind::kGap) {
    gap_ = number;
    give_up_readers_of_jobs();
  }
  Entries& entries = passing ? passing_ : kept_;
  Entry& entry = entries.emplace_back();
  entry.number = number;
  entry.bytes = bytes_of(event);
  entry.tapped = std::move(event);
  (passing ? passing_bytes_ : kept_bytes_) += entry.bytes;
  for (auto& [reader, listening] : readers_) {
    if (listening.next != number) continue;  // it has others to take first
    if (wants(listening, entry)) {
      reader->events_wait();
    } else {
      ++listening.next;
    }
  }
  if (passing) {
    trim(passing_, passing_bytes_, limits::kStreamPassingBytes);
  } else {
    trim(kept_, kept_bytes_, limits::kStreamReplayBytes);
  }
}

void EventHub::forget() {
  kept_.clear();
  passing_.clear();
  kept_bytes_ = passing_bytes_ = 0;
  lost_ = ++published_;
  for (auto& [reader, listening] : readers_) listening.next = published_ + 1;
}

// --- Readers -------------------------------------------------------------------------------------

void EventHub::give_up(std::map<Reader*, Listening>::iterator reader) {
  Reader* late = reader->first;
  readers_.erase(reader);
  late->left_behind();
}

void EventHub::give_up_readers_of_jobs() {
  for (auto it = readers_.begin(); it != readers_.end();) {
    auto reader = it++;
    if (!reader->second.wish.first_event.empty()) give_up(reader);
  }
}

// The number of an event of this life, from its id.
std::optional<uint64_t> EventHub::number_in(std::string_view id) const {
  const size_t dash = id.rfind('-');
  if (dash == id.npos || id.substr(0, dash) != life_) return std::nullopt;
  std::string_view digits = id.substr(dash + 1);
  uint64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number <= published_ ? std::optional(number) : std::nullopt;
}

// Behind the event of that id; where that is not known, or some that followed it are missing,
// behind a word about that.
void EventHub::begin_behind(Listening& listening, std::string_view last_id) {
  const bool of_job = !listening.wish.first_event.empty();
  const auto seen = number_in(last_id);
  if (seen && *seen >= (of_job ? std::max(lost_, gap_) : lost_)) {
    listening.next = *seen + 1;
    return;
  }
  // One who leaves between the two and returns is told both again: its id is no event's.
  listening.first.push_back(
      {of_job ? life_ + "-gap" : id_of(lost_), std::make_shared<const StreamEvent>(gap())});
  listening.next = lost_ + 1;
  if (of_job) begin_with_state(listening);
}

// What the job was when the stream was asked for, and what followed.
void EventHub::begin_with_state(Listening& listening) {
  const StreamWish& told = listening.wish;
  listening.first.push_back(
      {id_of(published_), std::make_shared<const StreamEvent>(
                              StreamEvent{told.first_event, told.tenant, told.first_data})});
  listening.joined = published_;
  listening.next = first_after(told.tapped_before);
}

// The number of the first that the tap told of after so many others. Those that are worth nothing
// later are not looked at: they are about no job.
uint64_t EventHub::first_after(uint64_t tapped) const {
  auto of = [](const Entry& entry) { return entry.tapped.tapped; };
  auto found = std::ranges::upper_bound(kept_, tapped, {}, of);
  return found == kept_.end() ? published_ + 1 : found->number;
}

void EventHub::add(Reader* reader, StreamWish wish, std::string_view last_id) {
  Listening listening{.wish = std::move(wish), .next = published_ + 1};
  if (!last_id.empty()) {
    begin_behind(listening, last_id);
  } else if (!listening.wish.first_event.empty()) {
    begin_with_state(listening);
  }
  move_on(listening);
  readers_.insert_or_assign(reader, std::move(listening));
}

std::optional<EventHub::Told> EventHub::next(Reader* reader) {
  auto found = readers_.find(reader);
  if (found == readers_.end()) return std::nullopt;
  Listening& listening = found->second;
  if (!listening.first.empty()) {
    Told told = std::move(listening.first.front());
    listening.first.pop_front();
    return told;
  }
  if (listening.next > published_) return std::nullopt;
  Entry* entry = find(listening.next);
  Told told{id_of(entry->number), entry->event};
  ++listening.next;
  move_on(listening);
  return told;
}

}  // namespace fairlead::http
