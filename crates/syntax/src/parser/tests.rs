//! Tests of the shape of trees, and of the limits. The accepted texts are tested in `tests/it/constructs.rs`.

use crate::ast::{
    AnnotationBody, DeclKind, Expr, ExprKind, PropertyValue, Stmt, StmtKind, Transition, Type,
    TypeKind,
};
use crate::loader::MemoryLoader;
use crate::{Parsed, parse};

fn parsed(text: &str) -> Parsed {
    let mut map = diag::SourceMap::new();
    parse(
        &mut map,
        &MemoryLoader::new().with("main.p4", text),
        "main.p4",
        &[],
    )
}

#[track_caller]
fn decls(text: &str) -> Vec<DeclKind> {
    let parsed = parsed(text);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    parsed.program.decls.into_iter().map(|d| d.kind).collect()
}

#[track_caller]
fn stmts(text: &str) -> Vec<Stmt> {
    match decls(&format!("action a() {{ {text} }}")).pop() {
        Some(DeclKind::Action { body, .. }) => body.stmts,
        other => panic!("{other:?}"),
    }
}

/// Formats an expression with all its parentheses.
#[track_caller]
fn shape(text: &str) -> String {
    match stmts(&format!("x = {text};")).pop().map(|s| s.kind) {
        Some(StmtKind::Assign { value, .. }) => show(&value),
        other => panic!("{other:?}"),
    }
}

fn shows(list: &[Expr]) -> String {
    list.iter().map(show).collect::<Vec<_>>().join(" ")
}

fn show(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Int { value, width: None } => value.to_string(),
        ExprKind::Int {
            value,
            width: Some(w),
        } => format!("{}{}{value}", w.bits, if w.signed { 's' } else { 'w' }),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::String(s) => format!("{s:?}"),
        ExprKind::Name { global, name } => {
            format!("{}{}", if *global { "." } else { "" }, name.name)
        }
        ExprKind::This => "this".into(),
        ExprKind::Type(ty) => format!("type:{}", show_type(ty)),
        ExprKind::Member(base, name) => format!("{}.{}", show(base), name.name),
        ExprKind::Index(base, index) => format!("{}[{}]", show(base), show(index)),
        ExprKind::Slice { base, hi, lo } => format!("{}[{}:{}]", show(base), show(hi), show(lo)),
        ExprKind::List(items) => format!("{{{}}}", shows(items)),
        ExprKind::Struct { fields, rest } => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(n, e)| format!("{}={}", n.name, show(e)))
                .collect();
            format!(
                "{{{}{}}}",
                fields.join(" "),
                if *rest { " ..." } else { "" }
            )
        }
        ExprKind::Invalid => "{#}".into(),
        ExprKind::Default => "...".into(),
        ExprKind::DontCare => "_".into(),
        ExprKind::Unary(op, e) => format!("({op:?} {})", show(e)),
        ExprKind::Chain(first, links) => links.iter().fold(show(first), |left, link| {
            format!("({:?} {left} {})", link.op, show(&link.right))
        }),
        ExprKind::Ternary(c, a, b) => format!("(? {} {} {})", show(c), show(a), show(b)),
        ExprKind::Cast(ty, e) => format!("(cast {} {})", show_type(ty), show(e)),
        ExprKind::Call {
            callee,
            type_args,
            args,
        } => {
            let types: Vec<_> = type_args.iter().map(show_type).collect();
            let types = if types.is_empty() {
                String::new()
            } else {
                format!("<{}>", types.join(" "))
            };
            let name = |a: &crate::ast::Arg| {
                a.name
                    .as_ref()
                    .map_or(String::new(), |n| format!("{}=", n.name))
            };
            let args: Vec<_> = args
                .iter()
                .map(|a| format!("{}{}", name(a), show(&a.value)))
                .collect();
            format!("{}{types}({})", show(callee), args.join(" "))
        }
        ExprKind::Mask(a, b) => format!("(&&& {} {})", show(a), show(b)),
        ExprKind::Range(a, b) => format!("(.. {} {})", show(a), show(b)),
        ExprKind::PartSelect { base, lo, width } => {
            format!("(part {} {} {})", show(base), show(lo), show(width))
        }
        ExprKind::Tuple(items) => format!("(tuple {})", shows(items)),
    }
}

fn show_type(ty: &Type) -> String {
    let list = |types: &[Type]| types.iter().map(show_type).collect::<Vec<_>>().join(" ");
    match &ty.kind {
        TypeKind::Bit(Some(w)) => format!("bit<{}>", show(w)),
        TypeKind::SignedInt(w) => format!("int<{}>", show(w)),
        TypeKind::Varbit(w) => format!("varbit<{}>", show(w)),
        TypeKind::Name { name, .. } => name.name.to_string(),
        TypeKind::Specialized { base, args } => format!("{}<{}>", show_type(base), list(args)),
        TypeKind::Stack { elem, size } => format!("{}[{}]", show_type(elem), show(size)),
        TypeKind::Tuple(args) => format!("tuple<{}>", list(args)),
        TypeKind::List(arg) => format!("list<{}>", show_type(arg)),
        other => format!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_the_specification_says() {
    assert_eq!(shape("a + b * c - d"), "(Sub (Add a (Mul b c)) d)");
    assert_eq!(shape("a & b == c"), "(Eq (BitAnd a b) c)");
    assert_eq!(
        shape("a | b ^ c & d << e"),
        "(BitOr a (BitXor b (BitAnd c (Shl d e))))"
    );
    assert_eq!(shape("a < b == c > d"), "(Eq (Lt a b) (Gt c d))");
    assert_eq!(shape("a || b && c"), "(Or a (And b c))");
    assert_eq!(shape("a ++ b |+| c"), "(SatAdd (Concat a b) c)");
    assert_eq!(shape("a << b ++ c"), "(Shl a (Concat b c))");
    assert_eq!(shape("-a.b[1] + !c"), "(Add (Neg a.b[1]) (Not c))");
    assert_eq!(shape("a ? b : c ? d : e"), "(? a b (? c d e))");
    assert_eq!(shape("(a + b) * c"), "(Mul (Add a b) c)");
    assert_eq!(shape("a - b - c"), "(Sub (Sub a b) c)");
}

#[test]
fn casts_and_parentheses_are_distinguished() {
    assert_eq!(shape("(bit<8>) a + b"), "(Add (cast bit<8> a) b)");
    assert_eq!(shape("(bit<8>) -a"), "(cast bit<8> (Neg a))");
    assert_eq!(shape("(T) a.b"), "(cast T a.b)");
    assert_eq!(shape("(a) - b"), "(Sub a b)");
    assert_eq!(shape("(a) & b"), "(BitAnd a b)");
    let typed = decls(
        "typedef bit<8> T; action a(in bit<8> v) { v = (T) - v; v = (v) - v; v = (v)[3:0]; }",
    );
    let Some(DeclKind::Action { body, .. }) = typed.into_iter().next_back() else {
        panic!()
    };
    let values: Vec<_> = body
        .stmts
        .iter()
        .map(|s| match &s.kind {
            StmtKind::Assign { value, .. } => show(value),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(values, ["(cast T (Neg v))", "(Sub v v)", "v[3:0]"]);
}

#[test]
fn less_than_and_type_arguments_are_distinguished() {
    assert_eq!(shape("f<bit<8>>(a)"), "f<bit<8>>(a)");
    assert_eq!(shape("a < b"), "(Lt a b)");
    assert_eq!(shape("f(a < b, c > d)"), "f((Lt a b) (Gt c d))");
    assert_eq!(
        shape("b.lookahead<tuple<bit<8>, T<bit<4>>>>()[3:0]"),
        "b.lookahead<tuple<bit<8> T<bit<4>>>>()[3:0]"
    );
    assert_eq!(shape("a >> b >= c"), "(Ge (Shr a b) c)");
    let known = decls("action a(in bit<8> v, in bit<8> w) { f(v < w, w > (v)); }");
    let DeclKind::Action { body, .. } = &known[0] else {
        panic!()
    };
    assert!(matches!(&body.stmts[0].kind, StmtKind::Call(e) if show(e) == "f((Lt v w) (Gt w v))"));
}

#[test]
fn values_in_braces() {
    assert_eq!(shape("{}"), "{}");
    assert_eq!(shape("{a, {b},}"), "{a {b}}");
    assert_eq!(shape("{a, ...}"), "{a ...}");
    assert_eq!(shape("{x = 1, y = {z = 2}}"), "{x=1 y={z=2}}");
    assert_eq!(shape("{x = 1, ...}"), "{x=1 ...}");
    assert_eq!(shape("{#}"), "{#}");
    assert_eq!(shape("f(_, n = {1})"), "f(_ n={1})");
}

#[test]
fn literals_keep_their_width() {
    assert_eq!(shape("8w0xff + 4s0b11 + 17"), "(Add (Add 8w255 4s3) 17)");
    assert_eq!(
        shape("\"a\\n\\\"\" ++ \"b\""),
        "(Concat \"a\\n\\\"\" \"b\")"
    );
}

#[test]
fn types_nest() {
    let decls =
        decls("struct s { T<bit<8>>[2][3] a; varbit<(W + 1)> b; list<tuple<bool, int<4>>> c; }");
    let DeclKind::Composite { fields, .. } = &decls[0] else {
        panic!()
    };
    let types: Vec<_> = fields.iter().map(|f| show_type(&f.ty)).collect();
    assert_eq!(
        types,
        [
            "T<bit<8>>[2][3]",
            "varbit<(Add W 1)>",
            "list<tuple<Bool int<4>>>"
        ]
    );
}

#[test]
fn keysets_have_an_element_for_each_key() {
    let text = "parser p(packet_in b) { state s { transition select(x, y) {
        (1, 2 &&& 3): a; default: b; (4 .. 5, _): c; (1 + 2) * 3: d; ((6), (7 &&& 8)): e; } } }";
    let decls = decls(text);
    let DeclKind::Parser {
        body: Some(body), ..
    } = &decls[0]
    else {
        panic!()
    };
    let Some(Transition::Select { keys, cases, .. }) = &body.states[0].transition else {
        panic!()
    };
    assert_eq!(shows(keys), "x y");
    let sets: Vec<_> = cases
        .iter()
        .map(|c| (shows(&c.keyset), c.target.name.as_str()))
        .collect();
    assert_eq!(
        sets,
        [
            ("1 (&&& 2 3)".to_string(), "a"),
            ("...".to_string(), "b"),
            ("(.. 4 5) _".to_string(), "c"),
            ("(Mul (Add 1 2) 3)".to_string(), "d"),
            ("6 (&&& 7 8)".to_string(), "e"),
        ]
    );
}

#[test]
fn tables_keep_their_properties() {
    let text = "control c() { table t { key = { h.a + 1 : lpm @name(\"k\"); } actions = { @x a(1); .b; }
        const entries = { const priority = 5: (1, _) : a(2) @y; } const default_action = b(); size = 4; } apply { } }";
    let decls = decls(text);
    let DeclKind::Control {
        body: Some(body), ..
    } = &decls[0]
    else {
        panic!()
    };
    let DeclKind::Table { properties, .. } = &body.locals[0].kind else {
        panic!()
    };
    let names: Vec<_> = properties
        .iter()
        .map(|p| (p.name.name.as_str(), p.is_const))
        .collect();
    assert_eq!(
        names,
        [
            ("key", false),
            ("actions", false),
            ("entries", true),
            ("default_action", true),
            ("size", false)
        ]
    );
    let PropertyValue::Key(key) = &properties[0].value else {
        panic!()
    };
    assert_eq!(
        (show(&key[0].expr).as_str(), key[0].match_kind.name.as_str()),
        ("(Add h.a 1)", "lpm")
    );
    assert_eq!(key[0].annotations.len(), 1);
    let PropertyValue::Actions(actions) = &properties[1].value else {
        panic!()
    };
    assert_eq!((actions[0].args.len(), actions[1].global), (1, true));
    let PropertyValue::Entries(entries) = &properties[2].value else {
        panic!()
    };
    let entry = &entries[0];
    assert!(entry.is_const && entry.priority.is_some() && entry.annotations.len() == 1);
    assert_eq!(
        (
            shows(&entry.keyset).as_str(),
            entry.action.name.name.as_str()
        ),
        ("1 _", "a")
    );
}

#[test]
fn statements_that_look_alike_are_distinguished() {
    let kinds: Vec<_> = stmts(
        "T x; T(1) y; T(1); x = 1; x += 2; a.b<c>(d); T<bit<8>> z; T[2] w; x[2] = 3; T<U>(1) v;",
    )
    .into_iter()
    .map(|s| match s.kind {
        StmtKind::Decl(decl) => match decl.kind {
            DeclKind::Var { .. } => "var",
            DeclKind::Instance { .. } => "instance",
            _ => "decl",
        },
        StmtKind::Assign { op: None, .. } => "assign",
        StmtKind::Assign { .. } => "update",
        StmtKind::Call(_) => "call",
        _ => "other",
    })
    .collect();
    assert_eq!(
        kinds,
        [
            "var", "instance", "call", "assign", "update", "call", "var", "var", "assign",
            "instance"
        ]
    );
}

#[test]
fn loops_keep_their_parts() {
    let stmts = stmts(
        "for (bit<8> i = 0, j = 1; i < 3; i += 1, f()) ; for (S x in a + 1 .. b) ; for (T y in l) ;",
    );
    assert!(
        matches!(&stmts[0].kind, StmtKind::For { init, update, .. } if init.len() == 2 && update.len() == 2)
    );
    assert!(
        matches!(&stmts[1].kind, StmtKind::ForIn { collection, .. } if show(collection) == "(.. (Add a 1) b)")
    );
    assert!(matches!(&stmts[2].kind, StmtKind::ForIn { .. }));
}

#[test]
fn annotations_keep_their_bodies() {
    let parsed = parsed("@a @b(x, \"y\"(z)) @c[1 + 2] @d[k = v] @pragma e f\nstruct s { }");
    assert!(parsed.diagnostics.is_empty());
    let list = &parsed.program.decls[0].annotations;
    assert!(matches!(list[0].body, AnnotationBody::None));
    assert!(
        matches!(&list[1].body, AnnotationBody::Unstructured(t) if t.join(" ") == "x , \"y\" ( z )")
    );
    assert!(matches!(&list[2].body, AnnotationBody::Exprs(e) if shows(e) == "(Add 1 2)"));
    assert!(matches!(&list[3].body, AnnotationBody::Pairs(p) if p[0].0.name == "k"));
    assert!(matches!(&list[4].body, AnnotationBody::Unstructured(t) if t.join(" ") == "e f"));
}

#[test]
fn a_type_declared_inside_a_typedef_comes_before_it() {
    let decls = decls("typedef header h { bit<8> x; } t;");
    assert!(matches!(&decls[0], DeclKind::Composite { name, .. } if name.name == "h"));
    assert!(
        matches!(&decls[1], DeclKind::Typedef { ty, name } if show_type(ty) == "h" && name.name == "t")
    );
}

#[test]
fn a_bad_member_does_not_take_its_neighbours_along() {
    let parsed = parsed("struct s { bit<8> a; bit<> b; bit<8> c; } const = 1; struct t { }");
    let DeclKind::Composite { fields, .. } = &parsed.program.decls[0].kind else {
        panic!()
    };
    assert_eq!(
        fields
            .iter()
            .map(|f| f.name.name.as_str())
            .collect::<Vec<_>>(),
        ["a", "c"]
    );
    assert_eq!(parsed.program.decls.len(), 2);
    assert_eq!(parsed.diagnostics.len(), 2);
}

/// Tests every kind of nesting, far over the limit. It must be an error, and neither the parser nor dropping the tree
/// may overflow the stack.
#[test]
fn depth_is_bounded_everywhere() {
    let n = 20_000;
    let wrap = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(n), close.repeat(n))
    };
    let texts = [
        format!("const int x = {};", wrap("(", "1", ")")),
        format!("const int x = {};", wrap("-", "1", "")),
        format!("const int x = {};", wrap("{", "1", "}")),
        format!("const int x = {};", wrap("(bit<8>) ", "1", "")),
        format!("const int x = {};", wrap("f(", "1", ")")),
        format!("const int x = {};", wrap("a[", "1", "]")),
        format!("const int x = {};", wrap("a ? ", "1", " : 2")),
        format!("const int x = {};", wrap("", "a", ".b")),
        format!("const int x = {};", wrap("", "a", "[1]")),
        format!("const int x = {};", wrap("", "a", "()")),
        format!("const int x = {};", wrap("a ? 1 : ", "1", "")),
        format!("struct s {{ {} x; }}", wrap("T<", "T", ">")),
        format!("struct s {{ {} x; }}", wrap("", "T", "[1]")),
        format!("struct s {{ {} x; }}", wrap("bit<(", "1", ")>")),
        format!("struct s {{ {} x; }}", wrap("tuple<", "T", ">")),
        format!("action a() {{ {} }}", wrap("{", "", "}")),
        format!("action a() {{ {} }}", wrap("if (a) ", ";", "")),
        format!("action a() {{ {} }}", wrap("if (a) ; else { ", ";", " }")),
        format!("action a() {{ {} }}", wrap("switch (x) { 1: {", "", "} }")),
        format!("action a() {{ {} }}", wrap("for (;a;) ", ";", "")),
        format!("T() x = {};", wrap("{ T() y = ", "{ }", "; }")),
        format!(
            "parser p() {{ state s {{ transition select(a) {{ {}: b; }} }} }}",
            wrap("(", "1", ")")
        ),
        format!(
            "parser p() {{ state s {{ transition select(a) {{ {}: b; }} }} }}",
            wrap("(1, ", "1", ")")
        ),
    ];
    for text in texts {
        let parsed = parsed(&text);
        let head: String = text.chars().take(60).collect();
        assert!(
            parsed.diagnostics.iter().any(|d| d.code.0 == "E0113"),
            "{head}: {:?}",
            parsed.diagnostics
        );
        drop(parsed.program.clone());
    }
    // Type arguments nested so deep are parsed as a chain of comparisons, which is an error.
    assert!(
        parsed(&format!("const int x = {};", wrap("a<", "a", ">()")))
            .diagnostics
            .has_errors()
    );
    // The depth of a chain is that of its operators and branches, whatever its length.
    for text in [
        format!("const int x = {};", wrap("", "1", " + 1")),
        format!("const bool x = {};", wrap("a < ", "a", "")),
        format!("const bool x = {};", wrap("a == 1 && ", "b", " || c")),
        format!("action a() {{ {} }}", wrap("if (a) ; else ", ";", "")),
        format!(
            "action a() {{ {} }}",
            wrap("if (a) { } else ", "if (b) { }", "")
        ),
    ] {
        let parsed = parsed(&text);
        assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
        drop(parsed.program.clone());
    }
    // Parentheses in an annotation are only counted.
    assert!(
        parsed(&format!("@a({}) struct s {{ }}", wrap("(", "1", ")")))
            .diagnostics
            .is_empty()
    );
}

#[test]
fn what_programs_nest_is_within_the_limit() {
    let sum = vec!["1"; 150].join(" + ");
    assert_eq!(decls(&format!("const int x = {sum};")).len(), 1);
    assert_eq!(
        decls(&format!(
            "const int x = {}1{};",
            "(".repeat(90),
            ")".repeat(90)
        ))
        .len(),
        1
    );
    let chain = "if (a) { } else ".repeat(80);
    assert_eq!(stmts(&format!("{chain} ;")).len(), 1);
}
