// SPDX-License-Identifier: Apache-2.0
//
// Regular expressions on attributes of messages, and on the payload: what is found is a bit of the first byte.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<8>  from;
    bit<8>  count;
}

header report_t {
    bit<1> of_path;
    bit<1> of_host;
    bit<1> of_name;
    bit<1> anywhere;
    bit<1> at_ends;
    bit<1> any;
    bit<1> again;
    bit<1> read;
}

struct headers_t {
    report_t   report;
    ethernet_t eth;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        transition accept;
    }
}

control looks(inout headers_t hdr, in xdp_input input, out xdp_output output) {
    message("http") request;
    message("dns") question;

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        hdr.report.setValid();
        bit<32> at = (bit<32>)hdr.eth.from;
        bit<32> count = (bit<32>)hdr.eth.count;
        // Of a message that was not read, nothing is found.
        if (hdr.eth.count != 0) {
            hdr.report.read = request.read(at) == message_status.READ ? 1w1 : 0;
            question.read(at);
        }
        hdr.report.of_path = (bit<1>)request.matches("path", "^/[a-z]+/.*\\.html?$");
        hdr.report.of_host = (bit<1>)(request.matches("host", "^(www\\.)?example\\.(com|org)$") || request.matches("user_agent", ""));
        hdr.report.of_name = (bit<1>)question.matches("qname", "(?i)^[^.]*\\\\255\\.example$");
        hdr.report.anywhere = (bit<1>)payload_matches(at, count, "[0-9]{3}-[0-9]{4}");
        hdr.report.at_ends = (bit<1>)payload_matches(at, count, "^a(?:bc)*$");
        hdr.report.any = (bit<1>)payload_matches(at, 0xffffffff, "secret|\"q\"");
        hdr.report.again = (bit<1>)payload_matches(0, count, "^a(?:bc)*$");
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), looks(), dep()) main;
