// SPDX-License-Identifier: Apache-2.0
//
// Puts the Performance and Diagnostic Metrics option (RFC 8250) on packets that go out, and keeps each flow's
// sequence numbers and times.

#ifndef _PDM_MARK_P4_
#define _PDM_MARK_P4_

#include "chain.p4"
#include "clamp.p4"

control egress(inout headers_t hdr, in tc_input input, inout tc_output output) {
    // The indices of `egress_packets` are the parser's reasons, and:
    const bit<32> MARKED = 0;
    const bit<32> UNFILTERED = 7;        // a flow that no filter lets in
    const bit<32> CARRYING = 8;          // has the option already
    const bit<32> OFFLOADED = 9;         // is to be taken apart by segmentation offload
    const bit<32> NO_ROOM_ON_LINK = 10;  // would be longer than the interface's MTU, or than a length field can say
    const bit<32> NO_ROOM_ON_PATH = 11;  // would be longer than the MTU that a router told of
    const bit<32> CLAMPED = 12;          // in addition: the maximum segment size was lowered

    CounterArray(13, false) egress_packets;

    flow_key_t key;
    flow_t     flow;
    path_t     path;
    bool       measured = false;
    bool       once = false;

    action measure() { measured = true; }
    action skip() { measured = false; }

    // Which flows are measured.
    table egress_filter {
        key = {
            key.local       : ternary @name("local");
            key.remote      : ternary @name("remote");
            key.local_port  : ternary @name("local_port");
            key.remote_port : ternary @name("remote_port");
            key.protocol    : ternary @name("protocol");
        }
        actions = { measure; skip; }
        default_action = measure();
        size = 64;
    }

    action leave_offloaded() { once = false; }
    action mark_once() { once = true; }

    // What becomes of a packet that segmentation offload will take apart: its segments can only have one option
    // for all, which is not what the RFC means. It goes without, or has one at the price of that.
    table offload {
        actions = { leave_offloaded; mark_once; }
        default_action = leave_offloaded();
    }

    apply {
        if (hdr.found.reason != MEASURED) {
            egress_packets.increment((bit<32>)hdr.found.reason);
            return;
        }
        key.local = hdr.ipv6.src;
        key.remote = hdr.ipv6.dst;
        key.local_port = 0;
        key.remote_port = 0;
        if (hdr.ports.isValid()) {
            key.local_port = hdr.ports.src;
            key.remote_port = hdr.ports.dst;
        }
        key.protocol = hdr.found.protocol;
        egress_filter.apply();
        if (!measured) {
            egress_packets.increment(UNFILTERED);
            return;
        }
        if (hdr.pdm.isValid() || hdr.pdm_option.isValid()) {
            egress_packets.increment(CARRYING);
            return;
        }

        bit<32> length = (bit<32>)hdr.ipv6.payload_length + 40;
        bit<32> mtu = input.mtu;
        if (length > LEAST_MTU - (bit<32>)GROWTH || hdr.mss.isValid()) {
            if (paths.lookup({ hdr.ipv6.dst }, path) && (mtu == 0 || path.mtu < mtu)) {
                mtu = path.mtu;
            }
        }
        if (hdr.mss.isValid()) {
            bool lowered;
            clamp.apply(hdr, mtu, lowered);
            if (lowered) {
                egress_packets.increment(CLAMPED);
            }
        }

        if (input.gso_segments > 1) {
            // Offload makes the segments shorter by what the option takes, but a datagram must keep its length.
            offload.apply();
            if (!once || hdr.found.protocol != NEXT_TCP) {
                egress_packets.increment(OFFLOADED);
                return;
            }
        } else if (mtu != 0 && length + (bit<32>)GROWTH > mtu) {
            egress_packets.increment(mtu == input.mtu ? NO_ROOM_ON_LINK : NO_ROOM_ON_PATH);
            return;
        }
        // A jumbogram says 0.
        if (hdr.ipv6.payload_length == 0 || hdr.ipv6.payload_length > 0xffff - GROWTH) {
            egress_packets.increment(NO_ROOM_ON_LINK);
            return;
        }

        bit<64> now = input.timestamp;
        bit<16> first = random32()[15:0];
        bit<16> psn;
        @atomic {
            flows.lookup(key, flow);
            psn = flow.time_sent == 0 ? first : flow.psn_next;
            if (flow.first_seen == 0) {
                flow.first_seen = now;
            }
            flow.time_sent = now;
            flow.psn_next = psn + 1;
            flow.sent = flow.sent + 1;
            flows.update(key, flow);
        }
        // Another processor may have received one after this packet's time was taken.
        scaled_t received = { 0, 0 };
        if (flow.time_received != 0 && now > flow.time_received) {
            received = to_scaled(now - flow.time_received);
        }
        scaled_t sent = to_scaled(flow.last_sent_delta);
        egress_packets.increment(MARKED);

        hdr.ipv6.payload_length = hdr.ipv6.payload_length + GROWTH;
        if (hdr.destination.isValid()) {
            hdr.destination.length = hdr.destination.length + 2;
            hdr.added_option = {
                OPTION_PDM, PDM_LENGTH, received.scale, sent.scale,
                psn, flow.psn_received, received.value, sent.value
            };
            hdr.added_padding = { 0x01020000 };
            return;
        }
        hdr.added = {
            hdr.found.protocol, 1, OPTION_PDM, PDM_LENGTH, received.scale, sent.scale,
            psn, flow.psn_received, received.value, sent.value, 0x0100
        };
        if (hdr.extensions[2].isValid()) {
            hdr.extensions[2].next = NEXT_DESTINATION;
        } else if (hdr.extensions[1].isValid()) {
            hdr.extensions[1].next = NEXT_DESTINATION;
        } else if (hdr.extensions[0].isValid()) {
            hdr.extensions[0].next = NEXT_DESTINATION;
        } else {
            hdr.ipv6.next = NEXT_DESTINATION;
        }
    }
}

#endif
