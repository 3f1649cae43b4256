struct s_t { bit<8> a; bit<8> b; }
extern void put<T>(in T x);
extern E { E(); }
control c(inout s_t s, inout bit<8> x, E obj) {
    action a() {}
    table t { actions = { a; } default_action = a(); }
    apply {
        s = { 1 }; //~ E0312 has 2 fields, not 1
        s = { a = 1 }; //~ E0314 no value for `b`
        put({ a = 1 }); //~ E0315 the type of this structure
        put(...); //~ E0315 the type of `...`
        put({#}); //~ E0315 the type of `{#}`
        put({ 8w1, ... }); //~ E0315 the type of `...`
        put({ obj, x }); //~ E0344 `E` is not a value
        put(t.apply()); //~ E0344 the result of `t.apply()` is not a value
        if ((x == 1 ? t.apply() : t.apply()).hit) {} //~ E0344 is not a value
        x = s[0]; //~ E0317 `s_t` cannot be indexed
        tuple<bit<8>, bit<8>> tu = { 1, 2 };
        x = tu[2]; //~ E0318 index 2 is out of range
        x = tu[x]; //~ E0505 must be a compile-time constant
        const list<E> l = ...; //~ E0303 `E` cannot be
        const match_kind kind = ...; //~ E0316 `match_kind` has no default value
    }
}
