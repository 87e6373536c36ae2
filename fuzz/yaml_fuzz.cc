// Files of pools, of timeouts and of settings with any text in them.
#include <string_view>

#include "app/settings.h"
#include "base/check.h"
#include "routing/pool_map.h"
#include "scheduler/timeouts_file.h"

namespace {

using namespace fairlead;

template <class T>
void must_say_what_is_wrong(const Result<T>& read) {
  if (!read) check(!read.error().message.empty(), "an error says what is wrong");
}

void read_settings(app::Verb verb, std::string_view text) {
  auto values = app::parse_settings_file(verb, text, "f.yaml");
  must_say_what_is_wrong(values);
  if (!values) return;
  for (const auto& [name, value] : *values) {
    const app::Setting* setting = app::find_setting(verb, name);
    check(setting != nullptr, "what is read is a setting");
    (void)setting->check(value.text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  must_say_what_is_wrong(routing::parse_pool_map(text));
  must_say_what_is_wrong(scheduler::parse_timeouts(text));
  read_settings(app::Verb::kUp, text);
  read_settings(app::Verb::kServe, text);
  return 0;
}
