#include "bus/nats/topology.h"

#include <gmock/gmock.h>

#include <boost/json.hpp>

namespace fairlead::bus::nats {
namespace {

namespace json = boost::json;
using testing::HasSubstr;

TEST(Streamed, IsExactlyWhatTheGoServicesPublishToStreams) {
  for (const char* subject : {"sys.job.submit", "sys.job.result", "sys.job.dlq", "sys.audit.export",
                              "job.default", "job.a.b", "worker.w1.jobs"}) {
    EXPECT_TRUE(is_streamed(subject)) << subject;
  }
  for (const char* subject : {"sys.job.cancel", "sys.job.progress", "sys.heartbeat", "sys.job.>",
                              "worker.w1", "worker.w1.jobs.x", "jobs.x", "sys.job.submit.x"}) {
    EXPECT_FALSE(is_streamed(subject)) << subject;
  }
  EXPECT_EQ(stream_of("sys.job.submit"), "CORDUM_SYS");
  EXPECT_EQ(stream_of("job.default"), "CORDUM_JOBS");
  EXPECT_EQ(stream_of("worker.w1.jobs"), "CORDUM_JOBS");
}

TEST(DurableName, IsMadeOfQueueAndSubject) {
  EXPECT_EQ(durable_name("cordum-scheduler", "sys.job.submit"),
            "dur_cordum-scheduler__sys_job_submit");
  EXPECT_EQ(durable_name("a.b", "job.*.>"), "dur_a_b__job_STAR_GT");
}

TEST(StreamConfig, IsThatOfTheGoServices) {
  EXPECT_EQ(json::value(stream_config(kSystemStream, {})), json::parse(R"({
      "name":"CORDUM_SYS","subjects":["sys.>"],"retention":"limits","storage":"file",
      "discard":"old","max_consumers":-1,"max_msgs":-1,"max_bytes":-1,
      "max_age":604800000000000,"duplicate_window":120000000000,"num_replicas":1})"));
  Settings settings;
  settings.replicas = 3;
  settings.max_age = 60s;
  EXPECT_EQ(json::value(stream_config(kJobStream, settings)), json::parse(R"({
      "name":"CORDUM_JOBS","subjects":["job.>","worker.*.jobs"],"retention":"limits",
      "storage":"file","discard":"old","max_consumers":-1,"max_msgs":-1,"max_bytes":-1,
      "max_age":60000000000,"duplicate_window":60000000000,"num_replicas":3})"));
}

json::object scheduler_consumer() {
  return consumer_config("sys.job.submit", "cordum-scheduler", "_INBOX.x", {});
}

TEST(ConsumerConfig, IsThatOfTheGoServices) {
  EXPECT_EQ(json::value(scheduler_consumer()), json::parse(R"({
      "durable_name":"dur_cordum-scheduler__sys_job_submit","deliver_subject":"_INBOX.x",
      "deliver_group":"cordum-scheduler","deliver_policy":"all","replay_policy":"instant",
      "ack_policy":"explicit","ack_wait":600000000000,"max_deliver":100,"max_ack_pending":2048,
      "filter_subject":"sys.job.submit"})"));
}

TEST(AcceptStream, TakesOneOfOtherAgeStorageAndReplicas) {
  json::object config = stream_config(kSystemStream, {});
  config["max_age"] = 0;
  config["storage"] = "memory";
  config["num_replicas"] = 3;
  config["sealed"] = false;
  EXPECT_TRUE(accept_stream(kSystemStream, config));
}

TEST(AcceptStream, NamesWhatIsInTheWay) {
  auto with = [](std::string_view name, json::value value) {
    json::object config = stream_config(kSystemStream, {});
    config[name] = std::move(value);
    auto accepted = accept_stream(kSystemStream, config);
    return accepted ? "" : accepted.error().message;
  };
  EXPECT_THAT(with("subjects", {"sys.job.>"}), HasSubstr("CORDUM_SYS exists with subjects"));
  EXPECT_THAT(with("retention", "workqueue"), HasSubstr("retention \"workqueue\""));
  EXPECT_THAT(with("no_ack", true), HasSubstr("no_ack true"));
  EXPECT_THAT(with("sealed", true), HasSubstr("sealed true"));
}

TEST(AcceptConsumer, NamesWhatIsInTheWay) {
  auto with = [](std::string_view name, json::value value) {
    json::object config = scheduler_consumer();
    config[name] = std::move(value);
    if (config[name].is_null()) config.erase(name);
    auto accepted = accept_consumer("sys.job.submit", "cordum-scheduler", config, {});
    return accepted ? "" : accepted.error().message;
  };
  EXPECT_EQ(with("deliver_subject", "_INBOX.of.another"), "");
  EXPECT_EQ(with("num_replicas", 3), "");
  EXPECT_THAT(with("ack_wait", 30'000'000'000),
              HasSubstr("consumer dur_cordum-scheduler__sys_job_submit exists with ack_wait "
                        "30000000000 where 600000000000 is wanted"));
  EXPECT_THAT(with("max_ack_pending", 1), HasSubstr("max_ack_pending"));
  EXPECT_THAT(with("max_deliver", -1), HasSubstr("max_deliver"));
  EXPECT_THAT(with("ack_policy", "none"), HasSubstr("ack_policy"));
  EXPECT_THAT(with("filter_subject", "sys.>"), HasSubstr("filter_subject"));
  EXPECT_THAT(with("deliver_group", nullptr), HasSubstr("deliver_group"));
  EXPECT_THAT(with("headers_only", true), HasSubstr("headers_only"));
  EXPECT_THAT(with("flow_control", true), HasSubstr("flow_control"));
  EXPECT_THAT(with("deliver_subject", nullptr), HasSubstr("deliver_subject"));
}

}  // namespace
}  // namespace fairlead::bus::nats
