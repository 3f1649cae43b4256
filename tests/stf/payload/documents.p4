// SPDX-License-Identifier: Apache-2.0
//
// Members of documents by path: what became of reading the payload as JSON and as XML, and the first bytes of two members of each.

#include <core.p4>
#include <xdp_model.p4>
#include <payload.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header report_t {
    message_status json;
    bit<32>        id;
    bit<8>         id_length;
    bit<32>        tag;
    bit<8>         tag_length;
    message_status xml;
    bit<32>        sku;
    bit<8>         sku_length;
    bit<8>         has_number;
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

control reads(inout headers_t hdr, in xdp_input input, out xdp_output output) {
    message("json") text;
    message("xml", 256) document;

    apply {
        output.output_action = xdp_action.XDP_TX;
        output.output_port = 0;
        hdr.report.setValid();
        bit<32> length;
        hdr.report.json = text.read(0);
        text.get_bytes("user.id", hdr.report.id, length);
        hdr.report.id_length = (bit<8>)length;
        text.get_bytes("user.tags[1]", hdr.report.tag, length);
        hdr.report.tag_length = (bit<8>)length;
        hdr.report.xml = document.read(0);
        document.get_bytes("order/item/@sku", hdr.report.sku, length);
        hdr.report.sku_length = (bit<8>)length;
        hdr.report.has_number = (bit<8>)(bit<1>)document.matches("order/@id", "^[0-9]+$");
    }
}

control dep(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.report);
        packet.emit(hdr.eth);
    }
}

xdp(prs(), reads(), dep()) main;
