#include <core.p4>
control c(inout bit<8> x) {
    bit<8> never; //~ W0201 unused variable `never`
    const bit<8> K = 1; //~ W0201 unused constant `K`
    action a(bit<8> v) { x = 1; } //~ W0201 unused action parameter `v`
    action lonely() { x = 2; } //~ W0201 unused action `lonely`
    @noWarn("unused") bit<8> quiet;
    table t { actions = { a; } } //~ W0201 unused table `t`
    apply { x = 3; }
}
control p<T>(inout T x);
package top<T>(p<T> c);
void unused_function() {} //~ W0201 unused function `unused_function`
top(c()) main;
