#include "store/live_job.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/limits.h"

namespace fairlead::store {

LiveJob* LiveJob::make(std::string_view id) {
  void* memory = ::operator new(std::max(sizeof(LiveJob), kIdOffset + id.size()));
  LiveJob* job = new (memory) LiveJob;
  static_assert(limits::kJobIdBytesMax <= UINT16_MAX);
  job->id_size = static_cast<uint16_t>(id.size());
  std::memcpy(static_cast<char*>(memory) + kIdOffset, id.data(), id.size());
  return job;
}

void LiveJob::destroy(LiveJob* job) {
  job->~LiveJob();
  ::operator delete(job);
}

}  // namespace fairlead::store
