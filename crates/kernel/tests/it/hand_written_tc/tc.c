/* Hand-written tc program with the structure of generated ones. The packet itself says what to do with it: the
 * last byte of the destination address selects the action, and that of the source address the port. */
#include "program.h"

struct __sk_buff {
    u32 len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto, priority;
    u32 ingress_ifindex, ifindex, tc_index, cb[5], hash, tc_classid, data, data_end, napi_id, family;
    u32 remote_ip4, local_ip4, remote_ip6[4], local_ip6[4], remote_port, local_port, data_meta;
    u64 flow_keys, tstamp;
    u32 wire_len, gso_segs;
    u64 sk;
    u32 gso_size;
};

static long (*const store_bytes)(struct __sk_buff *, u32, const void *, u32, u64) = (void *)9;
static u64 (*const ktime)(void) = (void *)5;
static long (*const clone_redirect)(struct __sk_buff *, u32, u64) = (void *)13;
static long (*const redirect)(u32, u64) = (void *)23;

struct flow {
    u64 packets;
};

struct {
    __uint(type, 1);
    __uint(max_entries, 8);
    __type(key, u32);
    __type(value, u32);
} outputs SEC(".maps");

struct group {
    u32 count, port[32];
};

struct {
    __uint(type, 1);
    __uint(max_entries, 2);
    __type(key, u32);
    __type(value, struct group);
} groups SEC(".maps");

/* Stands in for a flow_state. */
struct {
    __uint(type, 2);
    __uint(max_entries, FLOWS);
    __type(key, u32);
    __type(value, struct flow);
} flows SEC(".maps");

#ifdef COPIES
struct replicas {
    u32 count;
    struct {
        u32 port, rid;
    } replica[64];
};

struct session {
    u32 truncate, group;
    struct replicas to;
};

struct {
    __uint(type, 1);
    __uint(max_entries, COPIES);
    __uint(map_flags, 1);
    __type(key, u32);
    __type(value, struct replicas);
} replicas SEC(".maps");

struct {
    __uint(type, 1);
    __uint(max_entries, COPIES);
    __uint(map_flags, 1);
    __type(key, u32);
    __type(value, struct session);
} sessions SEC(".maps");

struct {
    __uint(type, 6);
    __uint(max_entries, 6);
    __type(key, u32);
    __type(value, struct flow);
} losses SEC(".maps");
#endif

const volatile u64 hash_seeds[3] SEC(".rodata.onpath") = {0};

#ifdef ONPATH_OBSERVE
struct observed observed SEC(".data.observed");
#endif

static inline int go(u32 port, u32 ingress)
{
#ifdef ONPATH_OBSERVE
    observed.port = port;
    observed.redirect_ingress = ingress;
    return 7;
#else
    u32 *index = lookup(&outputs, &port);
    return index ? redirect(*index, ingress) : 2;
#endif
}

static inline void copy(struct __sk_buff *ctx, u32 port)
{
#ifdef ONPATH_OBSERVE
    observed.copy[observed.copies++ & 63] = port;
#else
    u32 *index = lookup(&outputs, &port);
    if (index)
        clone_redirect(ctx, *index, 0);
#endif
}

SEC("tc") int classify(struct __sk_buff *ctx)
{
    u8 *p = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;
#ifdef ONPATH_OBSERVE
    observed.copies = observed.drawn = 0;
#endif
    if (p + 14 > end)
        return 2;
    u32 what = p[5], where = p[11], zero = 0;
    struct flow *flow = lookup(&flows, &zero);
    if (flow)
        __sync_fetch_and_add(&flow->packets, 1);
    switch (what) {
    case 0:
        return -1;
    case 2:
    case 3:
        return go(where, what - 2);
    case 4:
        copy(ctx, where);
        return -1;
    case 5: {
        struct group *group = lookup(&groups, &where);
        if (!group)
            return 2;
        for (u32 i = 0; i < 32; i++) {
            if (i >= group->count)
                break;
            copy(ctx, group->port[i]);
        }
        return 2;
    }
    case 6: {
        /* Reports its input in the source address: port, mark, tag, segments. */
        u32 index = ctx->ifindex, *port = lookup(&inputs, &index);
        u8 seen[5] = {port ? *port : 0xff, ctx->mark, ctx->vlan_present, ctx->gso_segs, ctx->gso_size};
        ctx->mark = ctx->mark + 1;
        ctx->priority = 3;
        store_bytes(ctx, 6, seen, sizeof(seen), 0);
        return -1;
    }
#ifdef COPIES
    case 8: {
        /* Drops a packet for a reason, and counts it. */
        struct flow *lost = lookup(&losses, &where);
        if (lost)
            lost->packets += 1;
        return 2;
    }
    case 9: {
        /* Copies to a session's ports. Copies with another id than that of the first are lost. */
        struct session *session = lookup(&sessions, &where);
        struct flow *lost = lookup(&losses, &zero);
        if (!session)
            return 2;
        for (u32 i = 0; i < 64; i++) {
            if (i >= session->to.count)
                break;
            if (session->to.replica[i].rid == session->to.replica[0].rid)
                copy(ctx, session->to.replica[i].port);
            else if (lost)
                lost->packets += 1;
        }
        return 2;
    }
#endif
#ifdef ONPATH_OBSERVE
    case 7: {
        u64 now = observed.now;
        u8 drawn = observed.random[observed.drawn++ & 63];
        u8 report[6] = {drawn, now >> 32, now >> 24, now >> 16, now >> 8, now};
        store_bytes(ctx, 6, report, sizeof(report), 0);
        return -1;
    }
#endif
    }
    return 2;
}

char license_text[] SEC("license") = "Dual BSD/GPL";
