extern E { E(); }
control ctl();
void a(in E e) {} //~ E0244 a parameter cannot have the type `E`
void b(in int x) {} //~ E0244 a parameter cannot have the type `int`
void c(out string s) {} //~ E0244 a parameter cannot have the type `string`
void d(void v) {} //~ E0244 a parameter cannot have the type `void`
void e(ctl x) {} //~ E0244 a parameter cannot have the type `ctl`
void f(out bit<8> x = 1) { x = 1; } //~ E0246 cannot have a default value
extern void g(@optional in bit<8> x = 1); //~ E0248 an `@optional` parameter
void h(in bit<8> y, in bit<8> x = y) {} //~ E0505 a default argument must be a compile-time constant
action act(bit<8> x, inout bit<8> y) {} //~ E0245 follows one without
action act4(@optional in bit<8> x) {} //~ E0254 not allowed where there is a body
void i(@optional in bit<8> x) {} //~ E0254 not allowed where there is a body
action act3(int x) {} //~ E0244 the type `int`
control k()(in bit<8> x) { apply {} } //~ E0242 has no direction
control l(@optional in bit<8> x, inout bit<8> y) { apply { y = x; } } //~ E0254 not allowed where there is a body
control m(inout bit<8> y)(@optional bit<8> x) { apply { y = x; } } //~ E0254 not allowed where there is a body
parser n(@optional in bit<8> x) { state start { transition accept; } } //~ E0254 not allowed where there is a body
control o(inout bit<8> y)(bit<8> x, E z); //~ E0261 `o` is a type without a body
parser p(in bit<8> y)(bit<8> x); //~ E0261 `p` is a type without a body
