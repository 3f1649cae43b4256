// Match kinds and lists of them are values for externs, known at compile time.
#include <core.p4>
extern void choose(in list<match_kind> kinds);
extern void choose_one(in match_kind kind);
extern void plain(list<match_kind> kinds, match_kind kind);
extern void pairs(in list<tuple<match_kind, bit<8>>> kinds);
extern void two(in tuple<match_kind, match_kind> kinds);
extern void any<T>(in T kinds);
extern matcher { matcher(list<match_kind> kinds, tuple<match_kind, match_kind> two); void add(in list<match_kind> kinds); void any<T>(in T kinds); }
const list<match_kind> KINDS = { exact, lpm };
control inside(inout bit<8> x)(list<match_kind> kinds) {
    matcher(kinds, { exact, ternary }) m;
    apply { m.add(kinds); choose(kinds); x = 1; }
}
control c(inout bit<8> x) {
    inside({ lpm }) i;
    matcher({ exact, lpm }, { exact, ternary }) m;
    apply {
        i.apply(x);
        choose({ exact, lpm });
        choose(KINDS);
        choose((list<match_kind>) { exact });
        choose_one(ternary);
        plain({ ternary }, exact);
        pairs({ { exact, 3 }, { lpm, 4 } });
        two({ exact, lpm });
        any({ exact, lpm });
        any(KINDS);
        any(exact);
        m.add({ exact });
        m.any({ exact, lpm });
    }
}
