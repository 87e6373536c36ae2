// What most sources include, compiled once: it cuts the time of a build by more than half. Sources
// still include what they use.
#include <algorithm>
#include <array>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <expected>
#include <filesystem>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/json.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/core.h>
#include <fmt/format.h>
#include <google/protobuf/message.h>

#include "cordum/agent/v1/buspacket.pb.h"
#include "cordum/agent/v1/safety.pb.h"
