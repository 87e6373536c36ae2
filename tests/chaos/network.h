// Where the processes of a campaign live and how they reach each other, so that two of them can be
// cut off from each other.
#pragma once

#include <memory>
#include <string>

#include "tests/load/wire.h"

namespace fairlead::chaos {

class Network {
 public:
  virtual ~Network() = default;

  // A place for a process of this name, which listens there on one port.
  virtual load::Endpoint add(const std::string& node) = 0;
  // Called in the child, before it becomes the process.
  virtual void enter(const std::string& node) = 0;
  // Where `from` reaches what listens at the place of `to`.
  virtual load::Endpoint route(const std::string& from, const std::string& to) = 0;

  // Nothing passes between the two, in neither direction, and nobody is told.
  virtual void cut(const std::string& one, const std::string& other) = 0;
  virtual void mend(const std::string& one, const std::string& other) = 0;

  virtual const char* kind() const = 0;
};

// Every process in a network namespace of its own; this process becomes their router. Nothing when
// the kernel does not let us, or there is no `ip`.
std::unique_ptr<Network> make_namespaces();

// Every process on this machine's loopback, its connections through proxies in this process.
std::unique_ptr<Network> make_proxies(load::asio::io_context& context);

}  // namespace fairlead::chaos
