#include "edge/http/api/api_fixture.h"

namespace fairlead::http {

void check_described(const Api&, const Request&, const Answered&) {}

}  // namespace fairlead::http
