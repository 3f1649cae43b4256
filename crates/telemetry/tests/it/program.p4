// SPDX-License-Identifier: Apache-2.0
//
// bytes, mean(udp.length), distinct(ip.dst), top(5, flow), histogram(packet.length)
// by ip.src, vlan.id where ip.proto in [6, 17] and not ip.dst in 224.0.0.0/4

struct flow_t {
    bit<128> src;
    bit<128> dst;
    bit<8>   protocol;
    bit<16>  src_port;
    bit<16>  dst_port;
}

struct group_t {
    bit<32> ip_src;
    bit<12> vlan_id;
}

struct top_flow_t {
    group_t group;
    flow_t item;
}

control watch(in headers_t hdr, in tap_input input) {
    // 0: read, 1: for which the condition holds, 2: of these, without a key
    CounterArray(7, false) packets;
    tally<group_t>(1000) records;   // and the bytes of their packets
    tally<group_t>(1000) values_udp_length;   // of udp.length
    distinct_count<group_t, bit<32>>(1000, 12) distinct_ip_dst;   // of ip.dst
    top_keys<top_flow_t>(256000) top_flow;   // of flow
    histogram<group_t>(1000) histogram_packet_length;   // of packet.length

    apply {
        flow_t flow = { 0, 0, hdr.protocol, 0, 0 };
        if (hdr.ipv4.isValid()) {
            flow.src = 80w0 ++ 16w0xffff ++ hdr.ipv4.src;
            flow.dst = 80w0 ++ 16w0xffff ++ hdr.ipv4.dst;
        } else if (hdr.ipv6.isValid()) {
            flow.src = hdr.ipv6.src;
            flow.dst = hdr.ipv6.dst;
        }
        if (hdr.tcp.isValid()) {
            flow.src_port = hdr.tcp.src_port;
            flow.dst_port = hdr.tcp.dst_port;
        } else if (hdr.udp.isValid()) {
            flow.src_port = hdr.udp.src_port;
            flow.dst_port = hdr.udp.dst_port;
        }
        packets.increment(0);
        if (((hdr.ipv4.isValid() && (hdr.ipv4.protocol == 6 || hdr.ipv4.protocol == 17)) && !(hdr.ipv4.isValid() && ((hdr.ipv4.dst & 0xf0000000) == 0xe0000000)))) {
            packets.increment(1);
            if (hdr.ipv4.isValid() && hdr.vlan.isValid()) {
                group_t group = { hdr.ipv4.src, hdr.vlan.id };
                records.add(group, (bit<64>)input.length);
                if (hdr.udp.isValid()) { values_udp_length.add(group, (bit<64>)hdr.udp.length); }
                if (hdr.ipv4.isValid()) { distinct_ip_dst.add(group, hdr.ipv4.dst); }
                if ((hdr.ipv4.isValid() || hdr.ipv6.isValid())) { top_flow.add({ group, flow }, 1); }
                histogram_packet_length.add(group, (bit<64>)input.length);
            } else {
                packets.increment(2);
            }
        }
    }
}

tap(prs(), watch()) main;
