// SPDX-License-Identifier: Apache-2.0
//
// DeeP4R with slices of two bytes, 26 a pass: payloads of a whole segment are searched in 29 passes.
#define SLICE_BYTES 2
#define LOOK_UPS 26
#include "../../../programs/deep4r/deep4r.p4"
