// SPDX-License-Identifier: Apache-2.0
//
//! Headers of Ethernet, VLANs, IPv4, IPv6, TCP and UDP, and the parser that reads them as far as a packet has them.
//!
//! A header with an impossible length is left out, with everything after it. The transport header of fragments is not read. A packet that ends within a
//! header is rejected: a tap sees the headers before it, other architectures treat it as any packet that their parser rejects.
//!
//! The header types replace a program's own: including this file and declaring `ipv4_t` is an error.
//!
//! A program that defines `READ_PPPOE` before it includes this file reads IP packets in PPPoE sessions too. Then `packet_headers` has the field `pppoe` behind the VLAN tags.

#ifndef _PACKET_HEADERS_P4_
#define _PACKET_HEADERS_P4_

#include <core.p4>

/// Ethernet.
header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

/// A VLAN tag (IEEE 802.1Q), as it stands behind the EtherType that announces it.
header vlan_t {
    bit<3>  pcp;
    bit<1>  dei;
    bit<12> id;
    bit<16> type;
}

/// PPPoE in a session (RFC 2516), with PPP's protocol (RFC 1661).
header pppoe_t {
    bit<4>  version;
    bit<4>  type;
    bit<8>  code;
    bit<16> session;
    bit<16> length;     // of what follows, from the protocol on
    bit<16> protocol;
}

/// IPv4 (RFC 791).
header ipv4_t {
    bit<4>      version;
    bit<4>      ihl;
    bit<6>      dscp;
    bit<2>      ecn;
    bit<16>     length;
    bit<16>     id;
    bit<2>      flags;
    bit<1>      more_fragments;
    bit<13>     offset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     checksum;
    bit<32>     src;
    bit<32>     dst;
    varbit<320> options;
}

/// IPv6 (RFC 8200), without extension headers.
header ipv6_t {
    bit<4>   version;
    bit<8>   traffic_class;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

/// TCP (RFC 9293).
header tcp_t {
    bit<16>     src_port;
    bit<16>     dst_port;
    bit<32>     seq;
    bit<32>     ack;
    bit<4>      data_offset;
    bit<4>      reserved;
    bit<8>      flags;
    bit<16>     window;
    bit<16>     checksum;
    bit<16>     urgent;
    varbit<320> options;
}

/// UDP (RFC 768).
header udp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<16> length;
    bit<16> checksum;
}

/// The first bytes of IPv4, without options.
header ipv4_start_t {
    bit<4>   version;
    bit<4>   ihl;
    bit<152> rest;
}

/// The first bytes of TCP, without options.
header tcp_start_t {
    bit<96> before;
    bit<4>  data_offset;
    bit<60> rest;
}

/// The start of an IPv6 extension header.
header extension_t {
    bit<8> next_header;
    bit<8> length;
}

/// The fragment header of IPv6.
header fragment_t {
    bit<8>  next_header;
    bit<8>  reserved;
    bit<13> offset;
    bit<2>  reserved_too;
    bit<1>  more;
    bit<32> id;
}

/// The headers of a packet.
struct packet_headers {
    ethernet_t eth;
    vlan_t     vlan;
    vlan_t     inner_vlan;
    vlan_t     innermost_vlan;
#ifdef READ_PPPOE
    pppoe_t    pppoe;
#endif
    ipv4_t     ipv4;
    ipv6_t     ipv6;
    tcp_t      tcp;
    udp_t      udp;
    bit<16>    ether_type;   // behind VLAN tags
    bit<8>     protocol;     // behind extension headers
    bit<32>    payload_bytes;   // behind TCP or UDP, as far as the lengths in the headers say
}

/// Reads the headers.
parser packet_parser(packet_in packet, out packet_headers hdr) {
    bit<32> left;     // bytes of the IP packet's payload, as far as its length says
    bool fragment;

    state start {
        hdr.ether_type = 0;
        hdr.protocol = 0;
        hdr.payload_bytes = 0;
        left = 0xffffffff;
        fragment = false;
        packet.extract(hdr.eth);
        hdr.ether_type = hdr.eth.type;
        transition select(hdr.eth.type) {
            0x8100: vlan;
            0x88a8: vlan;
            0x9100: vlan;
            default: network;
        }
    }
    state vlan {
        packet.extract(hdr.vlan);
        hdr.ether_type = hdr.vlan.type;
        transition select(hdr.vlan.type) {
            0x8100: inner_vlan;
            0x88a8: inner_vlan;
            0x9100: inner_vlan;
            default: network;
        }
    }
    state inner_vlan {
        packet.extract(hdr.inner_vlan);
        hdr.ether_type = hdr.inner_vlan.type;
        transition select(hdr.inner_vlan.type) {
            0x8100: innermost_vlan;
            0x88a8: innermost_vlan;
            0x9100: innermost_vlan;
            default: network;
        }
    }
    state innermost_vlan {
        packet.extract(hdr.innermost_vlan);
        hdr.ether_type = hdr.innermost_vlan.type;
        transition network;
    }
    state network {
        transition select(hdr.ether_type) {
            0x0800: ip;
            0x86dd: ip;
#ifdef READ_PPPOE
            0x8864: pppoe;
#endif
            default: accept;
        }
    }
#ifdef READ_PPPOE
    state pppoe {
        packet.extract(hdr.pppoe);
        transition select(hdr.pppoe.protocol) {
            0x0021: ip;
            0x0057: ip;
            default: accept;
        }
    }
#endif
    // Which of both it is, the header says.
    state ip {
        transition select(packet.lookahead<bit<4>>()) {
            4: ipv4;
            6: whole_ipv6;
            default: accept;
        }
    }

    state ipv4 {
        transition select(packet.lookahead<ipv4_start_t>().ihl) {
            5..15: whole_ipv4;
            default: accept;
        }
    }
    state whole_ipv4 {
        ipv4_start_t first = packet.lookahead<ipv4_start_t>();
        packet.extract(hdr.ipv4, ((bit<32>)first.ihl - 5) << 5);
        bit<32> header_bytes = (bit<32>)hdr.ipv4.ihl << 2;
        bit<32> bytes = (bit<32>)hdr.ipv4.length;
        left = bytes >= header_bytes ? bytes - header_bytes : 0xffffffff;
        fragment = hdr.ipv4.more_fragments == 1 || hdr.ipv4.offset != 0;
        hdr.protocol = hdr.ipv4.protocol;
        transition select(hdr.ipv4.protocol) {
            51: ipv4_authentication;
            default: transport;
        }
    }
    state ipv4_authentication {
        extension_t option = packet.lookahead<extension_t>();
        bit<32> bytes = ((bit<32>)option.length + 2) << 2;
        transition select(option.length, left >= bytes) {
            (0, _): accept;
            (_, false): accept;
            default: past_ipv4_authentication;
        }
    }
    state past_ipv4_authentication {
        extension_t option = packet.lookahead<extension_t>();
        bit<32> bytes = ((bit<32>)option.length + 2) << 2;
        packet.advance(bytes << 3);
        left = left - bytes;
        hdr.protocol = option.next_header;
        transition transport;
    }

    state whole_ipv6 {
        packet.extract(hdr.ipv6);
        left = hdr.ipv6.payload_length == 0 ? 0xffffffff : (bit<32>)hdr.ipv6.payload_length;
        hdr.protocol = hdr.ipv6.next_header;
        transition select(hdr.ipv6.next_header) {
            0: options;
            default: extension;
        }
    }
    state extension {
        transition select(hdr.protocol) {
            43: options;
            60: options;
            44: fragmentation;
            51: authentication;
            default: transport;
        }
    }
    state options {
        extension_t option = packet.lookahead<extension_t>();
        bit<32> bytes = ((bit<32>)option.length + 1) << 3;
        transition select(left >= bytes) {
            true: past_options;
            default: accept;
        }
    }
    state past_options {
        extension_t option = packet.lookahead<extension_t>();
        bit<32> bytes = ((bit<32>)option.length + 1) << 3;
        packet.advance(bytes << 3);
        left = left - bytes;
        hdr.protocol = option.next_header;
        transition extension;
    }
    state fragmentation {
        transition select(left >= 8) {
            true: past_fragmentation;
            default: accept;
        }
    }
    state past_fragmentation {
        fragment_t option = packet.lookahead<fragment_t>();
        packet.advance(64);
        left = left - 8;
        fragment = fragment || option.more == 1 || option.offset != 0;
        hdr.protocol = option.next_header;
        transition extension;
    }
    state authentication {
        extension_t option = packet.lookahead<extension_t>();
        bit<32> bytes = ((bit<32>)option.length + 2) << 2;
        transition select(option.length, left >= bytes) {
            (0, _): accept;
            (_, false): accept;
            default: past_authentication;
        }
    }
    state past_authentication {
        extension_t option = packet.lookahead<extension_t>();
        bit<32> bytes = ((bit<32>)option.length + 2) << 2;
        packet.advance(bytes << 3);
        left = left - bytes;
        hdr.protocol = option.next_header;
        transition extension;
    }

    state transport {
        transition select(fragment, hdr.protocol) {
            (false, 6): tcp;
            (false, 17): udp;
            default: accept;
        }
    }
    state tcp {
        tcp_start_t first = packet.lookahead<tcp_start_t>();
        bit<32> bytes = (bit<32>)first.data_offset << 2;
        transition select(first.data_offset, left >= bytes) {
            (5..15, true): whole_tcp;
            default: accept;
        }
    }
    state whole_tcp {
        tcp_start_t first = packet.lookahead<tcp_start_t>();
        packet.extract(hdr.tcp, ((bit<32>)first.data_offset - 5) << 5);
        hdr.payload_bytes = left - ((bit<32>)first.data_offset << 2);
        transition accept;
    }
    state udp {
        transition select(left >= 8) {
            true: whole_udp;
            default: accept;
        }
    }
    state whole_udp {
        packet.extract(hdr.udp);
        hdr.payload_bytes = left - 8;
        bit<32> datagram = (bit<32>)hdr.udp.length;
        if (datagram >= 8 && datagram < left) { hdr.payload_bytes = datagram - 8; }
        transition accept;
    }
}

/// A packet's addresses, IPv4 ones mapped to IPv6; zeros if it has none.
void packet_addresses(in packet_headers hdr, out bit<128> src, out bit<128> dst) {
    if (hdr.ipv4.isValid()) {
        src = 80w0 ++ 16w0xffff ++ hdr.ipv4.src;
        dst = 80w0 ++ 16w0xffff ++ hdr.ipv4.dst;
    } else if (hdr.ipv6.isValid()) {
        src = hdr.ipv6.src;
        dst = hdr.ipv6.dst;
    } else {
        src = 0;
        dst = 0;
    }
}

/// A flow. IPv4 addresses are mapped to IPv6.
struct packet_flow {
    bit<128> src;
    bit<128> dst;
    bit<8>   protocol;
    bit<16>  src_port;
    bit<16>  dst_port;
}

/// A packet's flow; zeros for what it does not have.
packet_flow packet_flow_of(in packet_headers hdr) {
    packet_flow flow = { 0, 0, hdr.protocol, 0, 0 };
    packet_addresses(hdr, flow.src, flow.dst);
    if (hdr.tcp.isValid()) {
        flow.src_port = hdr.tcp.src_port;
        flow.dst_port = hdr.tcp.dst_port;
    } else if (hdr.udp.isValid()) {
        flow.src_port = hdr.udp.src_port;
        flow.dst_port = hdr.udp.dst_port;
    }
    return flow;
}

#endif
