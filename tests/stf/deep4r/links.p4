// SPDX-License-Identifier: Apache-2.0
//
// DeeP4R with failure links: no name is lost behind a false start. Eight look-ups a pass.
#define LOOK_UPS 8
#define LINKS 64
#include "../../../programs/deep4r/deep4r.p4"
