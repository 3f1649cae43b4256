/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The traffic manager of a program whose packets may have copies that differ, or begin anew.
 *
 * Copies wait for egress in the order in which they were made. What each begins with, headers and metadata, is an element of
 * `packet_states`: copies that were made together share one. The packet itself has the bytes of each in turn, and is cloned where
 * one leaves. Whatever begins anew is a clone that comes in again by the interface that the packet came in by, with a number by which
 * it finds what it keeps; so does a copy that is cut before it leaves, since cutting the packet would cut those that wait. */
#ifndef ONPATH_TRAFFIC_H
#define ONPATH_TRAFFIC_H

#include "drops.h"
#include "send.h"

#define MOST_REPLICAS 64
#define MOST_WAITING 256 /* copies of a packet: a power of two */
#define MOST_STATES 64   /* what they begin with, together */
#define MOST_ROUNDS 32   /* how often a packet, or a copy of it, may begin anew or be cloned */

#define CURRENT_STATE 0 /* of what runs */
#define PARSED_STATE 1  /* as the parser left it */
#define FIRST_STATE 2

#define BEGUN_ANEW 0x4f6e7061 /* the first word of its control block */

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

/* A copy that waits for egress. */
struct waiting_copy {
    u32 port;
    u32 rid;
    u32 instance;
    u32 state;
    u32 rounds;
    u32 truncate; /* bytes, of a clone; 0: all */
};

struct traffic {
    u64 sum;    /* of the packet, by a device: see packet_sum_start */
    u32 sum_to; /* where what may change of it ends */
    u32 first;  /* the copy that is next */
    u32 end;    /* behind the last one */
    u32 states; /* the number of the next state */
    u32 port;   /* where what runs goes */
    u32 rounds; /* how often it began anew */
    u32 put_together; /* the packet was settled for the stack */
    u32 length;       /* of the packet as it came in, in bytes */
    struct waiting_copy next; /* how those are that are to wait */
    struct waiting_copy waiting[MOST_WAITING];
};

/* What a packet keeps that begins anew, or is cut before it leaves; in front of the fields that it keeps. */
struct round {
    u32 instance;
    u32 rounds;
    u32 port;
    u32 truncate; /* bytes that it is cut to; 0: none */
    u32 again;    /* it begins anew */
    u32 unused;
    u64 came;
};

_Static_assert(sizeof(struct traffic) == 8 + 4 * 8 + 24 * (1 + MOST_WAITING) && sizeof(struct round) == 32,
               "as in the descriptions of their maps");

/* Before anything of a packet runs. */
INLINE void traffic_begins(struct __sk_buff *ctx, struct traffic *t, struct round *round)
{
    t->length = context_get(ctx, len);
    t->first = 0;
    t->end = 0;
    t->states = FIRST_STATE;
    t->rounds = round ? round->rounds : 0;
    t->put_together = 0;
}

/* Bytes in all: whatever copy of it the packet is now, they are counted as it came in. */
#undef packet_length
#define packet_length(ctx, data, data_end) (traffic->length)

/* Bytes by which the payload lies farther than where the parser left it: what is in front of it is what another copy has. */
#define packet_moved(ctx) (context_get(ctx, len) - traffic->length)

/* What was kept of a packet that comes in again; NULL of others. */
INLINE void *round_of(struct __sk_buff *ctx, void *rounds, u64 *number)
{
    void *round;

    if (context_get(ctx, cb[0]) != BEGUN_ANEW)
        return NULL;
    *number = (u64)context_get(ctx, cb[1]) << 32 | context_get(ctx, cb[2]);
    round = bpf_map_lookup_elem(rounds, number);
    /* What another program left there is not for this one. */
    if (round)
        context_set(ctx, cb[0], 0);
    return round;
}

/* One more copy waits, for this port. */
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

/* The copies of a group wait, each as the next one is to be. */
STATIC_FUNC long wait_group(struct traffic *t, void *groups, void *drops, u32 group)
{
    struct replica_group *to = bpf_map_lookup_elem(groups, &group);

    if (to)
        wait_all(t, drops, to);
    else
        count_drop(drops, DROPPED_MULTICAST_GROUP);
    return 0;
}

/* The session that something is cloned in; NULL if there is none, or the copy would be one too many. */
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

/* The copies of a session wait, those of its group first. */
STATIC_FUNC long wait_clones(struct traffic *t, void *groups, void *drops, struct clone_session *session)
{
    t->next.rounds = t->rounds + 1;
    t->next.truncate = session->truncate;
    if (session->group)
        wait_group(t, groups, drops, session->group);
    wait_all(t, drops, &session->to);
    return 0;
}

/* The number of a state to be taken down; 0 if there is no room. */
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

/* The copy that is next; NULL if none is. */
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

/* Copies that wait are lost, and what runs. */
INLINE void lose_all(struct traffic *t, void *drops)
{
    u32 reason = DROPPED_QUEUE;
    u64 *count = bpf_map_lookup_elem(drops, &reason);

    if (count)
        *count += t->end - t->first + 1;
}

/* The packet as it is, with what is beside it, becomes bytes again that can be changed. 0 if it could. */
INLINE long packet_open(struct __sk_buff *ctx, struct traffic *t)
{
    u32 settled = t->put_together;

    t->put_together = 1;
#ifdef ONPATH_OBSERVE
    /* packet_settle has left them in the packet. */
    settled = 0;
#endif
    return settled && context_get(ctx, vlan_present) ? vlan_into_packet(ctx) : 0;
}

/* The offset behind `bytes`, rounded up to an even one. */
INLINE u32 even(u32 bytes)
{
    return (bytes + 1) & ~1u;
}

/* What a clone of the packet keeps that comes in again. */
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
#define OBSERVED_COPY 0  /* went out of the port `number` */
#define OBSERVED_AGAIN 1 /* is to come in again, with what is kept for `number` */

/* A copy that has bytes of its own. */
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

/* 0 if there was room. */
GLOBAL_FUNC long observe_packet(struct __sk_buff *ctx, u32 kind, u64 number)
{
    u32 at = onpath_observed.copies, length = context_get(ctx, len), last = length - 1;
    struct observed_packet *packet = bpf_map_lookup_elem(&observed_packets, &at);

    if (!packet || last >= OBSERVED_BYTES)
        return -1;
    /* Of comparisons many verifiers learn less. */
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
