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
  if (tapped.kind == TappedEvent::Kind::kGap) return event_of(entry) != nullptr;
  if (!wish.job.empty() && wish.job != job_of(tapped)) return false;
  if (entry.number <= listening.joined) {
    bool followed = tapped.record && tapped.record->revision.value() > wish.first_revision;
    if (!followed) return false;
  }
  const StreamEvent* event = event_of(entry);
  if (!event) return false;
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
  while (Entry* entry = find(listening.next)) {
    listening.next = entry->number;
    if (wants(listening, *entry)) return;
    ++listening.next;
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
      Reader* late = reader->first;
      readers_.erase(reader);
      late->left_behind();
    }
  }
}

void EventHub::publish(TappedEvent event) {
  const uint64_t number = ++published_;
  const bool passing = event.passing;
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

// Behind the event of that id; where that is not known, or some that followed it are forgotten,
// behind a word about that.
void EventHub::begin_behind(Listening& listening, std::string_view last_id) {
  size_t dash = last_id.rfind('-');
  uint64_t seen = 0;
  bool known = dash != last_id.npos && last_id.substr(0, dash) == life_;
  if (known) {
    std::string_view digits = last_id.substr(dash + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seen);
    known = error == std::errc() && end == digits.data() + digits.size() && seen <= published_;
  }
  if (!known || seen < lost_) {
    listening.first = Told{id_of(lost_), std::make_shared<const StreamEvent>(gap())};
    seen = lost_;
  }
  listening.next = seen + 1;
}

void EventHub::add(Reader* reader, StreamWish wish, std::string_view last_id) {
  Listening listening{.wish = std::move(wish), .next = published_ + 1};
  if (!last_id.empty()) {
    begin_behind(listening, last_id);
  } else if (!listening.wish.first_event.empty()) {
    const StreamWish& told = listening.wish;
    listening.first = Told{id_of(published_), std::make_shared<const StreamEvent>(StreamEvent{
                                                  told.first_event, told.tenant, told.first_data})};
    listening.joined = published_;
    listening.next = 0;
  }
  move_on(listening);
  readers_.insert_or_assign(reader, std::move(listening));
}

std::optional<EventHub::Told> EventHub::next(Reader* reader) {
  auto found = readers_.find(reader);
  if (found == readers_.end()) return std::nullopt;
  Listening& listening = found->second;
  if (listening.first) return std::exchange(listening.first, std::nullopt);
  if (listening.next > published_) return std::nullopt;
  Entry* entry = find(listening.next);
  Told told{id_of(entry->number), entry->event};
  ++listening.next;
  move_on(listening);
  return told;
}

}  // namespace fairlead::http
