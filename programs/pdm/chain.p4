// SPDX-License-Identifier: Apache-2.0
//
// The way from the Ethernet header to the ports, in both programs. Every length is compared before it is read: a
// parser that rejects drops the packet, and measuring must not do that.

#ifndef _PDM_CHAIN_P4_
#define _PDM_CHAIN_P4_

#include "pdm.p4"

// Why a packet is not measured: the first indices of both programs' counters.
const bit<8> MEASURED = 0;
const bit<8> NOT_IPV6 = 1;
const bit<8> OTHER_PROTOCOL = 2;   // neither TCP, UDP, ICMPv6 nor ESP, or behind an authentication header
const bit<8> FRAGMENT = 3;         // a part of a packet
const bit<8> CONTROL = 4;          // neighbour discovery and multicast listeners
const bit<8> MALFORMED = 5;        // shorter than its headers say, or options that are not well formed
const bit<8> UNREADABLE = 6;       // more extension headers or options, or longer ones, than the parser has room for

// What the parser found out.
struct found_t {
    bit<8> reason;
    bit<8> protocol;      // of the upper layer, or ESP
    bit<1> mss_is_odd;    // the size's own place, from the start of the TCP header
}

struct headers_t {
    found_t          found;
    ethernet_t       eth;
    vlan_t[2]        vlan;
    ipv6_t           ipv6;
    extension_t[3]   extensions;
    pdm_t            added;           // made by egress
    pdm_t            pdm;             // a header with PDM alone, as it came
    destination_t    destination;     // another one
    pdm_option_t     added_option;    // made by egress in it
    padding4_t       added_padding;
    option_t[4]      options;         // in front of PDM, or all
    pdm_option_t     pdm_option;
    options_rest_t   rest;            // behind PDM
    ports_t          ports;
    tcp_t            tcp;
    tcp_option_t[4]  tcp_options;     // in front of the maximum segment size
    mss_t            mss;
    icmpv6_t         icmpv6;
    ipv6_t           embedded;        // whose packet was too big
}

parser chain(packet_in packet, out headers_t hdr) {
    bit<32> left = packet.length();   // bytes behind the cursor
    bit<8>  next = 0;
    bit<16> head = 0;                 // of an extension header or an option: two bytes
    bit<32> bytes = 0;                // of it
    bit<32> room = 0;                 // left in the header whose options are walked
    bit<64> fragment = 0;

    state start {
        hdr.found = { NOT_IPV6, 0, 0 };
        packet.extract(hdr.eth);
        left = left - 14;
        transition select(hdr.eth.type) {
            TYPE_IPV6:          ipv6;
            TYPE_CUSTOMER_VLAN: tag;
            TYPE_SERVICE_VLAN:  tag;
            default:            accept;
        }
    }
    state tag {
        transition select(left >= 4) {
            true:  read_tag;
            false: accept;
        }
    }
    state read_tag {
        packet.extract(hdr.vlan[0]);
        left = left - 4;
        transition select(hdr.vlan[0].type, left >= 4) {
            (TYPE_IPV6, _):             ipv6;
            (TYPE_CUSTOMER_VLAN, true): second_tag;
            default:                    accept;
        }
    }
    state second_tag {
        packet.extract(hdr.vlan[1]);
        left = left - 4;
        transition select(hdr.vlan[1].type) {
            TYPE_IPV6: ipv6;
            default:   accept;
        }
    }

    // No upper layer of interest has fewer than 8 bytes, nor has an extension header.
    state ipv6 {
        hdr.found.reason = MALFORMED;
        transition select(left >= 48) {
            true:  read_ipv6;
            false: accept;
        }
    }
    state read_ipv6 {
        packet.extract(hdr.ipv6);
        left = left - 40;
        next = hdr.ipv6.next;
        transition select(hdr.ipv6.next) {
            NEXT_TCP:         tcp;
            NEXT_UDP:         udp;
            NEXT_ICMPV6:      icmpv6;
            NEXT_DESTINATION: destination;
            default:          between;
        }
    }

    // An extension header, or what comes behind those.
    state between {
        transition select(next, left >= 8) {
            (NEXT_TCP, true):         tcp;
            (NEXT_UDP, true):         udp;
            (NEXT_ICMPV6, true):      icmpv6;
            (NEXT_DESTINATION, true): destination;
            (NEXT_HOP_BY_HOP, true):  extension;
            (NEXT_ROUTING, true):     extension;
            (NEXT_FRAGMENT, true):    fragment;
            (NEXT_ESP, true):         esp;
            (_, true):                other;
            default:                  accept;
        }
    }
    state other {
        hdr.found.reason = OTHER_PROTOCOL;
        transition accept;
    }
    state unreadable {
        hdr.found.reason = UNREADABLE;
        transition accept;
    }
    state extension {
        head = packet.lookahead<bit<16>>();
        next = head[15:8];
        bytes = ((bit<32>)head[7:0] << 3) + 8;
        transition select(hdr.extensions[2].isValid(), bytes <= 256, bytes <= left) {
            (false, true, true):  read_extension;
            (_, _, false):        accept;
            default:              unreadable;
        }
    }
    // A packet in one fragment is whole.
    state fragment {
        fragment = packet.lookahead<bit<64>>();
        next = fragment[63:56];
        bytes = 8;
        transition select(fragment[47:32] & 0xfff9, hdr.extensions[2].isValid()) {
            (0, false): read_extension;
            (0, true):  unreadable;
            default:    part;
        }
    }
    state part {
        hdr.found.reason = FRAGMENT;
        transition accept;
    }
    state read_extension {
        packet.extract(hdr.extensions.next, (bytes - 2) << 3);
        left = left - bytes;
        transition between;
    }

    // Destination Options: the last ones are in front of an upper layer or of ESP.
    state destination {
        head = packet.lookahead<bit<16>>();
        next = head[15:8];
        bytes = ((bit<32>)head[7:0] << 3) + 8;
        transition select(head[15:8], left >= 24) {
            (NEXT_TCP, true):    last;
            (NEXT_UDP, true):    last;
            (NEXT_ICMPV6, true): last;
            (NEXT_ESP, true):    last;
            (_, true):           extension;
            default:             extension;
        }
    }
    state last {
        pdm_t ahead = packet.lookahead<pdm_t>();
        transition select(ahead.length, ahead.type, ahead.option_length, ahead.padding) {
            (1, OPTION_PDM, PDM_LENGTH, 0x0100): alone;
            (1, OPTION_PDM, PDM_LENGTH, 0):      alone;
            default:                             among_others;
        }
    }
    state alone {
        packet.extract(hdr.pdm);
        left = left - 16;
        transition upper;
    }
    state among_others {
        transition select(bytes <= 256, bytes + 8 <= left) {
            (true, true): read_destination;
            (_, false):   accept;
            default:      unreadable;
        }
    }
    state read_destination {
        packet.extract(hdr.destination);
        left = left - bytes;
        room = bytes - 2;
        transition option;
    }
    state option {
        transition select(room) {
            0:       upper;
            1:       last_byte;
            default: look_at_option;
        }
    }
    state last_byte {
        bytes = 1;
        transition select(packet.lookahead<bit<8>>(), hdr.options[3].isValid()) {
            (OPTION_PAD1, false): read_option;
            (OPTION_PAD1, true):  unreadable;
            default:              accept;
        }
    }
    state look_at_option {
        head = packet.lookahead<bit<16>>();
        bytes = head[15:8] == OPTION_PAD1 ? 32w1 : (bit<32>)head[7:0] + 2;
        transition select(head, bytes <= room, hdr.options[3].isValid()) {
            (0x0f0a, true, _):                true_pdm;
            (0x0f00 &&& 0xff00, _, _):        accept;
            (_, true, false):                 read_option;
            (_, true, true):                  unreadable;
            default:                          accept;
        }
    }
    state read_option {
        packet.extract(hdr.options.next, (bytes - 1) << 3);
        room = room - bytes;
        transition option;
    }
    state true_pdm {
        packet.extract(hdr.pdm_option);
        packet.extract(hdr.rest, (room - 12) << 3);
        transition upper;
    }

    // Behind Destination Options.
    state upper {
        transition select(next) {
            NEXT_TCP:    tcp;
            NEXT_UDP:    udp;
            NEXT_ICMPV6: icmpv6;
            default:     esp;
        }
    }
    state esp {
        hdr.found.reason = MEASURED;
        hdr.found.protocol = NEXT_ESP;
        transition accept;
    }
    state udp {
        packet.extract(hdr.ports);
        hdr.found.reason = MEASURED;
        hdr.found.protocol = NEXT_UDP;
        transition accept;
    }
    state tcp {
        transition select(left >= 20) {
            true:  read_tcp;
            false: accept;
        }
    }
    state read_tcp {
        packet.extract(hdr.ports);
        packet.extract(hdr.tcp);
        hdr.found.reason = MEASURED;
        hdr.found.protocol = NEXT_TCP;
        transition select(hdr.tcp.flags & TCP_SYN) {
            0:       accept;
            default: syn;
        }
    }
    state syn {
        room = ((bit<32>)hdr.tcp.data_offset << 2) - 20;
        transition select(hdr.tcp.data_offset > 5, room <= left - 20) {
            (true, true): tcp_option;
            default:      accept;
        }
    }
    // The maximum segment size takes four bytes.
    state tcp_option {
        transition select(room >= 4) {
            true:  look_at_tcp_option;
            false: accept;
        }
    }
    state look_at_tcp_option {
        head = packet.lookahead<bit<16>>();
        bytes = head[15:8] == 1 ? 32w1 : (bit<32>)head[7:0];
        transition select(head, bytes >= 1, bytes <= room, hdr.tcp_options[3].isValid()) {
            (0x0204, _, _, _):                mss;
            (0x0000 &&& 0xff00, _, _, _):     accept;
            (_, true, true, false):           read_tcp_option;
            default:                          accept;
        }
    }
    state read_tcp_option {
        packet.extract(hdr.tcp_options.next, (bytes - 1) << 3);
        room = room - bytes;
        hdr.found.mss_is_odd = hdr.found.mss_is_odd ^ bytes[0:0];
        transition tcp_option;
    }
    state mss {
        packet.extract(hdr.mss);
        transition accept;
    }

    state icmpv6 {
        packet.extract(hdr.icmpv6);
        left = left - 8;
        hdr.found.reason = MEASURED;
        hdr.found.protocol = NEXT_ICMPV6;
        transition select(hdr.icmpv6.type, left >= 40) {
            (2, true):   too_big;
            (130, _):    listeners;
            (131, _):    listeners;
            (132, _):    listeners;
            (133, _):    listeners;
            (134, _):    listeners;
            (135, _):    listeners;
            (136, _):    listeners;
            (137, _):    listeners;
            (143, _):    listeners;
            default:     accept;
        }
    }
    state listeners {
        hdr.found.reason = CONTROL;
        transition accept;
    }
    state too_big {
        packet.extract(hdr.embedded);
        transition accept;
    }
}

control emit_all(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.vlan);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.extensions);
        packet.emit(hdr.added);
        packet.emit(hdr.pdm);
        packet.emit(hdr.destination);
        packet.emit(hdr.added_option);
        packet.emit(hdr.added_padding);
        packet.emit(hdr.options);
        packet.emit(hdr.pdm_option);
        packet.emit(hdr.rest);
        packet.emit(hdr.ports);
        packet.emit(hdr.tcp);
        packet.emit(hdr.tcp_options);
        packet.emit(hdr.mss);
        packet.emit(hdr.icmpv6);
        packet.emit(hdr.embedded);
    }
}

#endif
