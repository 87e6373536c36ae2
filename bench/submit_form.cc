#include "bench/submit_form.h"

#include "base/check.h"
#include "cordum/agent/v1/buspacket.pb.h"
#include "job/request.h"

namespace fairlead::bench {

namespace {

namespace cap = cordum::agent::v1;

// As long as every job id.
constexpr std::string_view kAnyJob = "00000000-4f2a-8c1d-00000000000000000000";

// About 400 bytes, like a request of an agent.
std::string submit_packet(const std::string& job, const std::string& topic) {
  cap::BusPacket packet;
  packet.set_trace_id("trace-" + job);
  packet.set_sender_id("bench");
  packet.set_protocol_version(1);
  cap::JobRequest* request = packet.mutable_job_request();
  request->set_job_id(job);
  request->set_topic(topic);
  request->set_context_ptr("redis://ctx:" + job);
  request->set_tenant_id("acme");
  request->set_principal_id("agent-7");
  (*request->mutable_env())["team_id"] = "research";
  (*request->mutable_labels())["workflow"] = "nightly-summaries";
  (*request->mutable_labels())["cost-centre"] = "4711";
  request->mutable_meta()->set_capability("summarise");
  request->mutable_meta()->set_actor_id("user-1234567890");
  request->mutable_context_hints()->add_tags(std::string(120, 'x'));
  return job::serialise(packet);
}

}  // namespace

SubmitForm::SubmitForm(const std::string& topic)
    : form_(submit_packet(std::string(kAnyJob), topic)) {
  for (size_t at = form_.find(kAnyJob); at != form_.npos; at = form_.find(kAnyJob, at + 1)) {
    places_.push_back(at);
  }
}

std::string SubmitForm::fill(std::string_view job) const {
  check(job.size() == kAnyJob.size(), "all job ids are of one length");
  std::string packet = form_;
  for (size_t at : places_) packet.replace(at, job.size(), job);
  return packet;
}

}  // namespace fairlead::bench
