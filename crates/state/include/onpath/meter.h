/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Two-rate three-colour meters, colour-blind (RFC 2698). Each meter has a lock, so that packets on several processors
 * take no token twice. Tokens are added once per microsecond, in whole tokens; the fraction is kept. All numbers are
 * integers, and equal those of the reference interpreter bit for bit. */
#ifndef ONPATH_METER_H
#define ONPATH_METER_H

#include "types.h"

#define METER_GREEN 0
#define METER_YELLOW 1
#define METER_RED 2

/* Microseconds in a second, and parts of a token: a rate of one token a second adds one part per microsecond. */
#define METER_SECOND 1000000

struct meter_bucket {
    u64 whole;  /* tokens added per microsecond */
    u64 parts;  /* and parts, less than a token */
    u64 burst;  /* capacity */
    u64 tokens; /* present contents */
    u64 part;   /* and parts */
};

struct packet_meter {
    VALUE_LOCK lock;
    u32 limited; /* 0: no rates, so that every packet is green */
    u64 last;    /* time of the last refill, in microseconds */
    struct meter_bucket committed;
    struct meter_bucket peak;
};

/* Returns a sum, saturated at the largest number. */
INLINE u64 meter_sum(u64 a, u64 b)
{
    return a + b < a ? ~0ull : a + b;
}

/* Adds the tokens of a number of microseconds, which is `seconds` seconds and `rest` microseconds. */
INLINE void meter_fill(struct meter_bucket *bucket, u64 microseconds, u64 seconds, u64 rest)
{
    u64 whole = bucket->whole, parts = bucket->parts * rest + bucket->part, more;

    more = whole * microseconds;
    /* A microsecond adds less than 2^64 millionths of a token, so that only whole seconds can overflow. */
    if (seconds && whole) {
        u64 most = ~0ull / whole;

        /* Otherwise the compiler would multiply 128 bits, for which it has no code. */
        barrier_var(most);
        if (microseconds > most)
            more = ~0ull;
    }
    more = meter_sum(more, bucket->parts * seconds);
    more = meter_sum(more, parts / METER_SECOND);
    bucket->part = parts % METER_SECOND;
    more = meter_sum(more, bucket->tokens);
    bucket->tokens = more < bucket->burst ? more : bucket->burst;
}

/* Returns the colour of a packet that costs `cost` tokens, and takes them. Green if there is no meter. */
INLINE u32 meter_color(struct packet_meter *meter, u64 cost)
{
    u64 now = now_ns() / 1000, passed, seconds, rest;
    u32 color = METER_GREEN;

    if (!meter)
        return color;
    take_lock(&meter->lock);
    if (meter->limited) {
        passed = now > meter->last ? now - meter->last : 0;
        meter->last += passed;
        seconds = passed / METER_SECOND;
        rest = passed % METER_SECOND;
        meter_fill(&meter->peak, passed, seconds, rest);
        meter_fill(&meter->committed, passed, seconds, rest);
        if (meter->peak.tokens < cost) {
            color = METER_RED;
        } else {
            meter->peak.tokens -= cost;
            if (meter->committed.tokens < cost)
                color = METER_YELLOW;
            else
                meter->committed.tokens -= cost;
        }
    }
    give_lock_back(&meter->lock);
    return color;
}

#endif
