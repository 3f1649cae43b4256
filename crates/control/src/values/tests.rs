use super::*;
use schema::{Bits, Field, Format, KeyMatch, KeySchema, MatchKind, Schema, Type};

fn value(width: u32, text: &str) -> Result<Bits, String> {
    parse_value(&Schema::default(), Type::bit(width), text).map_err(|e| e.message)
}

fn named(name: &str, kind: MatchKind, ty: Type) -> KeySchema {
    KeySchema {
        field: Field::new(name, ty),
        kind,
    }
}

fn key(kind: MatchKind, width: u32, text: &str) -> Result<KeyMatch, String> {
    let key = named("k", kind, Type::bit(width));
    parse_match(&Schema::default(), &key, text).map_err(|e| e.message)
}

fn bits(width: u32, value: u64) -> Bits {
    Bits::new(width, value)
}

#[test]
fn numbers_in_every_base() {
    for text in ["31", "0x1f", "0X1F", "0b1_1111", "0o37"] {
        assert_eq!(value(8, text), Ok(bits(8, 31)), "{text}");
    }
}

#[test]
fn addresses() {
    assert_eq!(value(32, "10.0.0.1"), Ok(bits(32, 0x0a00_0001)));
    assert_eq!(
        value(48, "02:00:00:00:00:01"),
        Ok(bits(48, 0x0200_0000_0001))
    );
    assert_eq!(value(128, "::1"), Ok(bits(128, 1)));
}

#[test]
fn values_that_are_not() {
    assert_eq!(value(8, "256"), Err("`256` does not fit in bit<8>".into()));
    assert_eq!(
        value(8, "-1"),
        Err("`-1` is negative, but the field is bit<8>".into())
    );
    assert_eq!(value(8, "x"), Err("`x` is not a value".into()));
    assert_eq!(value(8, ""), Err("`` is not a value".into()));
    assert_eq!(value(8, "+1"), Err("`+1` is not a value".into()));
    assert_eq!(
        value(16, "10.0.0.1"),
        Err("`10.0.0.1` is an IPv4 address of 32 bits, but the field has 16".into())
    );
    assert_eq!(
        value(48, "02:00:00:00:00"),
        Err("`02:00:00:00:00` is neither a MAC nor an IPv6 address".into())
    );
}

#[test]
fn signed_values() {
    let parse = |t| {
        parse_value(
            &Schema::default(),
            Type::Bits {
                width: 8,
                signed: true,
            },
            t,
        )
    };
    assert_eq!(parse("-128"), Ok(bits(8, 0x80)));
    assert!(parse("-129").is_err());
    assert_eq!(parse("127"), Ok(bits(8, 0x7f)));
    let refused = parse("128").map_err(|e| e.message);
    assert_eq!(refused, Err("`128` does not fit in int<8>".to_owned()));
    // Digits of such a base give the bits of the value.
    assert_eq!(parse("0x80"), Ok(bits(8, 0x80)));
    assert_eq!(parse("0b1111_1111"), Ok(bits(8, 0xff)));
}

#[test]
fn prefixes_masks_ranges_wildcards() {
    use MatchKind::*;
    assert_eq!(
        key(Lpm, 32, "10.0.0.0/24"),
        Ok(KeyMatch::Lpm(bits(32, 0x0a00_0000), 24))
    );
    for (kind, text) in [
        (Lpm, "10.0.0.7/24"),
        (Ternary, "10.0.0.7/24"),
        (Lpm, "0x0a000007/24"),
    ] {
        let refused = Err(format!("`{text}` has bits set after its prefix of 24 bits"));
        assert_eq!(key(kind, 32, text), refused);
    }
    assert_eq!(
        key(Lpm, 32, "0x0a******"),
        Ok(KeyMatch::Lpm(bits(32, 0x0a00_0000), 8))
    );
    assert_eq!(key(Lpm, 32, "0.0.0.0/0"), Ok(KeyMatch::Any));
    assert_eq!(
        key(Ternary, 8, "0x1f &&& 0xf0"),
        Ok(KeyMatch::Ternary(bits(8, 0x10), bits(8, 0xf0)))
    );
    assert_eq!(
        key(Ternary, 8, "0x1*"),
        Ok(KeyMatch::Ternary(bits(8, 0x10), bits(8, 0xf0)))
    );
    assert_eq!(
        key(Range, 16, "80..90"),
        Ok(KeyMatch::Range(bits(16, 80), bits(16, 90)))
    );
    assert_eq!(key(Range, 16, "80->90"), key(Range, 16, "80..90"));
    assert_eq!(key(Range, 16, "0..65535"), Ok(KeyMatch::Any));
    assert_eq!(
        key(Exact, 8, "*"),
        Err("`*` does not match a key of kind exact".into())
    );
    assert_eq!(
        key(Range, 16, "90..80"),
        Err("the range `90..80` is empty: its first value is above its last".into())
    );
    assert_eq!(
        key(Lpm, 32, "10.0.0.0/33"),
        Err("the prefix length 33 is longer than the field's 32 bits".into())
    );
}

#[test]
fn what_is_shown_can_be_read_back() {
    let schema = Schema::default();
    for (kind, width, text) in [
        (MatchKind::Lpm, 32, "10.0.0.0/24"),
        (MatchKind::Ternary, 8, "16 &&& 0xf0"),
        (MatchKind::Ternary, 32, "10.1.0.0/16"),
        (MatchKind::Ternary, 32, "10.0.0.1 &&& 0xff0000ff"),
        (MatchKind::Range, 16, "80..90"),
        (MatchKind::Exact, 48, "02:00:00:00:00:01"),
        (MatchKind::Ternary, 32, "*"),
    ] {
        let key = named("hdr.ipv4.dstAddr", kind, Type::bit(width));
        let found = parse_match(&schema, &key, text).unwrap();
        assert_eq!(show_match(&schema, &key, &found), text);
    }
}

#[test]
fn a_format_goes_before_names_and_widths() {
    let schema = Schema::default();
    let shown = |name: &str, type_name: Option<&str>, format, width: u32, value: u64| {
        let mut field = Field::new(name, Type::bit(width));
        field.format = format;
        field.type_name = type_name.map(Into::into);
        show_value(&schema, &field, &bits(width, value))
    };
    assert_eq!(
        shown("next", None, Some(Format::Ipv4Address), 32, 1),
        "0.0.0.1"
    );
    assert_eq!(
        shown("next", None, Some(Format::Ipv6Address), 128, 1),
        "::1"
    );
    assert_eq!(
        shown("x", None, Some(Format::MacAddress), 48, 1),
        "00:00:00:00:00:01"
    );
    assert_eq!(
        shown("src", None, Some(Format::Decimal), 32, 1 << 20),
        "1048576"
    );
    assert_eq!(
        shown("time", None, Some(Format::Decimal), 48, 1 << 20),
        "1048576"
    );
    assert_eq!(shown("x", None, Some(Format::HexString), 16, 80), "0x50");
    assert_eq!(shown("next", Some("ip4Addr_t"), None, 32, 1), "0.0.0.1");
    assert_eq!(shown("next", Some("port_t"), None, 32, 1), "1");
    assert_eq!(
        shown("hdr.ipv4.src", Some("word_t"), None, 32, 1),
        "0.0.0.1"
    );
    assert_eq!(shown("count", None, None, 32, 1 << 20), "0x100000");
}
