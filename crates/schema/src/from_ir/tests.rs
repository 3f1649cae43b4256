use super::*;
use crate::{Object, ObjectKind, Unit};

/// A program with everything that has a schema.
pub(crate) const EVERYTHING: &str = r#"program V1Switch reject continue
errors NoError, PacketTooShort
enum CounterType { packets, bytes, packets_and_bytes }
enum Color { red, green }
header_type ipv4 {
    ttl: bit<8>;
    src: bit<32>;
    dst: bit<32>;
}
var port: bit<9>
var mac: bit<48>
var color: Color
header hdr.ipv4: ipv4
value_set P.kinds size 2 @id("3") {
    kind: bit<16> exact type ether_t;
    range: bit<8> range;
}
extern C.count: counter @id("5") {
    arg size = 4;
    arg type = CounterType::packets_and_bytes;
}
extern C.last: register {
    type (bit<32> type ip_t @format("IPV4_ADDRESS"));
    arg size = 16;
}
extern C.rate: meter {
    arg size = 1;
    arg type = CounterType::bytes;
}
extern C.flows: flow_state {
    type (bit<32> src @format("IPV4_ADDRESS"), bit<16> port);
    type (bit<64>);
    arg size = 1024;
}
extern C.seen: direct_counter {
    arg type = CounterType::packets;
}
extern C.sum: checksum16 {}
action C.forward(port type PortId_t @p4runtime_translation("\"p4.org/PortId_t\"", ",", "32"), mac @id("7") @format("MAC_ADDRESS"), color) {}
action C.drop() @id("9") {}
table C.routes @id("0x200000a") {
    key "hdr.ipv4.dst" lpm hdr.ipv4.dst type ip_t @format("IPV4_ADDRESS");
    key "ttl" selector hdr.ipv4.ttl;
    action C.forward;
    action C.drop default_only;
    default C.drop();
    entry const 1 (32w0x0a000000/8) -> C.forward(9w1, 48w2, Color::green);
    size 2;
    property counters = extern C.seen;
}
table C.rules {
    key "src" ternary hdr.ipv4.src;
    action C.drop;
    default const C.drop();
}
digest learn_t {
    field "mac": bit<48> @format("MAC_ADDRESS");
    field "port": bit<9> type PortId_t;
}
"#;

pub(crate) fn everything() -> Schema {
    let text = EVERYTHING.replace(
        "C.forward(9w1, 48w2, Color::green)",
        "C.forward(9w1, 48w2, 32w1)",
    );
    let program = ir::text::parse(&text).unwrap_or_else(|e| panic!("{e}"));
    Schema::of(&program)
}

#[test]
fn ids_names_types_and_annotations_are_kept() {
    let schema = everything();
    let (_, routes) = schema.tables.iter().next().expect("a table");
    assert_eq!(routes.id, 0x0200_000a);
    let key = &routes.keys[0].field;
    assert_eq!(key.type_name.as_deref(), Some("ip_t"));
    assert_eq!(key.format, Some(Format::Ipv4Address));
    assert_eq!(routes.match_keys().count(), 1);
    assert!(!routes.has_priorities());
    let forward = schema.called(
        schema.tables.keys().next().expect("one"),
        &routes.entries[0].action,
    );
    let ids: Vec<u32> = forward.params.iter().map(|p| p.id).collect();
    assert_eq!(ids, [1, 7, 3]);
    let translation = forward.params[0].translation.as_ref().expect("annotated");
    assert_eq!(
        (translation.uri.as_str(), translation.width),
        ("p4.org/PortId_t", Some(32))
    );
    assert_eq!(
        schema.digests[0].fields[1].type_name.as_deref(),
        Some("PortId_t")
    );
    let prefixes: Vec<u32> = schema.objects.values().map(|o| o.id >> 24).collect();
    assert_eq!(prefixes, [0x12, 0x16, 0x14, 0x81, 0x13, 0]);
}

#[test]
fn objects_say_what_they_keep() {
    let schema = everything();
    let kinds: Vec<&ObjectKind> = schema.objects.values().map(|o| &o.kind).collect();
    assert_eq!(
        kinds[0],
        &ObjectKind::Counter {
            size: 4,
            unit: Unit::PacketsAndBytes
        }
    );
    let ObjectKind::Register { size: 16, element } = kinds[1] else {
        panic!("{:?}", kinds[1]);
    };
    assert_eq!(
        (element[0].name.as_str(), element[0].format),
        ("value", Some(Format::Ipv4Address))
    );
    let ObjectKind::FlowState { key, value } = kinds[3] else {
        panic!("{:?}", kinds[3]);
    };
    let names = |fields: &[Field]| {
        fields
            .iter()
            .map(|f| f.name.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(key), ["src", "port"]);
    assert_eq!(names(value), ["value"]);
    let states: Vec<Object> = schema.flow_states().map(|(state, _)| state).collect();
    assert_eq!(states, [Object::from_u32(3)]);
}

#[test]
fn a_schema_is_written_and_read_back() {
    let schema = everything();
    let json = serde_json::to_string(&schema).expect("it is data");
    let back: Schema = serde_json::from_str(&json).expect("it was just written");
    assert_eq!(back, schema);
}

#[test]
fn a_value_that_does_not_fit_its_width_is_refused() {
    use crate::Bits;
    let read = |text: &str| serde_json::from_str::<Bits>(&format!("\"{text}\"")).ok();
    assert_eq!(read("9w0x1ff"), Some(Bits::ones(9)));
    assert_eq!(read("8w0x1ff"), None);
    assert_eq!(read("0x1ff"), None);
    assert_eq!(read("8w0x"), None);
}

/// Two tables that share a selector, and one with a profile of its own.
const PROFILES: &str = r#"program V1Switch reject continue
header_type h {
    a: bit<8>;
}
var v: bit<8>
header hdr: h
extern C.sel: action_selector {
    arg size = 4;
}
extern C.own: action_profile {
    arg size = 2;
}
action C.set(v) {}
action C.drop() {}
action C.rest() {}
table C.first {
    key "a" exact hdr.a;
    action C.rest;
    action C.drop;
    action C.set;
    default C.drop();
    property implementation = extern C.sel;
}
table C.second {
    key "a" exact hdr.a;
    action C.set;
    action C.drop;
    action C.rest default_only;
    default C.drop();
    property implementation = extern C.sel;
}
table C.third {
    key "a" exact hdr.a;
    action C.drop;
    default C.drop();
    property implementation = extern C.own;
}
"#;

#[test]
fn members_may_run_what_all_tables_of_the_profile_allow() {
    use crate::{ActionCall, Bits, Reference};
    let schema = Schema::of(&ir::text::parse(PROFILES).unwrap_or_else(|e| panic!("{e}")));
    let objects: Vec<Object> = schema.objects.keys().collect();
    let actions = |object: Object| -> Vec<&str> {
        let profile = schema.objects[object].kind.profile().expect("it is one");
        let names = profile.actions.iter();
        names
            .map(|action| schema.actions[*action].name.as_str())
            .collect()
    };
    assert_eq!(actions(objects[0]), ["C.drop", "C.set"]);
    assert_eq!(actions(objects[1]), ["C.drop"]);
    let tables: Vec<crate::Table> = schema.tables.keys().collect();
    assert_eq!(
        schema.tables_of(objects[0]).collect::<Vec<_>>(),
        tables[..2]
    );
    let named = |table: usize| -> Vec<&str> {
        let references = schema.tables[tables[table]].references.iter();
        references
            .map(|reference| reference.name.as_str())
            .collect()
    };
    assert_eq!(named(1), ["C.sel.member", "C.sel.group"]);
    assert_eq!(named(2), ["C.own.member"]);
    let call = |action: u32| ActionCall {
        action,
        args: vec![Bits::new(32, 7u32)],
    };
    let first = &schema.tables[tables[0]];
    let found = [2, 3, 4].map(|number| first.reference(&call(number)));
    assert_eq!(
        found,
        [None, Some(Reference::Member(7)), Some(Reference::Group(7))]
    );
    assert_eq!(schema.called(tables[0], &call(4)).name, "C.sel.group");
}
