// The published description of the API, OpenAPI 3.0: paths from the routes themselves, schemas from
// the texts below. Tests hold every answer against it.
#pragma once

#include "edge/http/api/api.h"

namespace fairlead::http {

json::object openapi_document(const Routes& routes);

// Objects of schemas by name.
extern const char* const kJobSchemas;
extern const char* const kFleetSchemas;
extern const char* const kServerSchemas;

}  // namespace fairlead::http
