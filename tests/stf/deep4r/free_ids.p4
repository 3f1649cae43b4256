// SPDX-License-Identifier: Apache-2.0
//
// DeeP4R with four ids, of which a packet gets one that no other packet has.
#define IDS 4
#define FREE_IDS
#include "../../../programs/deep4r/deep4r.p4"
