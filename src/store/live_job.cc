#include "store/live_job.h"

#include <cstring>
#include <new>

#include "base/limits.h"

namespace fairlead::store {

LiveJob* LiveJob::make(std::string_view id) {
  void* memory = ::operator new(sizeof(LiveJob) + id.size());
  LiveJob* job = new (memory) LiveJob;
  static_assert(limits::kJobIdBytesMax <= UINT16_MAX);
  job->id_size = static_cast<uint16_t>(id.size());
  std::memcpy(static_cast<void*>(job + 1), id.data(), id.size());
  return job;
}

void LiveJob::destroy(LiveJob* job) {
  job->~LiveJob();
  ::operator delete(job);
}

}  // namespace fairlead::store
