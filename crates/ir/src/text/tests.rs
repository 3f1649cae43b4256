use crate::*;
use diag::Span;

/// A program with every construct of the text form.
pub(crate) const EVERYTHING: &str = r#"program test reject stop copies
errors NoError, PacketTooShort, `odd one`
labels 3
enum Color { red, green }
header_type eth {
    dst: bit<48>;
    src: bit<48>;
    kind: bit<16>;
}
header_type vlan {
    pcp: bit<3>;
    dei: bool;
    vid: bit<12>;
    kind: bit<16>;
}
header_type opt {
    len: bit<8>;
    data: varbit<320>;
}
var meta.port: bit<9>
var tmp#v1: bit<32>
var tmp#v2: int<32>
var flag: bool
var meta.color: Color
var err: error
var hdr.vlan.next: bit<32>
var `two words`: bit<0>
var true#v8: bool
var wide: bit<300>
var mode: bit<16>
header hdr.eth: eth
header hdr.vlan[0]: vlan
header hdr.vlan[1]: vlan
header hdr.opt: opt
stack hdr.vlan next hdr.vlan.next { hdr.vlan[0], hdr.vlan[1] }
value_set P.set size 4 @id("7") {
    kind: bit<16> exact;
    other: bit<8> range type other_t @match("range");
}
extern C.count: CounterArray @name("a \"b\"") @hidden() {
    type (bit<8>, Color);
    type (bit<32> src type ip_t @format("IPV4_ADDRESS"), bit<16> type port_t);
    arg size = -10;
    arg sparse = true;
    arg text = "x\ny";
    arg color = Color::green;
    arg other = extern C.count;
    arg none = _;
    implement apply = helper;
}
action C.forward(meta.port type `odd t` @id("2"), flag) {
    hdr.eth.dst = 48w0x112233445566;
}
action C.drop() @defaultonly() {}
table C.t @name("t") {
    key "hdr.eth.dst" exact hdr.eth.dst @name("dst");
    key "wide" ternary wide[8:0] type wide_t @id("9");
    action C.forward;
    action C.drop default_only table_only;
    action C.forward;
    default const C.drop();
    entry const 3 (48w1, _) -> C.forward(9w5, 1w1);
    entry 2 (48w0/8, 9w1 &&& 9w1) -> 2(9w6, 1w0);
    entry 1 (_, 9w1 .. 9w0x1ff) -> C.drop();
    const_entries;
    size 100;
    property implementation = extern C.count;
}
routine helper function(in tmp#v1, out flag, inout meta.port, header_in hdr.opt, header_out hdr.opt, header_inout hdr.eth) {
    return;
}
routine C block() {
    tmp#v1 = tmp#v1 + 32w1;
    tmp#v2 = 32s0xffffffff;
    tmp#v2 = -(tmp#v2 |+| (tmp#v2 >> 8w3));
    flag = (flag & !true#v8) | valid(hdr.eth);
    flag = meta.color == Color::red;
    err = error::`odd one`;
    err = error::77;
    meta.color = flag ? meta.color : Color::green;
    meta.port = (flag ? meta.port : 9w3)[8:4] ++ (~meta.port)[3:0];
    wide = cast(tmp#v2, bit<300>);
    tmp#v2 = cast(((meta.port ++ 291w0): int<300>), int<32>);
    hdr.vlan[hdr.vlan.next + 32w1].vid = hdr.vlan[32w0].vid;
    copy hdr.vlan[0] = hdr.vlan[tmp#v1];
    set_valid hdr.eth;
    set_invalid hdr.vlan[32w1];
    push_front hdr.vlan by 1;
    pop_front hdr.vlan, hdr.vlan by 2;
    if flag {
        exit;
    }
    else {
        entry e0;
        return;
    }
    switch meta.port {
        case 9w1, 9w2 {
            extern log_msg("text", in(tmp#v1, flag), out(meta.port), inout(), header_in hdr.eth, header_out hdr.eth, member Color::red, _);
        }
        case 9w3 {}
        default {
            pure extern `a sum`(in(tmp#v1)) -> meta.port;
            extern C.count::read(in(tmp#v1)) -> meta.port, hdr.eth.src;
        }
    }
    atomic {
        tmp#v1 = 8w0;
        atomic {}
    }
    loop label0 {
        block label2 {
            break label2;
        }
        continue label0;
    }
    apply C.t hit flag action tmp#v1;
    apply C.t;
    is_current C.t 18446744073709551615 -> flag;
    call helper(in tmp#v1, out _, inout hdr.eth.src, header hdr.opt, header _, header hdr.vlan[tmp#v1]);
}
routine D block() {
    emit hdr.eth;
    emit hdr.vlan[32w0];
}
parser P start start {
    state start {
        extract hdr.eth;
        extract hdr.vlan[hdr.vlan.next];
        extract hdr.opt, tmp#v1;
        lookahead meta.port;
        skip_ahead 16 -> flag {
            16w1: 4;
            16w0x800: 300;
        }
        skip_ahead 4 behind 12 -> flag {
            4w0: 2;
        }
        search 16w0x4f4b;
        search 12w0x410 &&& 12w0xff0 behind 4 within tmp#v1 -> tmp#v1;
        automaton mode within tmp#v1 -> mode, tmp#v1 {
            0: 0..9 -> 1 97..97 -> 0;
            1:;
        }
        automaton mode -> mode {
            0: 0..255 -> 0;
        }
        advance 32w8;
        packet_length tmp#v1;
        verify flag, error::PacketTooShort;
        select (hdr.eth.kind, meta.port) {
            (16w0x800, _) -> rest;
            (16w0x8100 &&& 16w0xff00, 9w1 .. 9w4) -> start;
            (P.set, 9w1) -> reject;
            (P.set, 9w2) -> accept at e0;
            (_, _) -> accept;
        }
    }
    state rest {
        goto accept#state2;
    }
    state accept#state2 {
        goto accept;
    }
}
pipeline parser parser P
pipeline switch control C
pipeline deparser deparser D
slot headers {
    header "eth" = hdr.eth;
    header "vlan[0]" = hdr.vlan[0];
}
intrinsic slot xin {
    var "port" = meta.port;
    var "" = flag;
}
digest learn_t {
    field "src": bit<48> type mac_t @format("MAC_ADDRESS");
    field "inner.port": bit<9>;
}
field_list 1 { meta.color, wide }
field_list 7 {  }
"#;

#[test]
fn everything_round_trips() {
    let program = text::parse(EVERYTHING).unwrap();
    pretty(&program.to_string(), EVERYTHING);
    let again = text::parse(&program.to_string()).unwrap();
    assert_eq!(again, program);
}

fn pretty(got: &str, want: &str) {
    for (i, (g, w)) in got.lines().zip(want.lines()).enumerate() {
        assert_eq!(g, w, "line {}", i + 1);
    }
    assert_eq!(got.len(), want.len());
}

#[test]
fn names_that_could_be_mistaken_carry_their_number() {
    let mut program = Program::default();
    let layout = program.header_types.push(HeaderTypeData {
        name: "t".into(),
        fields: vec![FieldData {
            name: "f".into(),
            ty: Type::bit(8),
        }],
    });
    for _ in 0..2 {
        program.headers.push(HeaderData {
            name: "h".into(),
            ty: layout,
            span: Span::NONE,
        });
    }
    for name in ["h.f", "v", "a`b\\c\nd", "", "x[", "7", "valid", "x[3]", "ä"] {
        program.vars.push(VarData {
            name: name.into(),
            ty: Type::bit(8),
            span: Span::NONE,
        });
    }
    let next = program.vars.keys().next().unwrap();
    program.stacks.push(StackData {
        name: "v".into(),
        elems: program.headers.keys().collect(),
        next,
        rolled: true,
    });
    let text = program.to_string();
    let again = text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again, program);
}

#[test]
fn errors_say_where() {
    let error = |text: &str| text::parse(text).unwrap_err().to_string();
    assert_eq!(
        error("var x: bit<8>\nvar x: bool"),
        "2:5: `x` is declared already"
    );
    assert_eq!(
        error("program p reject stop\n  var x: bit<8>"),
        "2:3: expected an item at the beginning of a line"
    );
    assert_eq!(error("program p\n"), "2:1: expected `reject`");
    assert_eq!(
        error("program p reject ignore"),
        "1:18: expected `stop` or `continue`, not `ignore`"
    );
    assert_eq!(
        error("pipeline p table t"),
        "1:12: `table` is no kind of block; expected `parser`, `control` or `deparser`"
    );
    assert_eq!(
        error("routine r block() {\n  x = 8w1;\n}"),
        "2:3: no variable, header or stack is called `x`"
    );
    assert_eq!(
        error("var x: bit<8>\nroutine r block() {\n  x = 8w256;\n}"),
        "3:7: expected a constant with its width, like `8w0xff`"
    );
    assert_eq!(
        error("var x: bit<8>\nroutine r block() {\n  x = ;\n}"),
        "3:7: expected an expression"
    );
    assert_eq!(
        error("routine r block() {\n  entry label0;\n}"),
        "2:9: expected an entry"
    );
    assert_eq!(
        error("errors a\nvar `x"),
        "2:5: name without a closing backquote"
    );
    let deep = format!(
        "var x: bit<8>\nroutine r block() {{\n x = {}x;\n}}",
        "~".repeat(100_000)
    );
    assert!(error(&deep).ends_with("nested too deeply"));
}

/// Truncated texts, and texts without one of their characters, give errors or programs, never panics.
#[test]
fn damaged_text_is_refused_without_panicking() {
    for i in (0..EVERYTHING.len()).step_by(3) {
        let _ = text::parse(&EVERYTHING[..i]);
        let mut damaged = EVERYTHING.to_owned();
        damaged.remove(i);
        let _ = text::parse(&damaged);
    }
}
