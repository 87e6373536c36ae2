#include "tests/behaviour/wiring.h"

#include "tests/behaviour/cluster_wiring.h"
#include "tests/behaviour/embedded_wiring.h"

namespace fairlead::behaviour {

std::unique_ptr<Wiring> make_wiring(Mode mode, const Wiring::Plugs& plugs) {
  if (mode == Mode::kCluster) return std::make_unique<ClusterWiring>(plugs);
  return std::make_unique<EmbeddedWiring>(mode, plugs);
}

}  // namespace fairlead::behaviour
