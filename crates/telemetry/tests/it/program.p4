// SPDX-License-Identifier: Apache-2.0
//
// bytes, mean(udp.length), distinct(ip.dst), top(5, flow), histogram(packet.length)
// by ip.src, vlan.id where ip.proto in [6, 17] and not ip.dst in 224.0.0.0/4

#include <core.p4>
#include <tap_model.p4>
#include <packet_headers.p4>

enum bit<32> query_count {
    READ = 7,   // packets
    MATCHED = 8,   // records for which the condition holds
    WITHOUT_KEY = 9,   // of these, those without a key
    MESSAGE = 10,   // messages
    CUT = 11,   // texts that were cut
    REQUEST = 12,   // requests
    ANSWERED = 13,   // of these, those with a response
    UNMATCHED = 14   // responses without a request
}

struct group_t {
    bit<128> ip_src;
    bit<12> vlan_id;
}

struct top_flow_t {
    group_t group;
    packet_flow item;
}

control watch(in packet_headers hdr, in tap_input input) {
    CounterArray(15, false) counts;
    tally<group_t>(1000) records;   // and the bytes of their packets
    tally<group_t>(1000) values_udp_length;   // of udp.length
    distinct_count<group_t, bit<128>>(1000, 12) distinct_ip_dst;   // of ip.dst
    top_keys<top_flow_t>(256000) top_flow;   // of flow
    histogram<group_t>(1000) histogram_packet_length;   // of packet.length

    apply {
        packet_flow flow = packet_flow_of(hdr);
        counts.increment(query_count.READ);
        if ((hdr.ipv4.isValid() && (hdr.ipv4.protocol == 6 || hdr.ipv4.protocol == 17)) && !((hdr.ipv4.isValid() || hdr.ipv6.isValid()) && (flow.dst & 128w0xfffffffffffffffffffffffff0000000) == 128w0x00000000000000000000ffffe0000000)) {
            counts.increment(query_count.MATCHED);
            if ((hdr.ipv4.isValid() || hdr.ipv6.isValid()) && hdr.vlan.isValid()) {
                group_t group = { flow.src, hdr.vlan.id };
                records.add(group, (bit<64>)input.length);
                if (hdr.udp.isValid()) {
                    values_udp_length.add(group, (bit<64>)hdr.udp.length);
                }
                if (hdr.ipv4.isValid() || hdr.ipv6.isValid()) {
                    distinct_ip_dst.add(group, flow.dst);
                }
                if (hdr.ipv4.isValid() || hdr.ipv6.isValid()) {
                    top_flow.add({ group, flow }, 1);
                }
                histogram_packet_length.add(group, (bit<64>)input.length);
            } else {
                counts.increment(query_count.WITHOUT_KEY);
            }
        }
    }
}

tap(packet_parser(), watch()) main;
