// SPDX-License-Identifier: Apache-2.0
//
// A filter that counts by the port, in the manner of others' tests of filters: a key of several fields with their whole names, an
// action with a parameter, counters, and headers on a path without one.

#include <core.p4>
#include <ebpf_model.p4>

@ethernetaddress typedef bit<48> EthernetAddress;
@ipv4address     typedef bit<32> IPv4Address;

header Ethernet_h {
    EthernetAddress dstAddr;
    EthernetAddress srcAddr;
    bit<16>         etherType;
}

header IPv4_h {
    bit<4>      version;
    bit<4>      ihl;
    bit<8>      diffserv;
    bit<16>     totalLen;
    bit<16>     identification;
    bit<3>      flags;
    bit<13>     fragOffset;
    bit<8>      ttl;
    bit<8>      protocol;
    bit<16>     hdrChecksum;
    IPv4Address srcAddr;
    IPv4Address dstAddr;
}

header udp_h {
    bit<16> srcPort;
    bit<16> dstPort;
}

struct Headers_t {
    Ethernet_h ethernet;
    IPv4_h     ipv4;
    udp_h      udp;
}

parser prs(packet_in p, out Headers_t headers) {
    state start {
        p.extract(headers.ethernet);
        transition select(headers.ethernet.etherType) {
            0x0800: ip;
            default: accept;
        }
    }
    state ip {
        p.extract(headers.ipv4);
        transition select(headers.ipv4.protocol, headers.ipv4.fragOffset) {
            (17, 0): udp;
            (_, _): accept;
        }
    }
    state udp {
        p.extract(headers.udp);
        transition accept;
    }
}

control pipe(inout Headers_t headers, out bool pass) {
    CounterArray(32w16, true) counters;

    action count(bit<32> index) {
        counters.increment(index);
    }
    action drop() {
        pass = false;
    }

    table services {
        key = {
            headers.ipv4.dstAddr: exact;
            headers.udp.dstPort: exact;
        }
        actions = {
            count;
            drop;
            NoAction;
        }
        implementation = hash_table(8);
        default_action = drop();
    }

    apply {
        pass = true;
        if (headers.udp.isValid()) {
            services.apply();
        } else {
            counters.add(15, 2);
        }
    }
}

ebpfFilter(prs(), pipe()) main;
