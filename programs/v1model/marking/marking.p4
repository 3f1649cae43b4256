// SPDX-License-Identifier: Apache-2.0
//
// What a packet meets on its way: each hop inserts a record with its number, the port, how long the packet took and how
// many packets it found queued, and marks it as having met congestion (RFC 3168) where those are too many.

#include <core.p4>
#include <v1model.p4>

// The first EtherType for local experiments.
const bit<16> TYPE_RECORDS = 0x88b5;
const bit<8>  VERSION = 1;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header records_t {
    bit<8>  version;
    bit<8>  count;
    bit<16> type;   // the EtherType behind the records
}

header record_t {
    bit<16> hop;
    bit<16> port;
    bit<32> delay;    // microseconds from the parser to egress
    bit<32> queued;   // packets, when this one was queued
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_len;
    bit<16> id;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

struct headers_t {
    ethernet_t  eth;
    records_t   records;
    record_t[4] record;
    ipv4_t      ipv4;
}

struct metadata_t {
    bit<8>  records_left;
}

error { NoSuchVersion, NotIPv4 }

parser prs(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) {
            TYPE_RECORDS: records;
            0x0800:       ipv4;
            default:      accept;
        }
    }
    state records {
        packet.extract(hdr.records);
        verify(hdr.records.version == VERSION, error.NoSuchVersion);
        meta.records_left = hdr.records.count;
        transition next_record;
    }
    state next_record {
        transition select(meta.records_left, hdr.records.type) {
            (0, 0x0800): ipv4;
            (0, _):      accept;
            default:     record;
        }
    }
    state record {
        packet.extract(hdr.record.next);
        meta.records_left = meta.records_left - 1;
        transition next_record;
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5, error.NotIPv4);
        transition accept;
    }
}

control verify_header(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.id,
              hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    action drop() {
        mark_to_drop(std);
    }

    action forward(bit<9> port) {
        std.egress_spec = port;
    }

    table stations {
        key = { hdr.eth.dst : exact; }
        actions = { forward; drop; }
        default_action = drop();
        size = 1024;
    }

    apply {
        if (std.parser_error != error.NoError || std.checksum_error == 1) {
            drop();
        } else {
            stations.apply();
        }
    }
}

control egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    const bit<2> ECN_INCAPABLE = 0;
    const bit<2> ECN_CONGESTION = 3;
    const bit<8> MOST_RECORDS = 4;

    action mark_from(bit<19> queued) {
        if (hdr.ipv4.isValid() && hdr.ipv4.ihl == 5 && hdr.ipv4.ecn != ECN_INCAPABLE && std.enq_qdepth >= queued) {
            hdr.ipv4.ecn = ECN_CONGESTION;
        }
    }

    // How many packets a queue may have before those that come are marked.
    table queues {
        key = { std.egress_port : exact @name("port"); }
        actions = { mark_from; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    action insert(bit<16> hop) {
        if (!hdr.records.isValid()) {
            hdr.records.setValid();
            hdr.records = { VERSION, 0, hdr.eth.type };
            hdr.eth.type = TYPE_RECORDS;
        }
        if (hdr.records.count < MOST_RECORDS) {
            hdr.record.push_front(1);
            hdr.record[0].setValid();
            hdr.record[0] = {
                hop,
                (bit<16>)std.egress_port,
                (bit<32>)(std.egress_global_timestamp - std.ingress_global_timestamp),
                (bit<32>)std.enq_qdepth
            };
            hdr.records.count = hdr.records.count + 1;
        }
    }

    // Towards a station that knows nothing of records.
    action remove() {
        if (hdr.records.isValid()) {
            hdr.eth.type = hdr.records.type;
            hdr.records.setInvalid();
            hdr.record.pop_front(4);
        }
    }

    table links {
        key = { std.egress_port : exact @name("port"); }
        actions = { insert; remove; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    apply {
        queues.apply();
        links.apply();
    }
}

control update_header(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5,
            { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, hdr.ipv4.id,
              hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst },
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control dprs(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.records);
        packet.emit(hdr.record);
        packet.emit(hdr.ipv4);
    }
}

V1Switch(prs(), verify_header(), ingress(), egress(), update_header(), dprs()) main;
