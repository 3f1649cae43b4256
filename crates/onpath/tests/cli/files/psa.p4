#include <core.p4>

parser P(packet_in packet) {
    state start { transition accept; }
}
package PSA_Switch(P p);
parser mine(packet_in packet) {
    state start { transition accept; }
}
PSA_Switch(mine()) main;
