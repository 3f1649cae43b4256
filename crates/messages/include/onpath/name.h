/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Names in the payload, for look-ups in name sets. */
#ifndef ONPATH_NAME_H
#define ONPATH_NAME_H

#include "message.h"
#include "name_set.h"

/* Loads a name of `length` bytes, 1 to NAME_MOST, from offset `from` of a packet of `all` bytes, in lower case. Returns
 * its length, or 0 if the packet does not have it. */
INLINE u32 payload_name(void *ctx, struct name_text *text, u64 from, u32 length, u64 all)
{
    u32 mask = sizeof(text->bytes) - 1;

    if (from > PAYLOAD_LAST_BEGIN || from + length > all || message_copy(ctx, from, text->bytes, length, mask))
        return 0;
    name_copy(text, text->bytes, mask & ~7u, 0, length);
    return length;
}

#endif
