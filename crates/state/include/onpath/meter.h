/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Two-rate three-colour meters, colour-blind (RFC 2698), each under a lock of its own: packets on several processors take no
 * token twice. Tokens come by the microsecond, whole ones only, and what there is of the next one is kept. The numbers are whole
 * and those of the reference interpreter, bit for bit. */
#ifndef ONPATH_METER_H
#define ONPATH_METER_H

#include "types.h"

#define METER_GREEN 0
#define METER_YELLOW 1
#define METER_RED 2

/* Microseconds in a second, and parts of a token: what a rate of one token a second brings in a microsecond. */
#define METER_SECOND 1000000

struct meter_bucket {
    u64 whole;  /* tokens that a microsecond brings */
    u64 parts;  /* and parts of one, less than a token */
    u64 burst;  /* the most that it holds */
    u64 tokens; /* how many it holds */
    u64 part;   /* and parts of one */
};

struct packet_meter {
    VALUE_LOCK lock;
    u32 limited; /* 0: it has no rates, and everything is green */
    u64 last;    /* when tokens came last, in microseconds */
    struct meter_bucket committed;
    struct meter_bucket peak;
};

/* A sum, the largest number at most. */
INLINE u64 meter_sum(u64 a, u64 b)
{
    return a + b < a ? ~0ull : a + b;
}

/* Brings the tokens of so many microseconds: of so many seconds and the rest. */
INLINE void meter_fill(struct meter_bucket *bucket, u64 microseconds, u64 seconds, u64 rest)
{
    u64 whole = bucket->whole, parts = bucket->parts * rest + bucket->part, more;

    more = whole * microseconds;
    /* A microsecond brings less than 2^64 millionths of a token, so that only seconds bring too many tokens. */
    if (seconds && whole) {
        u64 most = ~0ull / whole;

        /* Else the compiler would multiply 128 bits, for which it has no code. */
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

/* The colour of a packet that costs so many tokens and takes them; green where there is no meter. */
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
