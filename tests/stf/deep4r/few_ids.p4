// SPDX-License-Identifier: Apache-2.0
//
// DeeP4R with two ids, so that packets share one.
#define IDS 2
#include "../../../programs/deep4r/deep4r.p4"
