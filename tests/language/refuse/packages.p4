#include <core.p4>
parser prs<H>(packet_in p, out H h);
control pipe<H>(inout H h, in bit<8> port);
package Switch<H>(prs<H> p, pipe<H> i);
struct a_t { bit<8> x; }
struct b_t { bit<8> x; }
parser P(packet_in p, out a_t h) { state start { h.x = 1; transition accept; } }
parser Q(packet_in p, inout a_t h) { state start { transition accept; } }
control I(inout a_t h, in bit<8> port) { apply {} }
control J(inout b_t h, in bit<8> port) { apply {} }
control K(inout a_t h) { apply {} }
Switch(P(), J()) one; //~ E0346 its parameter `h` differs
Switch(Q(), I()) two; //~ E0346 `Q` does not fit
Switch(P(), K()) three; //~ E0345 it has 1 parameter, not 2
Switch(I(), P()) four;
//~^ E0301 found `I`
//~^^ E0301 found `P`
Switch<b_t>(P(), J()) five; //~ E0346 `P` does not fit `prs<b_t>`
Switch(P()) six; //~ E0403 parameter `i`
Switch(P(), I(), 1) seven; //~ E0404 takes 2 arguments
Switch(P(), 5) eight; //~ E0301 found `int`
