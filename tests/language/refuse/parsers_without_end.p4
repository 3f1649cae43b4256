#include <core.p4>
parser p(packet_in b, out bit<8> z) { //~ E0260 the parser `p` never reaches `accept` or `reject`
    state start { z = 1; transition select(z) { 1: next; default: start; } }
    state next { transition start; }
    state end { transition accept; }
}
parser q(packet_in b, out bit<8> z) {
    state start { z = 1; transition select(z) { 1: start; } }
}
