//! Each construct of the language: accepted texts in the grammar, and refused texts outside it.
//!
//! Errors in types and names (a bad cast, an unknown name) are not tested here: the parser accepts them.

use syntax::MemoryLoader;

/// Returns the codes of the errors and warnings of a program.
fn codes(text: &str) -> Vec<&'static str> {
    let loader = MemoryLoader::new().with("main.p4", text);
    let mut map = diag::SourceMap::new();
    let parsed = syntax::parse(&mut map, &loader, "main.p4", &[]);
    parsed.diagnostics.iter().map(|d| d.code.0).collect()
}

/// A declaration at top level.
fn decl(text: &str) -> String {
    text.to_string()
}

/// Statements in the apply block of a control.
fn stmt(text: &str) -> String {
    format!("control c(inout h_t h) {{ apply {{ {text} }} }}")
}

/// An expression.
fn expr(text: &str) -> String {
    stmt(&format!("x = {text};"))
}

/// Locals of a control.
fn local(text: &str) -> String {
    format!("control c(inout h_t h) {{ {text} apply {{ }} }}")
}

/// Properties of a table.
fn table(text: &str) -> String {
    local(&format!("table t {{ {text} }}"))
}

/// Members of a parser.
fn parser(text: &str) -> String {
    format!("parser p(packet_in b, out h_t h) {{ {text} }}")
}

/// Cases of a select.
fn select(text: &str) -> String {
    parser(&format!(
        "state start {{ transition select(h.a, h.b) {{ {text} }} }}"
    ))
}

#[track_caller]
fn accepted(place: fn(&str) -> String, snippets: &[&str]) {
    for snippet in snippets {
        let found = codes(&place(snippet));
        assert!(found.is_empty(), "{snippet}: {found:?}");
    }
}

#[track_caller]
fn refused(place: fn(&str) -> String, snippets: &[(&str, &str)]) {
    for (snippet, code) in snippets {
        let found = codes(&place(snippet));
        assert_eq!(found.first(), Some(code), "{snippet}: {found:?}");
    }
}

#[test]
fn composites() {
    accepted(
        decl,
        &[
            "header h { }",
            "header h { bit<48> dst; bit<48> src; @name(\"t\") bit<16> type; }",
            "header h { varbit<320> options; int<8> a; bool b; port_t p; }",
            "header_union u { ipv4_t v4; ipv6_t v6; }",
            "struct s { h_t h; h_t[4] stack; tuple<bit<8>, bool> t; error e; }",
            "struct pair<A, B> { A a; B b; }",
            "header wrap<T> { bit<8> n; T value; }",
            "struct s { bit<(W)> a; bit<(2 * W)> b; bit<8>[3] c; list<bit<8>> l; }",
            "header h { bit<W> a; bit<2 + 2> b; bit<W * 2 - 1> c; varbit<W * 8> d; int<W % 3> e; }",
            "struct s { bit<8> a[4]; bit<8> b[4][2]; bit<8>[4][2] c; }",
            "struct s { bit<W << 1> a; bit<16 >> W> b; tuple<bit<8 >> 1>> c; tuple<bit<8>> d; bit<1 << 2 << W> e; }",
            "struct s { bit<W & 7> a; bit<16 >> (W - 1)> b; bit<W >> 1 + 1> c; bit<W | 8 ^ ~3> d; bit<(W) >> W.size> e; bit<-W & 0xf> f; }",
            "struct s { tuple<bit<W >> 1 + W * 2>, bit<W & 7>> a; tuple<tuple<bit<W & 7>>> b; tuple<tuple<bit<8 >> 1>>> c; tuple<bit<(16 >> 1)>> d; }",
            "struct s { list list; key key; bit<8> apply; bit<8> state; bit<8> priority; }",
            "@controller_header(\"packet_in\") header h { bit<9> port; }",
        ],
    );
    refused(
        decl,
        &[
            ("header h { bit<8> a, b; }", "E0146"),
            ("header h { bit<8> a }", "E0111"),
            ("header h { a; }", "E0110"),
            ("header h bit<8> a; }", "E0110"),
            ("header h { bit<8> a = 1; }", "E0111"),
            ("struct s { tuple<bit<16 >> (1)>> a; }", "E0110"),
            ("struct s { bit<8> a[4; }", "E0112"),
            ("struct s { varbit a; }", "E0110"),
            ("struct s { list<bit<8>, bit<8>> l; }", "E0110"),
            ("header_union { }", "E0110"),
            ("struct s<> { }", "E0110"),
        ],
    );
}

#[test]
fn enums_errors_and_match_kinds() {
    accepted(
        decl,
        &[
            "enum E { A }",
            "enum E { A, B, }",
            "enum bit<16> E { A = 1, B = 0x800, C = A + 1 }",
            "enum int<8> E { A = -1 }",
            "enum port_t E { A = 1 }",
            "error { A, B }",
            "error { A, }",
            "match_kind { exact, ternary }",
        ],
    );
    refused(
        decl,
        &[
            ("enum E { A B }", "E0112"),
            ("enum E { 1 }", "E0110"),
            ("enum { A }", "E0110"),
            ("enum E { }", "E0110"),
            ("error { }", "E0110"),
            ("match_kind { }", "E0110"),
            ("enum bit<8> E { A = }", "E0110"),
            ("error { A = 1 }", "E0112"),
            ("match_kind { table }", "E0118"),
        ],
    );
}

#[test]
fn typedefs_and_new_types() {
    accepted(
        decl,
        &[
            "typedef bit<9> port_t;",
            "type bit<9> port_t;",
            "typedef h_t[4] stack_t;",
            "typedef g<bit<8>> g8;",
            "typedef struct s { bit<8> x; } t; const t c = (s) {1};",
            "type enum bit<8> e { A = 1 } f;",
            "type .x y;",
        ],
    );
    refused(
        decl,
        &[
            ("typedef bit<9> ;", "E0110"),
            ("type bit<9>;", "E0110"),
            ("typedef bit<9> a, b;", "E0111"),
            ("typedef port_t", "E0110"),
        ],
    );
}

#[test]
fn constants_and_literals() {
    accepted(
        decl,
        &[
            "const bit<8> x = 255;",
            "const int x = 0xFF + 0b1 + 0o7 + 0d9 + 1_000 + 0XaB;",
            "const bit<32> x = 32w0xdead_beef;",
            "const int<8> x = 8s127;",
            "const string s = \"a \\\"b\\\" \\n\";",
            "const string s = \"a\" ++ \"b\";",
            "const bool b = true && !false;",
            "const s_t s = {1, 2};",
            "const s_t s = {a = 1, b = {2, 3},};",
            "const h_t h = {#};",
            "const bit<8>[2] s = {1, 2};",
        ],
    );
    refused(
        decl,
        &[
            ("const bit<8> x;", "E0110"),
            ("const x = 1;", "E0110"),
            ("const int x = 0b2;", "E0105"),
            ("const int x = 8w;", "E0105"),
            ("const int x = 100000w1;", "E0106"),
            ("const string s = \"a", "E0102"),
            ("const string s = \"\\z\";", "E0104"),
            ("const int x = 'a';", "E0101"),
            ("const int x = {1, 2;", "E0112"),
        ],
    );
}

#[test]
fn externs() {
    accepted(
        decl,
        &[
            "extern void f();",
            "extern T g<T>(in T x, out bit<8> y);",
            "extern bit<32> random(in bit<32> lo, in bit<32> hi = 5);",
            "extern packet_in { void extract<T>(out T h); void extract<T>(out T h, in bit<32> n); bit<32> length(); }",
            "extern register<T, I> { register(bit<32> size); register(bit<32> size, T init); @noSideEffects void read(out T r, in I i); }",
            "extern balancer { balancer(); abstract bit<4> on_new_flow(in bit<32> address); }",
            "extern E { }",
            "extern bit<8> f(@optional in bit<8> x);",
            "@pure extern void f(inout tuple<bit<8>> t);",
            "extern void f(void x, _ y);",
        ],
    );
    refused(
        decl,
        &[
            ("extern f;", "E0110"),
            ("extern void f() { }", "E0111"),
            ("extern E { f(); }", "E0110"),
            ("extern E { void f() }", "E0111"),
            ("extern void f(bit<8>);", "E0110"),
            ("extern void f(in out bit<8> x);", "E0118"),
            ("extern void f(bit<8> x,);", "E0110"),
            ("bit<8> f();", "E0119"),
        ],
    );
}

#[test]
fn functions_and_actions() {
    accepted(
        decl,
        &[
            "bit<8> f(in bit<8> x) { return x + 1; }",
            "void f() { return; }",
            "T max<T>(in T a, in T b) { if (a > b) return a; return b; }",
            "action a() { }",
            "action a(inout bit<8> x, bit<9> port, @name(\"q\") bit<8> z) { x = x + 1; }",
            "list<bit<8>> f() { return {1}; }",
            "error f() { return error.NoError; }",
        ],
    );
    refused(
        decl,
        &[
            ("bit<8> f(in bit<8> x)", "E0110"),
            ("f(in bit<8> x) { }", "E0110"),
            ("action a { }", "E0110"),
            ("action a() x = 1;", "E0110"),
            ("void f() { action a() { } }", "E0119"),
            ("void f() { bit<8> g() { } }", "E0119"),
        ],
    );
}

#[test]
fn parsers() {
    accepted(
        decl,
        &[
            "parser p(packet_in b, out h_t h);",
            "parser p<H>(packet_in b, out H h);",
            "parser p(packet_in b)(bit<8> n) { state start { transition accept; } }",
            "@name(\"set\") value_set<bit<16>>(4) vs; value_set<bit<16 >> 1>>(4) ws;",
        ],
    );
    accepted(
        parser,
        &[
            "",
            "state start { }",
            "state start { b.extract(h.eth); transition select(h.eth.type) { 0x800: ipv4; default: reject; } }",
            "state start { transition select(b.lookahead<bit<8>>()) { _: accept; } }",
            "const bit<8> C = 1; bit<8> x; bit<8> y = 2; Checksum() ck; sub() s; state start { s.apply(b, h); transition accept; }",
            "value_set<bit<16>>(4) vs; value_set<tuple<bit<8>, bit<8>>>(W) ws; state start { transition select(h.x) { vs: accept; } }",
            "@name(\"s\") state start { const bit<8> k = 1; bit<8> v = k; { v = 2; } if (v == 2) { v = 3; } else v = 4; transition accept; }",
            "state start { verify(h.x == 1, error.Bad); b.advance((bit<32>) 8); h.stack.next = h.stack.last; }",
            "state start { transition select(h.a) { 1: accept; }; }",
        ],
    );
    refused(
        parser,
        &[
            ("state start { transition accept }", "E0111"),
            ("state start { transition accept; x = 1; }", "E0125"),
            ("state { }", "E0110"),
            ("x = 1; state start { }", "E0149"),
            ("state start { } bit<8> x;", "E0126"),
            ("table t { }", "E0119"),
            ("action a() { }", "E0119"),
            ("value_set<bit<8>> vs;", "E0110"),
            (
                "state start { transition select(h.a) { 1 accept; } }",
                "E0110",
            ),
            (
                "state start { transition select(h.a) { 1: accept } }",
                "E0111",
            ),
            ("state start { transition select h.a { } }", "E0110"),
            ("state start { transition; }", "E0110"),
            ("apply { }", "E0119"),
        ],
    );
    refused(
        decl,
        &[
            ("parser start { }", "E0132"),
            ("parser p(packet_in b)", "E0110"),
            ("state s { }", "E0119"),
        ],
    );
}

#[test]
fn keysets() {
    accepted(
        select,
        &[
            "(1, 2): accept;",
            "(1, _): accept; (_, 2): accept; default: reject;",
            "_: accept;",
            "(0x0f &&& 0xff, 1 .. 5): accept;",
            "(default, 8w3 &&& 8w7): accept;",
            "((bit<8>) 1, -1): accept;",
            "(E.A, h.x + 1): accept;",
            "(X, Y): accept; vs: accept;",
            "(a ++ b, c[3:0]): accept;",
            "((1 + 2) * 3, ((4))): accept;",
        ],
    );
    accepted(
        parser,
        &[
            "state start { transition select(h.a) { (1): a; (1 + 2) * 3: b; (1) &&& 3: c; (1 &&& 3): d; 1..2: e; (bit<8>) 4: f; {5}: g; } }",
        ],
    );
    refused(
        select,
        &[
            ("(1, 2: accept;", "E0112"),
            ("(1, 2) accept;", "E0110"),
            ("(1 &&& 2 &&& 3, 1): accept;", "E0148"),
            ("(1 .. 2 .. 3, 1): accept;", "E0148"),
            ("(1,): accept;", "E0110"),
            (": accept;", "E0110"),
            ("case 1: accept;", "E0136"),
        ],
    );
}

#[test]
fn controls() {
    accepted(
        decl,
        &[
            "control c(inout h_t h);",
            "control c<H, M>(inout H h, inout M m);",
            "control c(inout h_t h)(bit<8> n, sub s) { apply { } }",
            "control c() { apply @atomic { } }",
            "control d(packet_out b, in h_t h) { apply { b.emit(h); b.emit(h.x); } }",
        ],
    );
    accepted(
        local,
        &[
            "",
            "bit<8> x; bit<8> y = 1; const bit<8> z = 2; tuple<bit<8>, bool> t;",
            "sub() s; .sub() g; counter(16, CounterType.packets) n; reg<bit<32>, bit<8>>(64) r;",
            "action a() { } action b(in bit<8> x) { h.a = x; }",
            "table t { actions = { a; } }",
            "balancer() b = { bit<4> on_new_flow(in bit<32> a) { return a[3:0]; } counter(4) inner; };",
            "@hidden @name(\".x\") action a() { }",
            "sub(n = 1) s; h_t[2] hs;",
        ],
    );
    refused(
        local,
        &[
            ("x = 1;", "E0134"),
            ("t.apply();", "E0134"),
            ("if (h.a == 1) { }", "E0134"),
            ("state s { }", "E0119"),
            ("value_set<bit<8>>(4) vs;", "E0119"),
            ("sub() s", "E0111"),
            ("uint8_t x;", "E0131"),
            ("bit<8> x = ;", "E0110"),
            ("apply { }", "E0125"),
        ],
    );
    refused(
        decl,
        &[
            ("control c() { }", "E0133"),
            ("control c() { apply { } action a() { } }", "E0125"),
            ("control c() { apply { }", "E0112"),
            ("control c { apply { } }", "E0132"),
            ("control c() { @hidden }", "E0123"),
        ],
    );
}

#[test]
fn tables() {
    accepted(
        table,
        &[
            "",
            "key = { h.a : exact; h.b : lpm @name(\"b\"); h.c & 0xff : ternary; h.d[7:4] : range; h.isValid() : exact; }",
            "key = { }",
            "actions = { a; b(h.x); .NoAction; @defaultonly c; @tableonly @name(\"x\") d; }",
            "default_action = a;",
            "const default_action = a(1, 2);",
            "default_action = .NoAction();",
            "size = 1024; implementation = action_profile(32); counters = direct_counter(CounterType.packets); meters = m;",
            "const entries = { 1 : a(); (1, 2) : b(3); (1 &&& 2, 3..4, _) : c; default : d(); }",
            "entries = { const 1 : a(); priority=10: 2 : b() @name(\"e\"); const priority = (1 + 2): 3 &&& 4 : c(x = 1); }",
            "largest_priority_wins = false; priority_delta = 10;",
            "@name(\"k\") key = { h.a : exact; }",
            "priority = 5; support_timeout = true; psa_idle_timeout = T.NOTIFY;",
            "actions = { a; };",
        ],
    );
    refused(
        table,
        &[
            ("key { h.a : exact; }", "E0147"),
            ("key: { h.a : exact; }", "E0147"),
            ("key = { h.a; }", "E0152"),
            ("key = { h.a : exact }", "E0111"),
            ("key = { h.a : ; }", "E0110"),
            ("key = h.a;", "E0110"),
            ("actions = { a b; }", "E0111"),
            ("actions = { a, b }", "E0111"),
            ("actions = { a(; }", "E0110"),
            ("entries = { 1 a(); }", "E0110"),
            ("entries = { 1 : a() }", "E0111"),
            ("entries = { priority=1 2 : a(); }", "E0110"),
            ("entries = 5;", "E0110"),
            ("size = 10", "E0111"),
            ("size;", "E0110"),
            ("reads { h.a : exact; }", "E0132"),
            ("h.a : exact;", "E0110"),
        ],
    );
    refused(
        decl,
        &[
            ("table t { actions = { } }", "E0119"),
            ("table t { actions { a; } }", "E0132"),
        ],
    );
}

#[test]
fn statements() {
    accepted(
        stmt,
        &[
            ";",
            "{ } { ; }",
            "x[3 +: 8] = y[z+:4]; x[a + b +: W * 2] += 1;",
            "x = 1; x.y = 2; x[3] = 4; x[7:0] = 5; .x = 6; x.y[1].z[3:2] = 7;",
            "x += 1; x -= 1; x *= 2; x /= 2; x %= 2; x <<= 1; x >>= 1; x &= 1; x |= 1; x ^= 1; x |+|= 1; x |-|= 1;",
            "f(); f(1, x = 2); f(_); f<bit<8>>(x); x.f(); x.f<T, U>(y); .f(); t.apply(); x.y.z();",
            "sub.apply(h); sub<bit<8>>.apply(h); this.f(x);",
            "bit<8> x; bit<8> y = 1; const bit<8> z = 2; T t; T<bit<8>> u; h_t[3] s; .T v; sub() i; sub<T>(1) j;",
            "if (a) b(); if (a) { } else { } if (a) { } else if (b) { } else c();",
            "return; exit;",
            "@atomic { x = 1; } @likely x = 1; @unroll for (bit<8> i in 1..4) { }",
            "(h.a) = 1;",
            "key = 1; apply = 2; state.x = 3; type = 4; entries(); bit<8> priority = 1; actions[1] = 2;",
            "list = 1;",
            "bit<8> x[3]; bit<W - 1> y[3][4] = z;",
        ],
    );
    refused(
        stmt,
        &[
            ("x = 1", "E0111"),
            ("x = ;", "E0110"),
            ("x;", "E0120"),
            ("x + 1;", "E0120"),
            ("1 = x + 1 = 2;", "E0111"),
            ("x + 1 = 2;", "E0119"),
            ("x++;", "E0138"),
            ("--x;", "E0138"),
            ("if a { }", "E0110"),
            ("if (a = 1) { }", "E0130"),
            ("if (a { }", "E0112"),
            ("else { }", "E0142"),
            ("while (true) { }", "E0137"),
            ("return 1", "E0111"),
            ("exit 1;", "E0111"),
            ("int x, y;", "E0146"),
            ("x[1 +: ] = y;", "E0110"),
            ("x[1 + : 2 = y;", "E0112"),
            ("action a() { }", "E0119"),
            ("table t { }", "E0119"),
            ("transition accept;", "E0119"),
            ("x->y = 1;", "E0141"),
            ("x = bit<8>(y);", "E0139"),
            ("f(1, );", "E0110"),
            ("f(1;", "E0112"),
            ("{ x = 1;", "E0112"),
            ("x = y) ;", "E0111"),
        ],
    );
}

#[test]
fn switches() {
    accepted(
        stmt,
        &[
            "switch (t.apply().action_run) { a: { } b: c: { } default: { } }",
            "switch (h.x) { 1: { x = 1; } 2: 8w3: { } E.A: { } -1: { } (1 + 2): { } default: }",
            "switch (x) { }",
            "switch (x) { 1: @name(\"b\") { } }",
            "switch (x) { a: { switch (y) { b: { } } } }",
        ],
    );
    refused(
        stmt,
        &[
            ("switch (x) { 1 { } }", "E0135"),
            ("switch (x) { 1: x = 1; }", "E0110"),
            ("switch (x) { case 1: { } }", "E0136"),
            ("switch x { }", "E0110"),
            ("switch (x) { : { } }", "E0110"),
            ("switch (x) { { } }", "E0110"),
        ],
    );
}

#[test]
fn loops() {
    accepted(
        stmt,
        &[
            "for (bit<8> i = 0; i < 10; i = i + 1) { break; }",
            "for (bit<8> i = 0, bit<8> j = 1; i < j; i += 1, f(j)) continue;",
            "for (; true; ) { }",
            "for (i = 0; i < 3; i += 1) x = x + i;",
            "for (bit<8> i in 1..10) { }",
            "for (bit<8> x in {1, 2, 3}) { }",
            "for (T<bit<8>> x in l) { }",
            "for (h_t x in h.stack) { for (;false;) { } }",
            "for (bit<8> i in a + 1 .. b * 2) { }",
            "for (@name(\"k\") bit<8> i in 1 .. 3) { }",
            "for (@a @b(1) T<bit<8>> x in l) { }",
            "for (@a bit<8> i = 0, @b bit<8> j = 1; i < j; @c i += 1) { }",
        ],
    );
    refused(
        stmt,
        &[
            ("for (bit<8> i = 0; i < 10) { }", "E0110"),
            ("for (i in s) { }", "E0170"),
            ("for (i = 0; i = 10; i += 1) { }", "E0130"),
            ("for (;;) { }", "E0110"),
            ("for (@a ; true; ) { }", "E0123"),
            ("for (bit<8> i : s) { }", "E0110"),
            ("for (bit<8> i in ) { }", "E0110"),
            ("for bit<8> i in s { }", "E0110"),
            ("for (i = 0; i < 3; i++) { }", "E0138"),
            ("break", "E0111"),
            ("continue 1;", "E0111"),
        ],
    );
}

#[test]
fn expressions() {
    accepted(
        expr,
        &[
            "-a + ~b * +c / d % e - !f",
            "a |+| b |-| c ++ d",
            "a << 1 >> 2",
            "a < b && c >= d || e == f && g != h",
            "a & b | c ^ d",
            "a ? b : c ? d : e",
            "(a ? b : c) + d",
            "a[3:0] ++ b[7] ++ c[W-1:0]",
            "(bit<8>) a",
            "(int) a",
            "(bit<(W)>) (bool) -a",
            "(T) a",
            "(T) {1, 2}",
            "(T<bit<8>>) x",
            "(.T) x",
            "(tuple<bit<8>>) {1}",
            "(h_t[2]) {#}",
            "(a) + b",
            "(a) - b",
            "(a)",
            "(a.b)(1)",
            "a < b",
            "a < (b)",
            "f(a < b, c > d)",
            "f<bit<8>>(a)",
            "a.f<tuple<bit<8>, bit<8>>>(b)",
            "E<bit<8>>.A",
            "x.lookahead<bit<16>>()[3:0]",
            "error.NoError",
            "E.A.B",
            "this.x",
            "this",
            "{a, b}",
            "{a, b,}",
            "{}",
            "{a = 1, ...}",
            "{a, ...}",
            "...",
            "{...}",
            "{#}",
            "{a = {#}, b = {c = 1}}",
            "(S) {a = 1}",
            "f(a = 1, b = _)",
            "f(_, 1)",
            "f({1, 2})",
            "f({a = 1})",
            "a.apply().hit",
            "h.minSizeInBytes()",
            "C(1).apply(x)",
            "\"text\" ++ \"more\"",
            "true",
            "false",
            ".a.b[1]",
            "a.key + a.type",
            "x.actions.list",
            "key + list",
            "((((1))))",
        ],
    );
    refused(
        expr,
        &[
            ("a +", "E0110"),
            ("(a", "E0112"),
            ("a ? b", "E0110"),
            ("a[1", "E0112"),
            ("a[1:2:3]", "E0112"),
            ("a.", "E0110"),
            ("a.1", "E0110"),
            ("{a = 1, 2}", "E0122"),
            ("{..., a}", "E0110"),
            ("error", "E0110"),
            ("bit<8>", "E0110"),
            ("(bit<8>)", "E0110"),
            ("a &&& b", "E0148"),
            ("a .. b", "E0148"),
            ("a = b", "E0111"),
            ("a b", "E0111"),
            ("table", "E0110"),
            ("1.5", "E0153"),
            ("f(a = )", "E0110"),
            ("_", "E0110"),
        ],
    );
}

#[test]
fn packages_and_instances() {
    accepted(
        decl,
        &[
            "package p();",
            "package sw<H, M>(prs<H> p, ctl<H, M> c = null, @optional bit<8> x);",
            "sw(prs(), ctl()) main;",
            "sw<h_t, m_t>(prs(), ctl(), x = 1) main;",
            "@name(\"x\") sw() main;",
            "counter(4) c; ext() e = { void f() { } };",
            ".sw() main;",
        ],
    );
    refused(
        decl,
        &[
            ("package p;", "E0110"),
            ("package p() { }", "E0111"),
            ("sw(prs() main;", "E0112"),
            ("sw() ;", "E0110"),
            ("main;", "E0110"),
            ("sw() main = 1;", "E0110"),
            ("bit<8> x = 1;", "E0144"),
        ],
    );
}

#[test]
fn annotations() {
    accepted(
        decl,
        &[
            "@a struct s { }",
            "@a() @b(1, x + \"y\" { } ; [ ]) struct s { }",
            "@a((nested) (parentheses)) struct s { }",
            "@a[] @b[1, 2 + 3, \"x\"] @c[k = 1, l = \"m\",] struct s { }",
            "@table @header @if struct s { }",
            "@pragma whatever 1 ) ( stands here\nstruct s { }",
            "@pragma text \"over\nlines\" and more\nstruct s { }",
            "@a({ [ ( ) ] }) struct s { }",
            "@a(b ] c {) struct s { }",
            "@a(it's $5 # 1 ## \\ ü ` ' \u{201c}) struct s { }",
            "@a('(' , ')') struct s { }",
            "@a(\"one\n line\" \"two\" word) @b(\"x\n\" ++ \"y\") struct s { }",
            "@pragma\nstruct s { }",
            "struct s { @a @b[1] bit<8> x; }",
            "action a(@b in bit<8> x) { @c { } }",
        ],
    );
    refused(
        decl,
        &[
            ("@ struct s { }", "E0110"),
            ("@a(( struct s { }", "E0112"),
            ("@a([ ) ]) struct s { }", "E0110"),
            ("@a[$] struct s { }", "E0101"),
            ("@a $ struct s { }", "E0101"),
            ("@field_list($) struct s { }", "E0110"),
            ("@a[1 struct s { }", "E0112"),
            ("@a[k = 1, 2] struct s { }", "E0110"),
            ("@a", "E0123"),
            ("@a ;", "E0123"),
        ],
    );
}

#[test]
fn a_library_and_an_empty_text_are_programs() {
    accepted(
        decl,
        &[
            "",
            ";;",
            "// nothing\n",
            "\u{feff}struct s { }",
            "struct s { }\r\nstruct t { }\r\n",
        ],
    );
}
