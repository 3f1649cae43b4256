// SPDX-License-Identifier: Apache-2.0
//
// Match kinds beyond core.p4's that several architecture models share. A file of its own, because a
// program may include more than one model and a match kind is declared once.

#ifndef _MATCH_KINDS_P4_
#define _MATCH_KINDS_P4_

match_kind {
    range,     // lo..hi, both ends included
    optional,  // one exact value or anything
    selector   // no part of the key: hashed by an action selector to choose a member
}

#endif
