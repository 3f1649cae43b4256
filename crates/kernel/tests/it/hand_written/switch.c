/* A hand-written switch with the structure of generated programs: every kind of table, a changeable
 * default, counters, ports. The tests describe its maps as the compiler would.
 *
 * Ethernet destination (48 bits, network order):
 *   macs    hash           dst            -> out(port) | drop
 *   routes  LPM trie       dst            -> out(port)
 *   slots   array          src's last byte-> out(port)
 *   rules   tuple space    type, src      -> out(port) | drop
 * and the default of macs when nothing matches anywhere.
 */
#include "program.h"

struct xdp_md {
    u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

#ifdef ONPATH_OBSERVE
struct observed onpath_observed SEC(".data.observed");
#define redirect(map, to, flags) (onpath_observed.port = (to), 4)
#else
static long (*const redirect)(void *, u64, u64) = (void *)51;
#endif

struct bytes8 { u8 b[8]; };
struct bytes34 { u8 b[34]; };

struct value {
    u32 action;
    u32 port;
};

struct {
    __uint(type, 1);
    __uint(max_entries, 2);
    __type(key, struct bytes8);
    __type(value, struct value);
} macs SEC(".maps");

struct trie_key {
    u32 length;
    u8 dst[6];
    u8 pad[2];
};

struct {
    __uint(type, 11);
    __uint(max_entries, 4);
    __uint(map_flags, 1);
    __type(key, struct trie_key);
    __type(value, struct value);
} routes SEC(".maps");

struct {
    __uint(type, 2);
    __uint(max_entries, 4);
    __type(key, u32);
    __type(value, struct value);
} slots SEC(".maps");

struct rule_key {
    u16 type;
    u8 src[6];
};

struct mask {
    u32 tuple;
    u32 top;
    struct rule_key mask;
};

struct entry_key {
    u32 tuple;
    struct rule_key key;
};

struct rule_value {
    u32 priority;
    u32 action;
    u32 port;
};

struct {
    __uint(type, 2);
    __uint(max_entries, 16);
    __type(key, u32);
    __type(value, struct mask);
} rule_masks SEC(".maps");

struct {
    __uint(type, 1);
    __uint(max_entries, 32);
    __type(key, struct entry_key);
    __type(value, struct rule_value);
} rule_entries SEC(".maps");

struct {
    __uint(type, 1);
    __uint(max_entries, 8);
    __type(key, u32);
    __type(value, struct bytes34);
} rule_shadow SEC(".maps");

struct {
    __uint(type, 6);
    __uint(max_entries, 4);
    __type(key, u32);
    __type(value, u64);
} seen SEC(".maps");

struct {
    __uint(type, 25);
    __uint(max_entries, 8);
    __type(key, u32);
    __type(value, u32);
} ports SEC(".maps");

struct {
    u64 head;
    u32 selector;
    u32 pad;
    struct value slot[2];
} globals SEC(".data.onpath") = {.slot = {{2, 0}, {2, 0}}};

static inline int act(u32 action, u32 port)
{
    if (action == 1)
        return redirect(&ports, port, 0);
    return action == 3 ? 2 : 1;
}

SEC("xdp") int filter(struct xdp_md *ctx)
{
    u8 *p = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;
    if (p + 14 > end)
        return 0;
    u32 ifindex = ctx->ingress_ifindex;
    u32 *port = lookup(&inputs, &ifindex);
    u32 index = port ? *port : ifindex;
    u64 *count = lookup(&seen, &index);
    if (count)
        *count += 1;

    u8 mac[8] = {p[0], p[1], p[2], p[3], p[4], p[5]};
    struct value *value = lookup(&macs, mac);
    if (value)
        return act(value->action, value->port);
    struct trie_key key = {.length = 48, .dst = {p[0], p[1], p[2], p[3], p[4], p[5]}};
    value = lookup(&routes, &key);
    if (value)
        return act(value->action, value->port);
    u32 slot = p[11];
    value = lookup(&slots, &slot);
    if (value && value->action)
        return act(value->action, value->port);

    u64 head = *(volatile u64 *)&globals.head;
    u32 at = (u32)head, left = head >> 32;
    struct rule_value *best = 0;
    struct entry_key wanted;
    for (u32 i = 0; i < 8; i++) {
        if (i >= left)
            break;
        u32 n = at + i;
        struct mask *mask = lookup(&rule_masks, &n);
        if (!mask || (best && mask->top <= best->priority))
            break;
        wanted.tuple = mask->tuple;
        wanted.key.type = *(u16 *)(p + 12) & mask->mask.type;
        for (int b = 0; b < 6; b++)
            wanted.key.src[b] = p[6 + b] & mask->mask.src[b];
        struct rule_value *found = lookup(&rule_entries, &wanted);
        if (found && (!best || found->priority > best->priority))
            best = found;
    }
    if (best)
        return act(best->action, best->port);
    u32 used = *(volatile u32 *)&globals.selector & 1;
    return act(globals.slot[used].action, globals.slot[used].port);
}

char license_text[] SEC("license") = "Dual BSD/GPL";
