#include <core.p4>
extern E { E(); }
control inner() { apply {} }
parser sub(packet_in b) { state start { transition accept; } }
package pk();
inner() i; //~ E0231 a control cannot be instantiated at the top level
sub() s; //~ E0231 a parser cannot be instantiated at the top level
bit<8> f() {
    E() e; //~ E0231 an extern cannot be instantiated in a function
    return 1;
}
control c() {
    pk() p; //~ E0231 a package cannot be instantiated in
    sub() s; //~ E0231 a parser cannot be instantiated in a control's
    action b(in bit<8> x) { if (x == 1) bit<8> y = 1; } //~ E0230 a variable cannot be declared in a branch
    action a() { inner() j; } //~ E0231 a control cannot be instantiated in an action
    apply {}
}
parser p(packet_in b) {
    inner() i; //~ E0231 a control cannot be instantiated in a parser's
    state start { transition accept; }
}
