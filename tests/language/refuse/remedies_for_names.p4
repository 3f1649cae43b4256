enum verdict_t { PASS, DROP }
error { TooShort }
header ipv4_t { bit<8> ttl; bit<8> tos; }
header vlan_t { bit<12> vid; }
struct headers_t { ipv4_t ipv4; vlan_t[4] vlans; }
extern counter_t { counter_t(); void count(); }
control d(inout bit<8> x) { apply {} }
parser p(packet_in packet) { state start { transition accept; } } //~ E0201 unknown type `packet_in`
typedef match_kind kind_t; //~ E0331 `match_kind` cannot be given a new name
parser q(inout bit<8> x) { state Start { transition accept; } } //~ E0211 has no state `start`
control c(inout headers_t hdr, inout bit<8> x, in verdict_t v)(bit<16> size) {
    action none() {}
    d() inner;
    table t { key = { t: exact; } actions = { none; } } //~ E0208 uses itself
    //~^ E0212 unknown match kind `exact`
    table x { key = { x: exact; } actions = { NoAction; } } //~ E0208 `x` is a table here
    //~^ E0256 `x` is a parameter
    //~^^ E0201 unknown action `NoAction`
    //~^^^ E0212 unknown match kind `exact`
    apply {
        if (v == DROP) {} //~ E0201 unknown name `DROP`
        if (TooShort == TooShort) {} //~ E0201 unknown name `TooShort`
        //~^ E0201 unknown name `TooShort`
        if (v == verdict_t.FORWARD) {} //~ E0207 no member `FORWARD`
        y = 1; //~ E0201 unknown name `y`
        hdr.ttl = 1; //~ E0207 no field `ttl`
        hdr.vid = 1; //~ E0207 no field `vid`
        hdr.vlans.vid = 1; //~ E0207 no property `vid`
        hdr.vlans.first = 1; //~ E0207 no property `first`
        if (hdr.ipv4.valid) {} //~ E0207 no field `valid`
        tuple<bit<8>> tu = { 1 };
        tu.x = 1; //~ E0207 no member `x`
        if (tu.isValid) {} //~ E0207 no member `isValid`
        if (t.hit) {} //~ E0207 no member `hit`
        if (t.member) {} //~ E0207 no member `member`
        t(); //~ E0401 a table cannot be called
        inner(hdr.ipv4.ttl); //~ E0401 an instance cannot be called
        size(); //~ E0401 a constructor parameter cannot be called
        hdr.ipv4.tos = d; //~ E0204 `d` is a control
        hdr.ipv4.tos = none; //~ E0205 `none` is an action
        hdr.ipv4 = ipv4_t(1, 2); //~ E0415 instantiated inside an expression
        bit<8> z = hdr[0]; //~ E0317 cannot be indexed
    }
}
