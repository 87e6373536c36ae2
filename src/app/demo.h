// What --demo adds: an echo worker in pool default, and a few jobs through the API that show that
// everything works.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/echo_worker.h"
#include "edge/http/api/api.h"
#include "edge/http/api/backend.h"
#include "edge/net/credentials.h"
#include "job/state.h"

namespace fairlead::app {

class Demo {
 public:
  // Tells what happened, line by line.
  using Say = std::function<void(std::string line)>;

  // Where the server is, for who wants to try it next.
  struct Place {
    std::string api;       // http://127.0.0.1:8081
    std::string workers;   // nats://127.0.0.1:4222
    std::string payloads;  // redis://127.0.0.1:6379
    std::string data;      // the folder
    bool keys = false;
    edge::Credentials credentials;  // of workers
  };

  // The backend outlives the demo.
  Demo(http::Backend& backend, Place place, Say say);

  // Submits the jobs, says how each ended, and what to try next.
  Task<void> run();

 private:
  Task<std::optional<JobId>> submit(std::string prompt);
  Task<job::State> end_of(JobId job);
  void suggest();

  http::Backend& backend_;
  const Place place_;
  Say say_;
  const http::Api api_;
  EchoWorker worker_;
};

}  // namespace fairlead::app
