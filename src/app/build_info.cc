#include "app/build_info.h"

namespace fairlead::app {

Build build_info() {
  return {FAIRLEAD_VERSION, FAIRLEAD_COMMIT, FAIRLEAD_COMMIT_DATE};
}

}  // namespace fairlead::app
