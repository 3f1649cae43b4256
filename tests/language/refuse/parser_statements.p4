#include <core.p4>
control inner() { apply {} }
parser sub(packet_in b) { state start { transition accept; } }
parser p(packet_in b, out bit<8> x) {
    state start {
        x = 1;
        return; //~ E0434 `return` is not allowed in a parser state
        transition accept;
    }
    state two {
        exit; //~ E0434 `exit` is not allowed in a parser state
        switch (x) { 1: {} } //~ E0434 `switch` is not allowed in
        for (bit<8> i in 1 .. 2) {} //~ E0434 a loop is not allowed in
        inner.apply(); //~ E0413 a control cannot be called in a parser state
        sub() s; //~ E0231 a parser cannot be instantiated in a parser state
        transition accept;
    }
}
