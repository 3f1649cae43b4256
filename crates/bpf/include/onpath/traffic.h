/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Traffic manager for programs whose packets have differing copies, or are resubmitted or recirculated.
 *
 * Copies wait for egress in the order of their creation. The initial headers and metadata of a copy are an element
 * of `packet_states`; copies that were made together share one. The packet takes on the bytes of each copy in
 * turn, and is cloned to send one.
 *
 * A resubmitted or recirculated packet is a clone, redirected to the ingress of the interface that the packet came
 * in on. A number in its control block identifies its preserved fields. Copies that are truncated before they
 * leave take the same path, since truncating the packet would truncate the waiting copies. */
#ifndef ONPATH_TRAFFIC_H
#define ONPATH_TRAFFIC_H

#include "drops.h"
#include "send.h"

#define MOST_REPLICAS 64
#define MOST_WAITING 256 /* waiting copies of a packet: a power of two */
#define MOST_STATES 64   /* initial states of all copies */
#define MOST_ROUNDS 32   /* limit of a packet's resubmissions, recirculations and clonings */

#define CURRENT_STATE 0 /* state of the running copy */
#define PARSED_STATE 1  /* state after the parser */
#define FIRST_STATE 2

#define BEGUN_ANEW 0x4f6e7061 /* first word of a resubmitted packet's control block */

struct replica {
    u32 port;
    u32 rid;
};

struct replica_group {
    u32 count;
    struct replica replica[MOST_REPLICAS];
};

struct clone_session {
    u32 truncate;
    u32 group;
    struct replica_group to;
};

/* Copy that waits for egress. */
struct waiting_copy {
    u32 port;
    u32 rid;
    u32 instance;
    u32 state;
    u32 rounds;
    u32 truncate; /* length of a clone, in bytes; 0: not truncated */
};

struct traffic {
    u64 sum;    /* checksum of the packet, by a device: see packet_sum_start */
    u32 sum_to; /* end of the bytes that may change */
    u32 first;  /* index of the next waiting copy */
    u32 end;    /* index after the last waiting copy */
    u32 states; /* number of the next state */
    u32 port;   /* egress port of the running copy */
    u32 rounds; /* number of its resubmissions, recirculations and clonings */
    u32 put_together; /* 1 if the packet was settled for the stack */
    u32 length;       /* length of the packet as it came in, in bytes */
    struct waiting_copy next; /* template for copies that are added */
    struct waiting_copy waiting[MOST_WAITING];
};

/* Record of a packet that is resubmitted, recirculated, or truncated before it leaves. The preserved fields follow
 * it. */
struct round {
    u32 instance;
    u32 rounds;
    u32 port;
    u32 truncate; /* length to truncate to, in bytes; 0: none */
    u32 again;    /* 1 if it is resubmitted or recirculated */
    u32 unused;
    u64 came;
};

_Static_assert(sizeof(struct traffic) == 8 + 4 * 8 + 24 * (1 + MOST_WAITING) && sizeof(struct round) == 32,
               "as in the descriptions of their maps");

/* Initialises the traffic manager's state for a packet. */
INLINE void traffic_begins(struct __sk_buff *ctx, struct traffic *t, struct round *round)
{
    t->length = context_get(ctx, len);
    t->first = 0;
    t->end = 0;
    t->states = FIRST_STATE;
    t->rounds = round ? round->rounds : 0;
    t->put_together = 0;
}

/* Number of bytes of the packet as it came in, whichever copy's bytes it has now. */
#undef packet_length
#define packet_length(ctx, data, data_end) (traffic->length)

/* Distance by which the payload moved since the parser ran, in bytes: the headers before it may be those of
 * another copy. */
#define packet_moved(ctx) (context_get(ctx, len) - traffic->length)

/* Returns the record of a resubmitted packet; NULL for others. */
INLINE void *round_of(struct __sk_buff *ctx, void *rounds, u64 *number)
{
    void *round;

    if (context_get(ctx, cb[0]) != BEGUN_ANEW)
        return NULL;
    *number = (u64)context_get(ctx, cb[1]) << 32 | context_get(ctx, cb[2]);
    round = bpf_map_lookup_elem(rounds, number);
    /* Another program's control block is ignored. */
    if (round)
        context_set(ctx, cb[0], 0);
    return round;
}

/* Adds a waiting copy for a port. */
INLINE void wait_for_egress(struct traffic *t, void *drops, u32 port, u32 rid)
{
    u32 at = t->end;

    barrier_var(at);
    if (at >= MOST_WAITING) {
        count_drop(drops, DROPPED_QUEUE);
        return;
    }
    t->waiting[at] = t->next;
    t->waiting[at].port = port;
    t->waiting[at].rid = rid;
    t->end = at + 1;
}

struct replicating {
    struct traffic *t;
    struct replica_group *to;
    void *drops;
};

STATIC_FUNC long replicate(u32 turn, struct replicating *r)
{
    if (turn >= MOST_REPLICAS)
        return 1;
    wait_for_egress(r->t, r->drops, r->to->replica[turn].port, r->to->replica[turn].rid);
    return 0;
}

INLINE void wait_all(struct traffic *t, void *drops, struct replica_group *to)
{
    struct replicating r = {t, to, drops};

    bpf_loop(to->count, replicate, &r, 0);
}

/* Adds a waiting copy for each replica of a group, after the template `next`. */
STATIC_FUNC long wait_group(struct traffic *t, void *groups, void *drops, u32 group)
{
    struct replica_group *to = bpf_map_lookup_elem(groups, &group);

    if (to)
        wait_all(t, drops, to);
    else
        count_drop(drops, DROPPED_MULTICAST_GROUP);
    return 0;
}

/* Returns the session to clone in; NULL if it does not exist, or the limit of MOST_ROUNDS is reached. */
INLINE struct clone_session *session_of(struct traffic *t, void *sessions, void *drops, u32 number)
{
    struct clone_session *session = bpf_map_lookup_elem(sessions, &number);

    if (!session) {
        count_drop(drops, DROPPED_CLONE_SESSION);
        return NULL;
    }
    if (t->rounds >= MOST_ROUNDS) {
        count_drop(drops, DROPPED_ROUNDS);
        return NULL;
    }
    return session;
}

/* Adds a session's waiting copies, those of its group first. */
STATIC_FUNC long wait_clones(struct traffic *t, void *groups, void *drops, struct clone_session *session)
{
    t->next.rounds = t->rounds + 1;
    t->next.truncate = session->truncate;
    if (session->group)
        wait_group(t, groups, drops, session->group);
    wait_all(t, drops, &session->to);
    return 0;
}

/* Returns the number of a new state; 0 if there is no room. */
INLINE u32 new_state(struct traffic *t, void *drops)
{
    u32 number = t->states;

    if (number >= MOST_STATES) {
        count_drop(drops, DROPPED_QUEUE);
        return 0;
    }
    t->states = number + 1;
    return number;
}

INLINE u32 nothing_waits(struct traffic *t)
{
    return t->first >= t->end;
}

/* Removes and returns the next waiting copy; NULL if there is none. */
INLINE struct waiting_copy *next_waiting(struct traffic *t)
{
    u32 at = t->first;

    barrier_var(at);
    if (at >= t->end || at >= MOST_WAITING)
        return NULL;
    t->first = at + 1;
    t->rounds = t->waiting[at].rounds;
    t->port = t->waiting[at].port;
    return &t->waiting[at];
}

/* Counts the waiting copies and the running one as lost. */
INLINE void lose_all(struct traffic *t, void *drops)
{
    u32 reason = DROPPED_QUEUE;
    u64 *count = bpf_map_lookup_elem(drops, &reason);

    if (count)
        *count += t->end - t->first + 1;
}

/* Makes a settled packet modifiable again: the tag outside the packet data goes back into it. Returns 0 on
 * success. */
INLINE long packet_open(struct __sk_buff *ctx, struct traffic *t)
{
    u32 settled = t->put_together;

    t->put_together = 1;
#ifdef ONPATH_OBSERVE
    /* In test runs, packet_settle has left the tags in the packet. */
    settled = 0;
#endif
    return settled && context_get(ctx, vlan_present) ? vlan_into_packet(ctx) : 0;
}

/* Returns `bytes`, rounded up to an even number. */
INLINE u32 even(u32 bytes)
{
    return (bytes + 1) & ~1u;
}

/* Makes the record of a clone that is to be resubmitted. */
INLINE void *new_round(void *rounds, const void *none, u64 *number)
{
    *number = (u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
    if (bpf_map_update_elem(rounds, number, none, BPF_ANY))
        return NULL;
    return bpf_map_lookup_elem(rounds, number);
}

#ifdef ONPATH_OBSERVE

#define OBSERVED_PACKETS 256
#define OBSERVED_BYTES 4096
#define OBSERVED_COPY 0  /* sent out of the port `number` */
#define OBSERVED_AGAIN 1 /* to be resubmitted, with the record `number` */

/* Copy with bytes of its own. */
struct observed_packet {
    u64 number;
    u32 kind;
    u32 length;
    u8 bytes[OBSERVED_BYTES];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, OBSERVED_PACKETS);
    __type(key, u32);
    __type(value, struct observed_packet);
} observed_packets SEC(".maps");

/* Records a copy. Returns 0 if there was room. */
GLOBAL_FUNC long observe_packet(struct __sk_buff *ctx, u32 kind, u64 number)
{
    u32 at = onpath_observed.copies, length = context_get(ctx, len), last = length - 1;
    struct observed_packet *packet = bpf_map_lookup_elem(&observed_packets, &at);

    if (!packet || last >= OBSERVED_BYTES)
        return -1;
    /* From a mask, many verifiers learn more than from a comparison. */
    barrier_var(last);
    last &= OBSERVED_BYTES - 1;
    if (bpf_skb_load_bytes(ctx, 0, packet->bytes, last + 1))
        return -1;
    packet->number = number;
    packet->kind = kind;
    packet->length = length;
    onpath_observed.copies = at + 1;
    return 0;
}

INLINE void come_in_again(struct __sk_buff *ctx, void *drops, u64 number)
{
    if (observe_packet(ctx, OBSERVED_AGAIN, number))
        count_drop(drops, DROPPED_QUEUE);
}

INLINE void send_differing(struct __sk_buff *ctx, void *ports, void *drops, u32 port)
{
    (void)ports;
    if (observe_packet(ctx, OBSERVED_COPY, port))
        count_drop(drops, DROPPED_QUEUE);
}

#else

INLINE void come_in_again(struct __sk_buff *ctx, void *drops, u64 number)
{
    context_set(ctx, cb[0], BEGUN_ANEW);
    context_set(ctx, cb[1], number >> 32);
    context_set(ctx, cb[2], number);
    if (bpf_clone_redirect(ctx, context_get(ctx, ifindex), BPF_F_INGRESS))
        count_drop(drops, DROPPED_QUEUE);
    context_set(ctx, cb[0], 0);
}

INLINE void send_differing(struct __sk_buff *ctx, void *ports, void *drops, u32 port)
{
    forward_copy(ctx, ports, port, drops);
}

#endif

#endif
