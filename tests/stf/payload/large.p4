// SPDX-License-Identifier: Apache-2.0
//
// The payload of packets that are in several buffers: what stands at an offset, and what is found from there on, is written behind the
// Ethernet header.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

// What is asked, with room for the answer.
header question_t {
    bit<32>  offset;
    bit<32>  length;
    bit<112> room;
}

header answer_t {
    bit<32> length;
    bit<8>  has_four;
    bit<32> four;
    bit<32> needle;
    bit<32> sentence;
    bit<8>  is_host;
    bit<8>  matches;
    bit<24> room;
}

struct headers_t {
    ethernet_t eth;
    question_t question;
    answer_t   answer;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.question);
        transition accept;
    }
}

control reads(inout headers_t hdr, in xdp_input input, out xdp_output output) {
    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        bit<32> offset = hdr.question.offset;
        hdr.answer.setValid();
        hdr.answer.room = 0;
        hdr.answer.length = payload_length();
        hdr.answer.has_four = payload_read(offset, hdr.answer.four) ? 8w1 : 0;
        // "needle"
        hdr.answer.needle = payload_find(offset, 48w0x6e6565646c65);
        // 64 bytes, the most there can be.
        hdr.answer.sentence = payload_find(offset, 512w0x54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c617a7920646f6720616e6420636f6d657320686f6d6520616761696e);
        // "host:"
        hdr.answer.is_host = payload_matches_ignore_case(offset, 40w0x686f73743a) ? 8w1 : 0;
        hdr.answer.matches = payload_matches(offset, hdr.question.length, "[0-9]{3}-[0-9]{4}$|^zz+$") ? 8w1 : 0;
        hdr.question.setInvalid();
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.answer);
    }
}

xdp(prs(), reads(), dep()) main;
