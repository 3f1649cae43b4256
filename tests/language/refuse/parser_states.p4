#include <core.p4>
parser p(packet_in b) {
    state start { transition nxt; } //~ E0209 this parser has no state `nxt`
    state next { transition select(b.lookahead<bit<8>>()) { 0: acept; } } //~ E0209 no state `acept`
    state accept { transition reject; } //~ E0210 the state `accept` is built in
}
parser q(packet_in b) { //~ E0211 the parser `q` has no state `start`
    state first { transition accept; }
}
