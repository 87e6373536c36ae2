#include "edge/http/api/openapi.h"

namespace fairlead::http {

const char* const kServerSchemas = R"json({
"Anything": {},
"Problem": {"type": "object", "required": ["error", "code", "status"], "properties": {
  "error": {"type": "string"}, "code": {"type": "string"}, "status": {"type": "integer"}}},
"Health": {"type": "object", "required": ["status", "checks"], "additionalProperties": false,
  "properties": {"status": {"type": "string", "enum": ["ok", "healthy", "degraded"]},
  "checks": {"type": "object", "additionalProperties": {"type": "string"}},
  "nats": {"type": "string"}, "redis": {"type": "string"}, "error": {"type": "string"}}},
"Status": {"type": "object", "additionalProperties": false, "required": ["time", "uptime_seconds",
  "goroutine_count", "active_ws_clients", "redis_pool_stats", "build", "nats", "redis", "workers",
  "pipeline", "license"], "properties": {
  "time": {"type": "string"}, "uptime_seconds": {"type": "integer"},
  "goroutine_count": {"type": "integer"},
  "active_ws_clients": {"type": "integer"}, "nats_status": {"type": "string"},
  "redis_pool_stats": {"type": "object", "required": ["hits", "misses", "timeouts", "total_conns",
  "idle_conns", "stale_conns"], "additionalProperties": {"type": "integer"}},
  "license": {"type": "object", "required": ["tier"]},
  "build": {"type": "object", "required": ["version", "commit", "date"]},
  "nats": {"type": "object", "required": ["connected", "status"]},
  "redis": {"type": "object", "required": ["ok", "status"]},
  "workers": {"type": "object", "required": ["count"]},
  "pipeline": {"type": "object", "additionalProperties": {"type": "integer"}, "description":
  "Jobs by state; to callers of one tenant its live ones."},
  "instance_id": {"type": "string"},
  "handlers_in_flight": {"type": "integer"}, "input_fail_open_total": {"type": "integer"},
  "rate_limiter": {"type": "object", "required": ["mode"]},
  "circuit_breakers": {"type": "object", "required": ["input", "output"]},
  "ha_env": {"type": "object"}, "replicas": {"type": "integer"},
  "snapshot_meta": {"type": "object", "required": ["writer_id", "captured_at"]}}},
"Memory": {"type": "object", "additionalProperties": false,
  "required": ["pointer", "key", "kind", "size_bytes", "base64"], "properties": {
  "pointer": {"type": "string"}, "key": {"type": "string"}, "kind": {"type": "string"},
  "size_bytes": {"type": "integer"}, "base64": {"type": "string"}, "text": {"type": "string"},
  "json": {}}}
})json";

}  // namespace fairlead::http
