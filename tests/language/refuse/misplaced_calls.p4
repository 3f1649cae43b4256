#include <core.p4>
control inner() { apply {} }
parser sub(packet_in b) { state start { transition accept; } }
action outer() {}
bit<8> f(in bit<8> x) {
    outer(); //~ E0413 an action cannot be called in a function
    inner.apply(); //~ E0413 a control cannot be called in a function
    exit; //~ E0434 `exit` is not allowed in a function
    return x;
}
control c(inout bit<8> x, packet_in b) {
    inner() i;
    action a() {}
    table t { actions = { a; } default_action = a(); }
    bool hit = t.apply().hit; //~ E0413 a table cannot be called in a control's declarations
    action bad() {
        t.apply(); //~ E0413 a table cannot be called in an action
        i.apply(); //~ E0413 a control cannot be called in an action
    }
    apply { sub.apply(b); } //~ E0413 a parser cannot be called in a control's
}
parser p(packet_in b) {
    sub() s;
    state start {
        outer(); //~ E0413 an action cannot be called in a parser state
        s.apply(b);
        transition accept;
    }
}
