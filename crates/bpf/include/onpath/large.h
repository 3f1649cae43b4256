/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Switch for large programs: with it, the other headers take steps that help the verifier, at a small cost. */
#ifndef ONPATH_LARGE
#define ONPATH_LARGE 1
#endif
