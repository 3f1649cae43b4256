use super::*;
use crate::sample;
use proptest::prelude::*;
use schema::Bits;

fn bits(width: u32) -> impl Strategy<Value = Bits> {
    any::<u128>().prop_map(move |v| Bits::new(width, v & (u128::MAX >> (128 - width))))
}

fn of_kind(kind: MatchKind, width: u32) -> BoxedStrategy<KeyMatch> {
    match kind {
        MatchKind::Exact | MatchKind::Selector => bits(width).prop_map(KeyMatch::Exact).boxed(),
        MatchKind::Lpm => (bits(width), 0..=width)
            .prop_map(|(v, n)| KeyMatch::Lpm(v, n))
            .boxed(),
        MatchKind::Ternary => (bits(width), bits(width))
            .prop_map(|(v, m)| KeyMatch::Ternary(v, m))
            .boxed(),
        MatchKind::Range => (bits(width), bits(width))
            .prop_map(|(a, b)| {
                if a.value() <= b.value() {
                    KeyMatch::Range(a, b)
                } else {
                    KeyMatch::Range(b, a)
                }
            })
            .boxed(),
        MatchKind::Optional => {
            prop_oneof![Just(KeyMatch::Any), bits(width).prop_map(KeyMatch::Exact)].boxed()
        }
    }
}

fn calls() -> impl Strategy<Value = ActionCall> {
    let forward = (bits(9), bits(48), any::<bool>(), bits(16), 0..2u32, 0..2u32).prop_map(
        |(port, mac, loud, offset, color, why)| ActionCall {
            action: 0,
            args: vec![
                port,
                mac,
                Bits::from_bool(loud),
                offset,
                Bits::new(32, color),
                Bits::new(32, why),
            ],
        },
    );
    let drop = ActionCall {
        action: 1,
        args: Vec::new(),
    };
    prop_oneof![forward, Just(drop)]
}

proptest! {
    #[test]
    fn every_entry_is_read_back_as_it_is_shown(
        keys in (of_kind(MatchKind::Ternary, 32), of_kind(MatchKind::Range, 8), of_kind(MatchKind::Optional, 32)),
        prefix in of_kind(MatchKind::Lpm, 32),
        priority in any::<u32>(),
        action in calls(),
    ) {
        let schema = sample::schema();
        let cases = [
            ("C.rules", vec![keys.0, keys.1, keys.2], priority),
            ("C.routes", vec![prefix], 0),
        ];
        for (name, keys, priority) in cases {
            let table = sample::table(name);
            let keys = schema.tables[table].canonical(&keys);
            let entry = Entry { keys, priority, action: action.clone(), is_const: false };
            let text = format!("{name} {}", show_entry(schema, table, &entry));
            let (found, read) = parse_entry(schema, Piece::new(&text, 0))
                .map_err(|d| TestCaseError::fail(format!("{text}: {}", d.message)))?;
            prop_assert_eq!(found, table);
            prop_assert_eq!(read, entry, "{}", text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}", start in 0..5usize) {
        let schema = sample::schema();
        let begin = ["", "routes ", "rules 1 ", "routes 10.0.0.0/8 forward(", "fixed ttl:"][start];
        let text = format!("{begin}{text}");
        let _ = parse_entry(schema, Piece::new(&text, 0));
        let _ = parse_default(schema, Piece::new(&text, 0));
        let _ = parse_keys(schema, Piece::new(&text, 0));
        let _ = parse_member(schema, Piece::new(&text, 0));
    }
}

fn read(text: &str) -> Result<(Table, Entry), String> {
    parse_entry(sample::schema(), Piece::new(text, 0)).map_err(|d| d.message.clone())
}

#[test]
fn keys_and_arguments_go_by_name_or_by_position() {
    let by_name = read(
        "C.routes dst:10.0.0.0/8 C.forward(why:NoError, color:green, port:1, mac:02:00:00:00:00:01, loud:true, offset:-2)",
    );
    let by_position = read(
        "routes 10.0.0.0/8 forward(1, 02:00:00:00:00:01, true, -2, Color.green, error.NoError)",
    );
    assert!(by_name.is_ok(), "{by_name:?}");
    assert_eq!(by_name, by_position);
    assert_eq!(
        read("routes hdr.ipv4.dst=10.0.0.0/8 drop"),
        read("routes 10.0.0.0/8 drop()")
    );
}

#[test]
fn keys_that_are_not_exact_may_be_left_out_where_the_others_are_named() {
    let (_, entry) = read("rules 5 ttl:1..3 drop()").unwrap();
    let range = KeyMatch::Range(Bits::new(8, 1u32), Bits::new(8, 3u32));
    assert_eq!(entry.keys, [KeyMatch::Any, range, KeyMatch::Any]);
    assert_eq!(entry.priority, 5);
    let refused = read("rules 5 10.0.0.1 drop()");
    assert_eq!(
        refused,
        Err("`C.rules` has 3 key fields, but 1 value is given".into())
    );
}

#[test]
fn a_misspelt_key_is_not_taken_for_an_address() {
    let refused = read("rules 5 source:02:00:00:00:00:01 drop()");
    assert_eq!(refused, Err("there is no key `source`".into()));
    assert_eq!(
        read("routes ab:cd::1 drop()"),
        Err("hdr.ipv4.dst: `ab:cd::1` is an IPv6 address of 128 bits, but the field has 32".into())
    );
}

#[test]
fn a_misspelt_argument_is_reported_with_the_known_ones() {
    let text = "routes 10.0.0.0/8 forward(prot:1, mac:02:00:00:00:00:01, loud:true, offset:-2, color:green, why:NoError)";
    let refused = parse_entry(sample::schema(), Piece::new(text, 0)).unwrap_err();
    assert_eq!(refused.message, "there is no argument `prot`");
    assert_eq!(refused.help.as_deref(), Some("did you mean `port`?"));
}

#[test]
fn a_member_has_one_match_a_field() {
    let schema = sample::schema();
    let member = |text| parse_member(schema, Piece::new(text, 0)).map_err(|d| d.message.clone());
    let (_, found) = member("set 0x800 1..9").unwrap();
    let range = KeyMatch::Range(Bits::new(8, 1u32), Bits::new(8, 9u32));
    assert_eq!(found, [KeyMatch::Exact(Bits::new(16, 0x800u32)), range]);
    assert_eq!(
        member("set 1"),
        Err("`P.set` has 2 key fields, but 1 value is given".into())
    );
}

#[test]
fn an_action_without_its_parentheses_is_shown_with_them() {
    let help = |text| {
        let refused = parse_entry(sample::schema(), Piece::new(text, 0)).unwrap_err();
        refused.help.clone().unwrap_or_default()
    };
    let parentheses = "an action's arguments stand in parentheses: \
                       `forward(port, mac, loud, offset, color, why)`";
    for text in [
        "routes 10.0.0.0/8 forward 1 02:00:00:00:00:01",
        "routes dst:10.0.0.0/8 forward 1 02:00:00:00:00:01",
        "rules 5 src:10.0.0.1 forward 1 02:00:00:00:00:01",
    ] {
        assert_eq!(help(text), parentheses, "{text}");
    }
    // An error before the action keeps its own help.
    assert_ne!(help("routes 10.0.0.256/8 forward 1"), parentheses);
    assert_eq!(help("routes 10.0.0.0/8 1 2"), "its key is: hdr.ipv4.dst");
}

#[test]
fn an_entry_names_a_member_or_a_group_in_place_of_an_action() {
    let schema = sample::schema();
    let balanced = sample::table("C.balanced");
    for (text, shown) in [
        (
            "balanced 10.0.0.1 member(3)",
            "dst:10.0.0.1 C.hops.member(id: 3)",
        ),
        (
            "balanced dst:10.0.0.1 hops.group(id: 0x4)",
            "dst:10.0.0.1 C.hops.group(id: 4)",
        ),
        ("balanced 10.0.0.1 drop", "dst:10.0.0.1 C.drop()"),
    ] {
        let (table, entry) = parse_entry(schema, Piece::new(text, 0)).expect(text);
        assert_eq!(table, balanced);
        assert_eq!(show_entry(schema, table, &entry), shown);
        let again = format!("C.balanced {shown}");
        assert_eq!(
            parse_entry(schema, Piece::new(&again, 0)).expect("it is text"),
            (table, entry)
        );
    }
}

#[test]
fn the_table_s_own_actions_go_before_what_it_may_refer_to() {
    use crate::call::resolve_first;
    let names = ["C.member", "C.drop", "C.hops.member", "C.hops.group"];
    let resolve = |name: &str| resolve_first(&names, 2, name).ok();
    assert_eq!(resolve("member"), Some(0));
    assert_eq!(resolve("hops.member"), Some(2));
    assert_eq!(resolve("group"), Some(3));
    assert_eq!(resolve("groups"), None);
}
