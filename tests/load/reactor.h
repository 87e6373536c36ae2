// The io_context of a load: it runs for as long as it is told, also through moments in which nobody
// is connected. A plain one stops for good when it has nothing to do.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

namespace fairlead::load {

class Reactor : public boost::asio::io_context {
 private:
  boost::asio::executor_work_guard<executor_type> never_done_{get_executor()};
};

}  // namespace fairlead::load
