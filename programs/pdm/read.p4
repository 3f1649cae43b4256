// SPDX-License-Identifier: Apache-2.0
//
// Reads the Performance and Diagnostic Metrics option (RFC 8250) of packets that come in, keeps each flow's delays and
// losses, and takes the option out.

#ifndef _PDM_READ_P4_
#define _PDM_READ_P4_

#include "chain.p4"
#include "clamp.p4"

control ingress(inout headers_t hdr, in tc_input input, inout tc_output output) {
    // The indices of `ingress_packets` are the parser's reasons, and:
    const bit<32> READ = 0;
    const bit<32> UNFILTERED = 7;   // a flow that no filter lets in
    const bit<32> WITHOUT = 8;      // has no option
    const bit<32> REMOVED = 9;      // in addition to READ: the header was taken out
    const bit<32> PADDED = 10;      // in addition to READ: padding took the option's place
    const bit<32> CLAMPED = 11;     // in addition: the maximum segment size was lowered
    const bit<32> TOO_BIG = 12;     // in addition: a router told of a path's MTU

    CounterArray(13, false) ingress_packets;

    // Samples by delay; see bucket().
    CounterArray(160, false) round_trip_delay;
    CounterArray(160, false) server_delay;
    CounterArray(160, false) network_delay;

    flow_key_t key;
    flow_t     flow;
    path_t     path;
    bool       measured = false;
    bool       taken_out = false;

    action measure() { measured = true; }
    action skip() { measured = false; }

    // Which flows are measured.
    table ingress_filter {
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

    action take_out() { taken_out = true; }
    action leave() { taken_out = false; }

    // What becomes of an option that was read.
    table towards_host {
        actions = { take_out; leave; }
        default_action = take_out();
    }

    apply {
        if (hdr.found.reason != MEASURED) {
            ingress_packets.increment((bit<32>)hdr.found.reason);
            return;
        }
        key.local = hdr.ipv6.dst;
        key.remote = hdr.ipv6.src;
        key.local_port = 0;
        key.remote_port = 0;
        if (hdr.ports.isValid()) {
            key.local_port = hdr.ports.dst;
            key.remote_port = hdr.ports.src;
        }
        key.protocol = hdr.found.protocol;
        ingress_filter.apply();
        if (!measured) {
            ingress_packets.increment(UNFILTERED);
            return;
        }

        if (hdr.mss.isValid()) {
            bit<32> mtu = input.mtu;
            if (paths.lookup({ hdr.ipv6.src }, path) && (mtu == 0 || path.mtu < mtu)) {
                mtu = path.mtu;
            }
            bool lowered;
            clamp.apply(hdr, mtu, lowered);
            if (lowered) {
                ingress_packets.increment(CLAMPED);
            }
        }
        if (hdr.embedded.isValid() && hdr.embedded.src == hdr.ipv6.dst) {
            bit<32> told = hdr.icmpv6.body < LEAST_MTU ? LEAST_MTU : hdr.icmpv6.body;
            paths.update({ hdr.embedded.dst }, { told });
            ingress_packets.increment(TOO_BIG);
        }

        bit<16> psn;
        bit<16> answered;
        scaled_t delay;
        if (hdr.pdm.isValid()) {
            psn = hdr.pdm.psntp;
            answered = hdr.pdm.psnlr;
            delay = { hdr.pdm.dtlr, hdr.pdm.scale_dtlr };
        } else if (hdr.pdm_option.isValid()) {
            psn = hdr.pdm_option.psntp;
            answered = hdr.pdm_option.psnlr;
            delay = { hdr.pdm_option.dtlr, hdr.pdm_option.scale_dtlr };
        } else {
            ingress_packets.increment(WITHOUT);
            return;
        }
        bit<64> server = to_nanoseconds(delay);

        bit<64> now = input.timestamp;
        bit<64> round_trip = 0;
        bool sampled = false;
        @atomic {
            flows.lookup(key, flow);
            if (flow.first_seen == 0) {
                flow.first_seen = now;
            }

            // Sequence numbers, in arithmetic modulo 2^16: up to half of them away is ahead.
            bit<16> ahead = psn - flow.psn_highest;
            if (flow.received == 0) {
                flow.psn_highest = psn;
                flow.window = 1;
                flow.expected = 1;
            } else if (ahead == 0) {
                flow.duplicates = flow.duplicates + 1;
            } else if (ahead < 0x8000) {
                flow.window = ahead < 64 ? flow.window << ahead | 1 : 64w1;
                flow.expected = flow.expected + (bit<64>)ahead;
                flow.psn_highest = psn;
            } else {
                bit<16> behind = flow.psn_highest - psn;
                bit<64> place = behind < 64 ? 64w1 << behind : 64w0;
                if (flow.window & place != 0) {
                    flow.duplicates = flow.duplicates + 1;
                } else {
                    flow.reordered = flow.reordered + 1;
                    flow.window = flow.window | place;
                    // It came before the first one that was received.
                    if ((bit<64>)behind >= flow.expected) {
                        flow.expected = (bit<64>)behind + 1;
                    }
                }
            }
            flow.received = flow.received + 1;

            // The other host answers the packet that was sent last: the difference is a round trip. A server that
            // took longer than that has another clock.
            if (flow.time_sent != 0 && now >= flow.time_sent) {
                flow.last_sent_delta = now - flow.time_sent;
                if (answered + 1 == flow.psn_next && server <= flow.last_sent_delta) {
                    sampled = true;
                }
            }
            round_trip = flow.last_sent_delta;
            flow.time_received = now;
            flow.psn_received = psn;
            if (sampled) {
                bit<64> network = round_trip - server;
                if (flow.samples == 0 || round_trip < flow.round_trip_min) { flow.round_trip_min = round_trip; }
                if (round_trip > flow.round_trip_max) { flow.round_trip_max = round_trip; }
                if (flow.samples == 0 || server < flow.server_min) { flow.server_min = server; }
                if (server > flow.server_max) { flow.server_max = server; }
                if (flow.samples == 0 || network < flow.network_min) { flow.network_min = network; }
                if (network > flow.network_max) { flow.network_max = network; }
                flow.round_trip_last = round_trip;
                flow.round_trip_sum = flow.round_trip_sum + round_trip;
                flow.server_last = server;
                flow.server_sum = flow.server_sum + server;
                flow.network_last = network;
                flow.network_sum = flow.network_sum + network;
                flow.samples = flow.samples + 1;
            }
            flows.update(key, flow);
        }
        ingress_packets.increment(READ);
        if (sampled) {
            round_trip_delay.increment(bucket(round_trip));
            server_delay.increment(bucket(server));
            network_delay.increment(bucket(round_trip - server));
        }

        towards_host.apply();
        if (!taken_out) {
            return;
        }
        if (hdr.pdm_option.isValid()) {
            hdr.pdm_option = { OPTION_PADN, PDM_LENGTH, 0, 0, 0, 0, 0, 0 };
            ingress_packets.increment(PADDED);
            return;
        }
        // Nothing but padding would remain.
        hdr.ipv6.payload_length = hdr.ipv6.payload_length - GROWTH;
        if (hdr.extensions[2].isValid()) {
            hdr.extensions[2].next = hdr.pdm.next;
        } else if (hdr.extensions[1].isValid()) {
            hdr.extensions[1].next = hdr.pdm.next;
        } else if (hdr.extensions[0].isValid()) {
            hdr.extensions[0].next = hdr.pdm.next;
        } else {
            hdr.ipv6.next = hdr.pdm.next;
        }
        hdr.pdm.setInvalid();
        ingress_packets.increment(REMOVED);
    }
}

#endif
