// SPDX-License-Identifier: Apache-2.0
//
//! Answers to packets that a program refuses: segments of TCP that end a connection, and DNS responses without records.
//!
//! One packet becomes one other. A segment of TCP becomes a reset of its receiver, which goes on, or one of its sender, which goes back. So that both ends
//! learn, a program makes the first segment a reset of the receiver, and those that the sender sends again resets of the sender.
//!
//! ```p4
//! parser parse_packet(packet_in packet, out answered_packet hdr) {
//!     state start {
//!         packet_parser.apply(packet, hdr.packet);
//!         transition accept;
//!     }
//! }
//! control answer(inout answered_packet hdr, in xdp_input input, out xdp_output output) {
//!     apply {
//!         output.output_port = 0;
//!         if (hdr.packet.tcp.isValid() && hdr.packet.tcp.flags & (TCP_RST | TCP_ACK) == TCP_ACK && answer_can_turn(hdr.packet)) {
//!             answer_reset_back(hdr);
//!             output.output_action = xdp_action.XDP_TX;
//!         } else {
//!             packet_unchanged();
//!             output.output_action = xdp_action.XDP_PASS;
//!         }
//!     }
//! }
//! xdp(parse_packet(), answer(), answer_deparser()) main;
//! ```
//!
//! Packets that get no answer pass `packet_unchanged`: the deparser leaves out what the parser passes over.

#ifndef _PACKET_ANSWERS_P4_
#define _PACKET_ANSWERS_P4_

#include <packet_headers.p4>
#include <payload.p4>
#include <xdp_model.p4>

/// TCP without options.
header plain_tcp_t {
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> seq;
    bit<32> ack;
    bit<4>  data_offset;
    bit<4>  reserved;
    bit<8>  flags;
    bit<16> window;
    bit<16> checksum;
    bit<16> urgent;
}

/// A packet that may become an answer.
struct answered_packet {
    packet_headers packet;
    plain_tcp_t    segment;
}

/// Flag of TCP: the sender has no more data.
const bit<8> TCP_FIN = 0x01;
/// Flag of TCP: the connection opens.
const bit<8> TCP_SYN = 0x02;
/// Flag of TCP: the connection is reset.
const bit<8> TCP_RST = 0x04;
/// Flag of TCP: the receiver is to have the data at once.
const bit<8> TCP_PSH = 0x08;
/// Flag of TCP: the acknowledgement is valid.
const bit<8> TCP_ACK = 0x10;

/// The ones' complement sum of the words in a sum.
bit<16> answer_fold(in bit<32> sum) {
    bit<32> once = (sum >> 16) + (sum & 0xffff);
    return once[15:0] + once[31:16];
}

/// The sum of the words of an IPv6 address.
bit<32> answer_address_sum(in bit<128> address) {
    return (bit<32>)address[127:112] + (bit<32>)address[111:96] + (bit<32>)address[95:80] + (bit<32>)address[79:64]
         + (bit<32>)address[63:48] + (bit<32>)address[47:32] + (bit<32>)address[31:16] + (bit<32>)address[15:0];
}

/// The sum of the pseudo header of a packet of TCP or UDP (RFC 9293, section 3.1; RFC 8200, section 8.1).
bit<32> answer_pseudo_sum(in packet_headers hdr, in bit<16> bytes) {
    bit<32> sum = (bit<32>)hdr.protocol + (bit<32>)bytes;
    if (hdr.ipv4.isValid()) {
        sum = sum + (bit<32>)hdr.ipv4.src[31:16] + (bit<32>)hdr.ipv4.src[15:0] + (bit<32>)hdr.ipv4.dst[31:16] + (bit<32>)hdr.ipv4.dst[15:0];
    } else {
        sum = sum + answer_address_sum(hdr.ipv6.src) + answer_address_sum(hdr.ipv6.dst);
    }
    return sum;
}

/// Lets the headers of the network layer announce `bytes` bytes of TCP or UDP. Headers between them are left out.
void answer_length(inout packet_headers hdr, in bit<16> bytes) {
    if (hdr.ipv4.isValid()) {
        bit<16> length = ((bit<16>)hdr.ipv4.ihl << 2) + bytes;
        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.length, length);
        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.ttl ++ hdr.ipv4.protocol, hdr.ipv4.ttl ++ hdr.protocol);
        hdr.ipv4.length = length;
        hdr.ipv4.protocol = hdr.protocol;
    } else {
        hdr.ipv6.payload_length = bytes;
        hdr.ipv6.next_header = hdr.protocol;
    }
#ifdef READ_PPPOE
    // PPP's protocol is part of it.
    if (hdr.pppoe.isValid()) { hdr.pppoe.length = hdr.ipv4.isValid() ? hdr.ipv4.length + 2 : bytes + 42; }
#endif
}

/// Tells if an answer may go back to a packet's sender. The packet was sent to one receiver, and has no options of IPv4, which are about its own way.
bool answer_can_turn(in packet_headers hdr) {
    return hdr.eth.dst[40:40] == 0 && (!hdr.ipv4.isValid() || hdr.ipv4.ihl == 5);
}

/// Lets a packet go back to its sender: its addresses change places. It is as if it had not met a router.
void answer_turn(inout packet_headers hdr) {
    bit<48> station = hdr.eth.src;
    hdr.eth.src = hdr.eth.dst;
    hdr.eth.dst = station;
    if (hdr.ipv4.isValid()) {
        bit<32> address = hdr.ipv4.src;
        hdr.ipv4.src = hdr.ipv4.dst;
        hdr.ipv4.dst = address;
        hdr.ipv4.checksum = csum_replace2(hdr.ipv4.checksum, hdr.ipv4.ttl ++ hdr.ipv4.protocol, 8w64 ++ hdr.ipv4.protocol);
        hdr.ipv4.ttl = 64;
    } else {
        bit<128> address = hdr.ipv6.src;
        hdr.ipv6.src = hdr.ipv6.dst;
        hdr.ipv6.dst = address;
        hdr.ipv6.hop_limit = 64;
    }
}

/// Completes a segment of TCP without options. Behind its header there are `bytes` bytes, whose words have the sum `words`.
void answer_finish_segment(inout answered_packet hdr, in bit<32> sequence, in bit<32> acknowledged, in bit<8> flags, in bit<16> bytes, in bit<32> words) {
    hdr.segment.seq = sequence;
    hdr.segment.ack = acknowledged;
    hdr.segment.data_offset = 5;
    hdr.segment.reserved = 0;
    hdr.segment.flags = flags;
    hdr.segment.window = flags & TCP_RST != 0 ? 16w0 : 0xffff;
    hdr.segment.urgent = 0;
    answer_length(hdr.packet, bytes + 20);
    bit<32> sum = answer_pseudo_sum(hdr.packet, bytes + 20) + (bit<32>)hdr.segment.src_port + (bit<32>)hdr.segment.dst_port
                + (bit<32>)sequence[31:16] + (bit<32>)sequence[15:0] + (bit<32>)acknowledged[31:16] + (bit<32>)acknowledged[15:0]
                + (bit<32>)(8w0x50 ++ flags) + (bit<32>)hdr.segment.window + words;
    hdr.segment.checksum = ~answer_fold(sum);
    hdr.packet.tcp.setInvalid();
    payload_truncate(0);
}

/// Makes a segment of TCP a reset of its receiver. `sequence` is the number of the first byte that the receiver does not have.
void answer_reset_on(inout answered_packet hdr, in bit<32> sequence) {
    hdr.segment.setValid();
    hdr.segment.src_port = hdr.packet.tcp.src_port;
    hdr.segment.dst_port = hdr.packet.tcp.dst_port;
    answer_finish_segment(hdr, sequence, hdr.packet.tcp.ack, TCP_RST | TCP_ACK, 0, 0);
}

/// Makes a segment of TCP, which acknowledges something and is no reset itself, one that goes back to its sender and acknowledges it. A header with its data may
/// follow: `bytes` bytes, whose words have the sum `words`.
void answer_segment_back(inout answered_packet hdr, in bit<8> flags, in bit<16> bytes, in bit<32> words) {
    bit<32> end = hdr.packet.tcp.seq + hdr.packet.payload_bytes;
    if (hdr.packet.tcp.flags & TCP_SYN != 0) { end = end + 1; }
    if (hdr.packet.tcp.flags & TCP_FIN != 0) { end = end + 1; }
    hdr.segment.setValid();
    hdr.segment.src_port = hdr.packet.tcp.dst_port;
    hdr.segment.dst_port = hdr.packet.tcp.src_port;
    answer_turn(hdr.packet);
    answer_finish_segment(hdr, hdr.packet.tcp.ack, end, flags | TCP_ACK, bytes, words);
}

/// Makes a segment of TCP, which acknowledges something and is no reset itself, a reset of its sender (RFC 9293, section 3.5.2).
void answer_reset_back(inout answered_packet hdr) { answer_segment_back(hdr, TCP_RST, 0, 0); }

/// Completes a DNS message over UDP whose payload has changed, and has `bytes` bytes.
void answer_finish_message(inout answered_packet hdr, in bit<32> bytes) {
    hdr.packet.udp.length = (bit<16>)bytes + 8;
    answer_length(hdr.packet, hdr.packet.udp.length);
    // The sum may have been left to a device.
    bit<32> sum = answer_pseudo_sum(hdr.packet, hdr.packet.udp.length) + (bit<32>)hdr.packet.udp.src_port + (bit<32>)hdr.packet.udp.dst_port
                + (bit<32>)hdr.packet.udp.length + (bit<32>)payload_sum(bytes);
    hdr.packet.udp.checksum = ~answer_fold(sum);
    if (hdr.packet.udp.checksum == 0) { hdr.packet.udp.checksum = 0xffff; }
    payload_truncate(bytes);
}

/// Makes a DNS query over UDP the response with a code and no records (RFC 1035, section 4.1.1). False, and nothing is changed, if it is no query, or cannot be answered.
bool answer_query(inout answered_packet hdr, in bit<4> code) {
    bit<16> flags = 0x8000;
    bool is_query = hdr.packet.udp.isValid() && answer_can_turn(hdr.packet) && payload_read(2, flags) && flags[15:15] == 0;
    if (is_query) {
        // The kind of query, "recursion desired" and "checking disabled" stay; recursion is available.
        @noWarn("unused") bool is_written = payload_write(2, flags & 0x7910 | 0x8080 | (bit<16>)code);
        bit<16> port = hdr.packet.udp.src_port;
        hdr.packet.udp.src_port = hdr.packet.udp.dst_port;
        hdr.packet.udp.dst_port = port;
        answer_turn(hdr.packet);
        answer_finish_message(hdr, hdr.packet.payload_bytes);
    }
    return is_query;
}

/// Makes a DNS query over UDP the response that the name does not exist (NXDOMAIN), as `answer_query` does.
bool answer_no_name(inout answered_packet hdr) { return answer_query(hdr, 3); }

/// Makes a DNS query over UDP the response that the name has no records of this type (RFC 2308, section 2.2), as `answer_query` does.
bool answer_no_data(inout answered_packet hdr) { return answer_query(hdr, 0); }

/// Makes a DNS response over UDP with one question the one that the name does not exist. It goes on, without records. `question` is the question's length in bytes.
void answer_without_records(inout answered_packet hdr, in bit<32> question) {
    bit<16> flags = 0;
    @noWarn("unused") bool is_there = payload_read(2, flags);
    // It is whole, and authenticated data are no longer there.
    @noWarn("unused") bool has_flags = payload_write(2, flags & 0xfdd0 | 3);
    @noWarn("unused") bool has_counts = payload_write(6, 48w0);
    answer_finish_message(hdr, question + 12);
}

/// The deparser.
control answer_deparser(in answered_packet hdr, packet_out packet) {
    apply {
        packet.emit(hdr.packet.eth);
        packet.emit(hdr.packet.vlan);
        packet.emit(hdr.packet.inner_vlan);
        packet.emit(hdr.packet.innermost_vlan);
#ifdef READ_PPPOE
        packet.emit(hdr.packet.pppoe);
#endif
        packet.emit(hdr.packet.ipv4);
        packet.emit(hdr.packet.ipv6);
        packet.emit(hdr.packet.udp);
        packet.emit(hdr.segment);
    }
}

#endif
