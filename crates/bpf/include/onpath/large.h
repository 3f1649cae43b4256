/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What a large program includes: then the other headers do what helps the verifier through it, at a small cost. */
#ifndef ONPATH_LARGE
#define ONPATH_LARGE 1
#endif
