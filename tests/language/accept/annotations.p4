#include <core.p4>
@pragma something else 5
@my[1, "two", 3 + 4]
@other[name = "x", size = 5]
@raw(a b + c "d")
@empty()
struct s_t { @short("f") bit<8> f; @a @b bit<8> g; }
@pure extern bit<8> twice(in bit<8> x);
@noWarn("unused") action lonely() {}
@name("the.control") @brief("text")
control c(inout s_t s, in bit<8> unused_ok) {
    @name("set") @hidden action a(@name("v") bit<8> value) { s.f = value; }
    @hidden @name(".t") table t {
        @ann key = { s.g: exact @name("g") @refers_to(t, x); }
        actions = { @tableonly a; @defaultonly NoAction; }
        default_action = NoAction;
        const entries = { 1: a(2) @name("one"); }
    }
    apply { t.apply(); s.g = twice(s.g); @atomic { s.f = 1; } }
}
// Text in annotations runs over lines, and holds what would be code elsewhere.
@rule("
    // Not 'zero', nor a \"mask\":
    x != 0 && y::mask == 1;
#if defined(NOTHING)
    z -> 3
#endif
")
@about[name = "two
    lines", type = 3]
control told() { apply { } }
