#include "app/own_verbs.h"

#include "app/setting.h"
#include "worker/options.h"

namespace fairlead::app {

namespace {

std::vector<cli::Flag> flags_of(Verb verb) {
  std::vector<cli::Flag> flags;
  for (const Setting* setting : settings_of(verb)) {
    flags.push_back({setting->name, setting->shape, setting->help});
  }
  return flags;
}

std::vector<cli::Flag> worker_flags() {
  std::vector<cli::Flag> flags;
  for (std::string_view name : worker::flag_names()) flags.push_back({name.substr(2), "", ""});
  return flags;
}

std::vector<cli::Flag> settings_flags() {
  std::vector<cli::Flag> flags = flags_of(Verb::kUp);
  flags.insert(flags.begin(), {"output", "FORMAT", "table or json"});
  return flags;
}

}  // namespace

std::vector<cli::Verb> own_verbs() {
  return {
      {"up", "", "Start a server; see up --help.", flags_of(Verb::kUp), "up\nup --demo", nullptr},
      {"serve", "", "Start a replica of a cluster; see serve --help.", flags_of(Verb::kServe),
       "serve --nats-jetstream", nullptr},
      {"settings", "[up|serve]", "What a server would run with; see settings --help.",
       settings_flags(), "settings\nsettings serve", nullptr},
      {"worker", "--pool P -- COMMAND", "Run a program for every job; see worker --help.",
       worker_flags(), "worker --pool default -- cat", nullptr},
  };
}

}  // namespace fairlead::app
