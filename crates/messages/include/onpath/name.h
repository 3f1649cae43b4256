/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Names in the payload, for look-ups in name sets. */
#ifndef ONPATH_NAME_H
#define ONPATH_NAME_H

#include "message.h"
#include "name_set.h"

/* Loads the end of a name of `length` bytes from offset `from` of a packet of `all` bytes, in lower case. Returns the
 * number of bytes, or 0 if the packet does not have the name. */
INLINE u32 payload_name(void *ctx, struct name_text *text, u64 from, u32 length, u64 all)
{
    u32 front = name_front(length);

    if (!text || !length || from > PAYLOAD_LAST_BEGIN || from + length > all)
        return 0;
    from += front;
    length -= front;
    if (from > PAYLOAD_LAST_BEGIN || message_copy(ctx, from, text->bytes, length, NAME_MASK))
        return 0;
    return name_copy(text, text->bytes, NAME_MASK & ~7u, 0, length);
}

#endif
