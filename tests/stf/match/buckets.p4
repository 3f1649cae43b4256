// SPDX-License-Identifier: Apache-2.0
//
// Exact keys in buckets, which the annotation or the size asks for: of one word, of two, of odd widths, and long ones; and a
// large table that asks for the kernel's map.

#include <core.p4>
#include <xdp_model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header data_t {
    bit<8>   tenant;
    bit<32>  addr;
    bit<128> wide;
    bit<20>  odd;
    bit<4>   pad;
    bit<8>   alone;
    bit<8>   within;
    bit<8>   of_wide;
    bit<16>  of_odd;
    bit<8>   of_tenant;
    bit<8>   of_hosts;
}

struct headers_t {
    ethernet_t eth;
    data_t     data;
}

parser prs(packet_in packet, out headers_t hdr) {
    state start {
        packet.extract(hdr.eth);
        packet.extract(hdr.data);
        transition accept;
    }
}

control sw(inout headers_t hdr, in xdp_input xin, out xdp_output xout) {
    action alone(bit<8> value) {
        hdr.data.alone = value;
    }

    action within(bit<8> value) {
        hdr.data.within = value;
    }

    action of_wide(bit<8> value) {
        hdr.data.of_wide = value;
    }

    action of_odd(bit<16> value) {
        hdr.data.of_odd = value;
    }

    action of_tenant(bit<8> value) {
        hdr.data.of_tenant = value;
    }

    action of_hosts(bit<8> value) {
        hdr.data.of_hosts = value;
    }

    @layout("buckets")
    table hosts {
        key = { hdr.data.addr : exact @name("addr"); }
        actions = { alone; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    @layout("buckets")
    table tenant_hosts {
        key = {
            hdr.data.tenant : exact @name("tenant");
            hdr.data.addr   : exact @name("addr");
        }
        actions = { within; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    // Without an annotation: by its size.
    table wide_hosts {
        key = {
            hdr.data.wide : exact @name("wide");
            hdr.eth.src   : exact @name("src");
        }
        actions = { of_wide; NoAction; }
        default_action = NoAction();
        size = 50000;
    }

    // An array would do.
    @layout("buckets")
    table odd_hosts {
        key = { hdr.data.odd[11:0] : exact @name("odd"); }
        actions = { of_odd; NoAction; }
        default_action = of_odd(0xdddd);
        size = 1;
    }

    @layout("buckets")
    table tenants {
        key = { hdr.data.tenant : exact @name("tenant"); }
        actions = { of_tenant; NoAction; }
        default_action = NoAction();
        size = 300;
        entries = {
            1 : of_tenant(0x11);
            const 2 : of_tenant(0x22);
        }
    }

    @layout("hash_map")
    table many_hosts {
        key = { hdr.data.addr : exact @name("addr"); }
        actions = { of_hosts; NoAction; }
        default_action = NoAction();
        size = 60000;
    }

    apply {
        xout.output_port = 0;
        xout.output_action = xdp_action.XDP_TX;
        hosts.apply();
        tenant_hosts.apply();
        wide_hosts.apply();
        odd_hosts.apply();
        tenants.apply();
        many_hosts.apply();
    }
}

control dprs(in headers_t hdr, packet_out packet) {
    apply {
        packet.emit(hdr.eth);
        packet.emit(hdr.data);
    }
}

xdp(prs(), sw(), dprs()) main;
