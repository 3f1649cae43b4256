// SPDX-License-Identifier: Apache-2.0
//
// The flow label and the addresses' upper halves change on the way, and the port: the checksum of TCP follows, be it
// complete or left to the device.

#include "headers.p4h"

header tcp_t { bit<16> src; bit<16> dst; bit<96> between; bit<16> csum; bit<16> urgent; }

struct headers_t { ethernet_t eth; ipv6_t ipv6; tcp_t tcp; }

parser p(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) { TYPE_IPV6: ipv6; default: accept; }
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition select(hdr.ipv6.next) { 6: tcp; default: accept; }
    }
    state tcp { packet.extract(hdr.tcp); transition accept; }
}

control c(inout headers_t hdr, in tc_input tin, inout tc_output tout) {
    apply {
        if (!hdr.tcp.isValid() || !hdr.ipv6.isValid()) {
            exit;
        }
        bit<32> before = hdr.ipv6.src[127:96];
        bit<32> after = before ^ 0x00120034;
        hdr.ipv6.src[127:96] = after;
        hdr.tcp.csum = l4_csum_replace4(hdr.tcp.csum, before, after, true);
        bit<16> port = hdr.tcp.src ^ 0x0101;
        hdr.tcp.csum = l4_csum_replace2(hdr.tcp.csum, hdr.tcp.src, port, false);
        hdr.tcp.src = port;
        hdr.ipv6.flow = hdr.ipv6.flow ^ 5;
    }
}

control d(in headers_t hdr, packet_out packet) {
    apply { packet.emit(hdr.eth); packet.emit(hdr.ipv6); packet.emit(hdr.tcp); }
}

tc(p(), c(), d()) main;
