// SPDX-License-Identifier: Apache-2.0
//
// DeeP4R with slices of four bytes, 13 a pass: payloads of a whole segment are searched in 29 passes.
#define SLICE_BYTES 4
#define LOOK_UPS 13
#include "../../../programs/deep4r/deep4r.p4"
