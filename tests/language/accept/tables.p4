#include <core.p4>
match_kind { range, optional, selector }
header ip_t { bit<32> src; bit<32> dst; bit<8> ttl; bool flag; }
extern counter_t { counter_t(bit<32> n); }
extern store_t { store_t(bit<32> n); }
enum color { red, green }
control c(inout ip_t ip, inout bit<9> port, in color k)(bit<32> entries) {
    counter_t(5) hits;
    action drop() { port = 511; }
    action send(bit<9> p) { port = p; }
    action dec(inout bit<8> ttl, bit<8> by) { ttl = ttl - by; }
    table lpm_table {
        key = { ip.dst: lpm; }
        actions = { send; drop; @defaultonly NoAction; }
        const default_action = NoAction();
        size = 1024;
    }
    table all {
        key = {
            ip.src: ternary @name("source");
            ip.ttl: range;
            ip.dst[15:0]: exact;
            ip.isValid(): exact;
            port: optional;
            k: exact;
            ip.src + 1: exact @name("next");
            ip.dst: selector;
        }
        actions = { dec(ip.ttl); send; @tableonly drop; }
        default_action = dec(ip.ttl, 1);
        size = entries;
        hits_of = hits;
        implementation = store_t(64);
        const psa_idle = true;
        entries = {
            priority = 20: (10 &&& 0xFF, 1 .. 5, 7, true, _, color.red, 1, 0): send(1);
            const priority = 10: (_, _, 8, false, 3, color.green, 2, 0): dec(2);
            priority = 5: (1, 2, 9, false, 3, color.green, 2, 0): dec(ip.ttl, 2) @name("x");
        }
    }
    table fixed {
        key = { ip.dst: lpm; }
        actions = { send; drop; }
        const entries = {
            0x0A000000 &&& 0xFF000000: send(3);
            0x0A000001: drop;
            _: drop();
        }
        default_action = send(p = 2);
    }
    table keyless { actions = { drop; } default_action = drop; }
    table bare { key = {} actions = { NoAction; } }
    apply {
        if (lpm_table.apply().hit) { all.apply(); } else if (fixed.apply().miss) { keyless.apply(); }
        switch (bare.apply().action_run) {
            NoAction: { port = 1; }
        }
        switch (all.apply().action_run) {
            dec:
            send: { port = 2; }
            default: { port = 3; }
        }
    }
}
