// Default values of types that exist at compile time only.
struct named_t { bit<8> port; string name; }
const int ZERO = ...;
const string EMPTY = ...;
const named_t NAMED = ...;
const tuple<int, bool> PAIR = { ... };
const bool IS_ZERO = ZERO == 0;
extern bool static_assert(bool check, string message);
control c(inout bit<8> x) {
    apply {
        static_assert(IS_ZERO, "int");
        x = x + ZERO;
    }
}
