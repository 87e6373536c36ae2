// edge_server [--token T] [--user U --password P] [--certificate FILE --key FILE [--client-ca
// FILE]]
//             [--ping-ms N] [--nats-port N]
#include <cstdio>
#include <string>

#include "tests/edge/edge_server.h"

int main(int count, char** words) {
  fairlead::edge::EdgeServerOptions options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = words[i];
    const std::string value = words[i + 1];
    if (name == "--token") {
      options.credentials.token = value;
    } else if (name == "--user") {
      options.credentials.user = value;
    } else if (name == "--password") {
      options.credentials.password = value;
    } else if (name == "--certificate") {
      options.tls.certificate = value;
    } else if (name == "--key") {
      options.tls.key = value;
    } else if (name == "--client-ca") {
      options.tls.client_ca = value;
    } else if (name == "--ping-ms") {
      options.ping_every = std::chrono::milliseconds(std::stoi(value));
      options.tick_every = options.ping_every / 4;
    } else if (name == "--nats-port") {
      options.nats_port = static_cast<uint16_t>(std::stoi(value));
    } else {
      std::fprintf(stderr, "edge_server does not know %s\n", name.c_str());
      return 2;
    }
  }
  return fairlead::edge::EdgeServer(std::move(options)).run();
}
