/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Sending packets out of other ports. Test runs send nothing, and record the ports for the test to read. Ports
 * without an interface get nothing. */
#ifndef ONPATH_SEND_H
#define ONPATH_SEND_H

#include "bpf.h"
#include "drops.h"
#include "observe.h"
#include "skb.h"

#define MOST_PORTS_OF_A_GROUP 32

struct port_group {
    u32 count;
    u32 port[MOST_PORTS_OF_A_GROUP];
};

#ifdef ONPATH_OBSERVE

/* Records a redirect to a port, or to its ingress. */
INLINE long redirect_to(void *ports, u32 port, u64 flags)
{
    (void)ports;
    onpath_observed.port = port;
    onpath_observed.redirect_ingress = flags == BPF_F_INGRESS;
    return TC_SENT;
}

/* Records a redirect to the ingress port, whose number user space knows. */
INLINE long send_back(struct __sk_buff *ctx)
{
    (void)ctx;
    onpath_observed.redirect_ingress = SENT_BACK;
    return TC_SENT;
}

INLINE void send_copy(struct __sk_buff *ctx, void *ports, u32 port)
{
    (void)ctx, (void)ports;
    onpath_observed.copy[onpath_observed.copies++ & (OBSERVED - 1)] = port;
}

INLINE long forward_to(void *ports, u32 port, void *drops)
{
    (void)drops;
    return redirect_to(ports, port, 0);
}

INLINE void forward_copy(struct __sk_buff *ctx, void *ports, u32 port, void *drops)
{
    (void)drops;
    send_copy(ctx, ports, port);
}

#else

/* Redirects to a port, or to its ingress. */
INLINE long redirect_to(void *ports, u32 port, u64 flags)
{
    u32 *interface = bpf_map_lookup_elem(ports, &port);

    return interface ? bpf_redirect(*interface, flags) : TC_STOP;
}

/* Redirects to the interface that the packet came in on. */
INLINE long send_back(struct __sk_buff *ctx)
{
    return bpf_redirect(context_get(ctx, ifindex), 0);
}

/* Sends a copy out of a port. */
INLINE void send_copy(struct __sk_buff *ctx, void *ports, u32 port)
{
    u32 *interface = bpf_map_lookup_elem(ports, &port);

    if (interface)
        bpf_clone_redirect(ctx, *interface, 0);
}

/* Redirects to a port. If it has no interface, drops and counts the packet. */
INLINE long forward_to(void *ports, u32 port, void *drops)
{
    u32 *interface = bpf_map_lookup_elem(ports, &port);

    if (interface)
        return bpf_redirect(*interface, 0);
    count_drop(drops, DROPPED_PORT);
    return TC_STOP;
}

/* Sends a copy out of a port. A copy that is not sent is counted. */
INLINE void forward_copy(struct __sk_buff *ctx, void *ports, u32 port, void *drops)
{
    u32 *interface = bpf_map_lookup_elem(ports, &port);
    long sent;

    if (!interface) {
        count_drop(drops, DROPPED_PORT);
        return;
    }
    sent = bpf_clone_redirect(ctx, *interface, 0);
    /* -22, EINVAL: the interface is gone. 2, NET_XMIT_CN, is no loss: its queue took the packet and asks for fewer. */
    if (sent && sent != 2)
        count_drop(drops, sent == -22 ? DROPPED_PORT : DROPPED_QUEUE);
}

#endif

/* Sends a copy out of each port of a group. */
INLINE void send_copies(struct __sk_buff *ctx, void *groups, void *ports, u32 group)
{
    struct port_group *to = bpf_map_lookup_elem(groups, &group);

    if (!to)
        return;
    for (u32 i = 0; i < MOST_PORTS_OF_A_GROUP && i < to->count; i++)
        send_copy(ctx, ports, to->port[i]);
}

/* Adds a port to a group. */
INLINE void add_destination(struct port_group *to, u32 port)
{
    u32 at = to->count;

    if (at < MOST_PORTS_OF_A_GROUP) {
        to->port[at] = port;
        to->count = at + 1;
    }
}

/* Sends out of each port of a group that is not empty: a copy for each but the last, which gets the packet itself.
 * Losses are counted. */
INLINE long send_to_all(struct __sk_buff *ctx, void *ports, struct port_group *to, void *drops)
{
    u32 last = to->count - 1;

    for (u32 i = 0; i < MOST_PORTS_OF_A_GROUP && i < last; i++)
        forward_copy(ctx, ports, to->port[i], drops);
    return last < MOST_PORTS_OF_A_GROUP ? forward_to(ports, to->port[last], drops) : TC_STOP;
}

#endif
