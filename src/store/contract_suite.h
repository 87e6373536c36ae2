// The behaviour that every store must show: store.h and change.h, sentence by sentence.
//
// A store's test includes this once and names itself:
//   FAIRLEAD_STORE_CONTRACT(kind);          every store
//   FAIRLEAD_STORE_DURABILITY(kind);        one that keeps things when it is closed
//   FAIRLEAD_STORE_OF_ONE_PROCESS(kind);    and that nobody else opens
// where `kind` is a StoreKind that says how to open it.
#pragma once

#include "store/contract/beside_contract.h"
#include "store/contract/change_contract.h"
#include "store/contract/durability_contract.h"
#include "store/contract/lease_contract.h"
#include "store/contract/scan_contract.h"
#include "store/contract/waiting_contract.h"

#define FAIRLEAD_STORE_SUITE(suite, kind) \
  INSTANTIATE_TEST_SUITE_P(Store, suite, testing::Values(kind), name_of)

#define FAIRLEAD_STORE_CONTRACT(kind)          \
  FAIRLEAD_STORE_SUITE(ChangeContract, kind);  \
  FAIRLEAD_STORE_SUITE(ScanContract, kind);    \
  FAIRLEAD_STORE_SUITE(WaitingContract, kind); \
  FAIRLEAD_STORE_SUITE(BesideContract, kind);  \
  FAIRLEAD_STORE_SUITE(BreakerContract, kind); \
  FAIRLEAD_STORE_SUITE(LeaseContract, kind)

#define FAIRLEAD_STORE_DURABILITY(kind) FAIRLEAD_STORE_SUITE(DurabilityContract, kind)
#define FAIRLEAD_STORE_OF_ONE_PROCESS(kind) FAIRLEAD_STORE_SUITE(OneProcessContract, kind)
