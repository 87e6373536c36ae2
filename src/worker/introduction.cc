#include "worker/introduction.h"

#include "worker/packets.h"

namespace fairlead::worker {

namespace {

constexpr char kAsks = '?';
constexpr char kAnswers = '!';

}  // namespace

Introduction::Introduction(const Clock& clock, Random& random, NatsClient& client,
                           const Options& options, Say say)
    : clock_(clock),
      client_(client),
      options_(options),
      say_(std::move(say)),
      own_(random.token()) {
  client_.subscribe(hello_subject(options_.id), "", [this](const ServerSaid& said) { hear(said); });
}

void Introduction::connected() {
  introduce();
  client_.publish(hello_subject(options_.id), kAsks + own_);
}

void Introduction::repeat() {
  if (!options_.topics.empty()) introduce();
}

void Introduction::introduce() {
  client_.publish(kHandshakeSubject, handshake_packet(options_, clock_.wall()));
}

void Introduction::hear(const ServerSaid& said) {
  const std::string_view payload = said.payload;
  // One that we have left may still hear us.
  if (payload.size() != own_.size() + 1 || payload.substr(1) == own_) return;
  if (payload[0] == kAsks) client_.publish(hello_subject(options_.id), kAnswers + own_);
  if (std::exchange(warned_, true)) return;
  say_("another worker is connected as " + options_.id +
       ": they share its jobs; give each an --id of its own");
}

}  // namespace fairlead::worker
