//! Values written the way people write them, and back.
//!
//! A value is `80`, `0x1f`, `0b101`, `0o17` (underscores allowed), `10.0.0.1`, an IPv6 or a MAC
//! address, `true`/`false`, or a member of the enum or error type. A match adds `value/prefix`,
//! `value &&& mask`, `low..high` (or `low->high`), wildcards for digits (`0x12**`, `0b1*`), and `*` or
//! `_` for anything.

use ir::{Bits, KeyMatch, MatchKind, Program, Type};
use num_bigint::{BigInt, BigUint};
use std::net::{Ipv4Addr, Ipv6Addr};

/// What is wrong with a value, and what would be right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValueError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

fn error<T>(message: impl Into<String>, help: impl Into<String>) -> Result<T, ValueError> {
    Err(ValueError {
        message: message.into(),
        help: help.into(),
    })
}

const FORMS: &str = "write a number (80, 0x1f, 0b101), an address (10.0.0.1, 2001:db8::1, \
                     02:00:00:00:00:01), or true/false for a bool";

/// Digits of one base, some of which may be wildcards.
struct Digits<'a> {
    base: u32,
    text: &'a str,
}

fn digits(text: &str) -> Digits<'_> {
    let prefixed = |lower: &str, upper: &str| {
        text.strip_prefix(lower)
            .or_else(|| text.strip_prefix(upper))
            .filter(|t| !t.is_empty())
    };
    if let Some(text) = prefixed("0x", "0X") {
        Digits { base: 16, text }
    } else if let Some(text) = prefixed("0b", "0B") {
        Digits { base: 2, text }
    } else if let Some(text) = prefixed("0o", "0O") {
        Digits { base: 8, text }
    } else {
        Digits { base: 10, text }
    }
}

/// Parses one value of a type.
pub fn parse_value(program: &Program, ty: Type, text: &str) -> Result<Bits, ValueError> {
    let text = text.trim();
    match ty {
        Type::Bool => match text {
            "true" | "1" | "0x1" => return Ok(Bits::from_bool(true)),
            "false" | "0" | "0x0" => return Ok(Bits::from_bool(false)),
            _ => return error(format!("`{text}` is not a bool"), "write true or false"),
        },
        Type::Error => {
            let name = text.strip_prefix("error.").unwrap_or(text);
            return member(program.errors.iter().map(|e| e.as_str()), "error", name);
        }
        Type::Enum(id) => {
            let data = &program.enums[id];
            let name = text
                .strip_prefix(&format!("{}.", data.name))
                .unwrap_or(text);
            return member(data.members.iter().map(|m| m.as_str()), &data.name, name);
        }
        Type::Bits { .. } | Type::Varbit(_) => {}
    }
    let width = ty.width();
    let signed = matches!(ty, Type::Bits { signed: true, .. });
    if text.contains(':') {
        return address_with_colons(width, text);
    }
    if text.matches('.').count() == 3 && text.parse::<Ipv4Addr>().is_ok() {
        let address: Ipv4Addr = text.parse().expect("checked just above");
        return exact_width(width, 32, text, "an IPv4 address", &address.octets());
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let Digits { base, text: number } = digits(unsigned);
    let plain: String = number.chars().filter(|&c| c != '_').collect();
    let Some(magnitude) =
        BigUint::parse_bytes(plain.as_bytes(), base).filter(|_| !plain.starts_with('+'))
    else {
        return error(format!("`{text}` is not a value"), FORMS);
    };
    in_range(width, signed, negative, magnitude, text)
}

fn in_range(
    width: u32,
    signed: bool,
    negative: bool,
    magnitude: BigUint,
    text: &str,
) -> Result<Bits, ValueError> {
    if negative {
        let value = -BigInt::from(magnitude);
        let lowest = -(BigInt::from(1) << width.saturating_sub(1));
        if !signed {
            return error(
                format!("`{text}` is negative, but the field is bit<{width}>"),
                format!("write a value from 0 to {}", Bits::ones(width).value()),
            );
        }
        if width == 0 || value < lowest {
            return error(
                format!("`{text}` does not fit in int<{width}>"),
                format!("the least value is {lowest}"),
            );
        }
        return Ok(Bits::from_int(width, &value));
    }
    if magnitude.bits() > u64::from(width) {
        let name = if signed { "int" } else { "bit" };
        return error(
            format!("`{text}` does not fit in {name}<{width}>"),
            format!("the largest value is {}", Bits::ones(width).value()),
        );
    }
    Ok(Bits::new(width, magnitude))
}

fn member<'a>(
    mut members: impl Iterator<Item = &'a str> + Clone,
    of: &str,
    name: &str,
) -> Result<Bits, ValueError> {
    match members.clone().position(|m| m == name) {
        Some(index) => Ok(Bits::new(32, index as u32)),
        None => error(
            format!("`{name}` is not a member of {of}"),
            format!("its members are {}", {
                let mut shown: Vec<&str> = members.by_ref().take(12).collect();
                if members.next().is_some() {
                    shown.push("…");
                }
                shown.join(", ")
            }),
        ),
    }
}

fn address_with_colons(width: u32, text: &str) -> Result<Bits, ValueError> {
    let pairs: Vec<&str> = text.split(':').collect();
    if pairs.len() == 6 && pairs.iter().all(|p| matches!(p.len(), 1 | 2)) {
        let bytes: Result<Vec<u8>, _> = pairs.iter().map(|p| u8::from_str_radix(p, 16)).collect();
        if let Ok(bytes) = bytes {
            return exact_width(width, 48, text, "a MAC address", &bytes);
        }
    }
    match text.parse::<Ipv6Addr>() {
        Ok(address) => exact_width(width, 128, text, "an IPv6 address", &address.octets()),
        Err(_) => error(
            format!("`{text}` is neither a MAC nor an IPv6 address"),
            FORMS,
        ),
    }
}

fn exact_width(
    width: u32,
    needed: u32,
    text: &str,
    what: &str,
    bytes: &[u8],
) -> Result<Bits, ValueError> {
    if width != needed {
        return error(
            format!("`{text}` is {what} of {needed} bits, but the field has {width}"),
            "write a number, or name another key",
        );
    }
    Ok(Bits::from_bytes(width, bytes))
}

/// Parses what an entry asks of a key, in canonical form (see [`canonical`]).
pub fn parse_match(
    program: &Program,
    ty: Type,
    kind: MatchKind,
    text: &str,
) -> Result<KeyMatch, ValueError> {
    let text = text.trim();
    let width = ty.width();
    let found = if matches!(text, "*" | "_" | "default") {
        KeyMatch::Any
    } else if let Some((value, mask)) = text.split_once("&&&") {
        let value = parse_value(program, ty, value)?;
        KeyMatch::Ternary(value, parse_value(program, Type::bit(width), mask)?)
    } else if let Some((low, high)) = text.split_once("->").or_else(|| split_range(text)) {
        KeyMatch::Range(
            parse_value(program, ty, low)?,
            parse_value(program, ty, high)?,
        )
    } else if let Some((value, length)) = text.rsplit_once('/') {
        let value = parse_value(program, ty, value)?;
        match length.trim().parse::<u32>() {
            Ok(length) if length <= width => KeyMatch::Lpm(value, length),
            Ok(length) => {
                return error(
                    format!("the prefix length {length} is longer than the field's {width} bits"),
                    format!("write a length from 0 to {width}"),
                );
            }
            Err(_) => KeyMatch::Ternary(value, parse_value(program, Type::bit(width), length)?),
        }
    } else if text.contains('*') && matches!(ty, Type::Bits { .. }) {
        wildcard_digits(width, text)?
    } else {
        KeyMatch::Exact(parse_value(program, ty, text)?)
    };
    fit(found, kind, ty, text)
}

/// Splits `low..high` without taking an IPv4 address's dots for it.
fn split_range(text: &str) -> Option<(&str, &str)> {
    let at = text.find("..")?;
    Some((&text[..at], text[at + 2..].trim_start_matches('.')))
}

/// `0x12**`, `0b1*0*`: digits of which some are anything.
fn wildcard_digits(width: u32, text: &str) -> Result<KeyMatch, ValueError> {
    let Digits { base, text: body } = digits(text);
    let bits = match base {
        16 => 4,
        8 => 3,
        2 => 1,
        _ => {
            return error(
                format!("`{text}` has wildcards among decimal digits"),
                "write it in hexadecimal (0x12**) or binary (0b1*), or with a mask (value &&& mask)",
            );
        }
    };
    let (mut value, mut mask) = (BigUint::from(0u32), BigUint::from(0u32));
    for c in body.chars().filter(|&c| c != '_') {
        let (digit, known) = match c {
            '*' => (0, false),
            c => match c.to_digit(base) {
                Some(digit) => (digit, true),
                None => return error(format!("`{text}` is not a value"), FORMS),
            },
        };
        value = (value << bits) | BigUint::from(digit);
        mask = (mask << bits) | BigUint::from(if known { base - 1 } else { 0 });
    }
    if value.bits() > u64::from(width) {
        return error(
            format!("`{text}` does not fit in bit<{width}>"),
            format!("the largest value is {}", Bits::ones(width).value()),
        );
    }
    Ok(KeyMatch::Ternary(
        Bits::new(width, value),
        Bits::new(width, mask),
    ))
}

/// Brings a match to the form its match kind asks for.
fn fit(found: KeyMatch, kind: MatchKind, ty: Type, text: &str) -> Result<KeyMatch, ValueError> {
    let width = ty.width();
    let refuse = |help: &str| {
        error(
            format!("`{text}` does not match a key of kind {}", name(kind)),
            help,
        )
    };
    let fitted = match (kind, found) {
        (MatchKind::Exact, KeyMatch::Exact(v)) => KeyMatch::Exact(v),
        (MatchKind::Exact, KeyMatch::Ternary(v, m)) if m == Bits::ones(width) => KeyMatch::Exact(v),
        (MatchKind::Exact, KeyMatch::Lpm(v, n)) if n == width => KeyMatch::Exact(v),
        (MatchKind::Exact, _) => return refuse("an exact key takes one value"),
        (MatchKind::Optional, KeyMatch::Exact(v)) => KeyMatch::Exact(v),
        (MatchKind::Optional, KeyMatch::Any) => KeyMatch::Any,
        (MatchKind::Optional, KeyMatch::Ternary(v, m)) if m == Bits::ones(width) => {
            KeyMatch::Exact(v)
        }
        (MatchKind::Optional, KeyMatch::Ternary(_, m)) if m.is_zero() => KeyMatch::Any,
        (MatchKind::Optional, _) => return refuse("an optional key takes one value, or * for any"),
        (MatchKind::Lpm, KeyMatch::Exact(v)) => KeyMatch::Lpm(v, width),
        (MatchKind::Lpm, KeyMatch::Ternary(v, m)) => match prefix_length(&m) {
            Some(length) => KeyMatch::Lpm(v, length),
            None => return refuse("an lpm key takes a prefix, such as 10.0.0.0/24"),
        },
        (MatchKind::Lpm, KeyMatch::Range(..)) => {
            return refuse("an lpm key takes a prefix, such as 10.0.0.0/24");
        }
        (MatchKind::Ternary, KeyMatch::Exact(v)) => KeyMatch::Ternary(v, Bits::ones(width)),
        (MatchKind::Ternary, KeyMatch::Lpm(v, n)) => KeyMatch::Ternary(v, prefix_mask(width, n)),
        (MatchKind::Ternary, KeyMatch::Range(..)) => {
            return refuse("a ternary key takes a value with a mask, such as 0x10 &&& 0xf0");
        }
        (MatchKind::Range, KeyMatch::Exact(v)) => KeyMatch::Range(v.clone(), v),
        (MatchKind::Range, KeyMatch::Range(low, high)) => {
            let signed = matches!(ty, Type::Bits { signed: true, .. });
            if low.to_int(signed) > high.to_int(signed) {
                return error(
                    format!("the range `{text}` is empty: its first value is above its last"),
                    "write the lower value first",
                );
            }
            KeyMatch::Range(low, high)
        }
        (MatchKind::Range, KeyMatch::Lpm(v, n)) => {
            let mask = prefix_mask(width, n);
            let low = v.value() & mask.value();
            let high = &low | (Bits::ones(width).value() ^ mask.value());
            KeyMatch::Range(Bits::new(width, low), Bits::new(width, high))
        }
        (MatchKind::Range, KeyMatch::Ternary(..)) => {
            return refuse("a range key takes low..high, or one value");
        }
        (_, found) => found,
    };
    Ok(canonical(fitted, kind, ty))
}

/// One form for each match: bits outside a mask or prefix are zero, and what matches everything is
/// [`KeyMatch::Any`] (but for exact keys).
pub fn canonical(found: KeyMatch, kind: MatchKind, ty: Type) -> KeyMatch {
    let width = ty.width();
    let signed = matches!(ty, Type::Bits { signed: true, .. });
    match found {
        KeyMatch::Lpm(_, 0) => KeyMatch::Any,
        KeyMatch::Lpm(v, n) => KeyMatch::Lpm(
            Bits::new(width, v.value() & prefix_mask(width, n).value()),
            n,
        ),
        KeyMatch::Ternary(_, m) if m.is_zero() => KeyMatch::Any,
        KeyMatch::Ternary(v, m) => KeyMatch::Ternary(Bits::new(width, v.value() & m.value()), m),
        KeyMatch::Range(low, high) if kind == MatchKind::Range && !signed => {
            if low.is_zero() && high == Bits::ones(width) {
                KeyMatch::Any
            } else {
                KeyMatch::Range(low, high)
            }
        }
        other => other,
    }
}

/// `length` ones in front, zeros behind.
pub fn prefix_mask(width: u32, length: u32) -> Bits {
    Bits::new(width, Bits::ones(length).value() << (width - length))
}

/// How many ones a mask begins with, if only zeros follow.
pub fn prefix_length(mask: &Bits) -> Option<u32> {
    let length = mask.value().count_ones() as u32;
    (*mask == prefix_mask(mask.width(), length)).then_some(length)
}

/// The match kind as P4 writes it.
pub fn name(kind: MatchKind) -> &'static str {
    match kind {
        MatchKind::Exact => "exact",
        MatchKind::Lpm => "lpm",
        MatchKind::Ternary => "ternary",
        MatchKind::Range => "range",
        MatchKind::Optional => "optional",
        MatchKind::Selector => "selector",
    }
}

/// Whether entries with this kind of key can overlap without one being longer, so that a priority
/// decides.
pub fn needs_priority(kind: MatchKind) -> bool {
    matches!(
        kind,
        MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
    )
}

/// A value as people read it. Widths of 32, 48 and 128 bits are shown as addresses where the name of
/// the field says that it holds one.
pub fn show_value(program: &Program, ty: Type, name: &str, value: &Bits) -> String {
    match ty {
        Type::Bool => return (if value.is_zero() { "false" } else { "true" }).to_string(),
        Type::Error => {
            let index = value.to_u64().unwrap_or(u64::MAX) as usize;
            return program
                .errors
                .get(index)
                .map_or_else(|| decimal(value), |e| format!("error.{e}"));
        }
        Type::Enum(id) => {
            let index = value.to_u64().unwrap_or(u64::MAX) as usize;
            let members = &program.enums[id].members;
            return members
                .get(index)
                .map_or_else(|| decimal(value), |m| m.to_string());
        }
        Type::Bits { signed: true, .. } => return value.to_signed().to_string(),
        Type::Bits { .. } | Type::Varbit(_) => {}
    }
    let bytes = value.to_bytes();
    let last = name
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let address = [
        "addr", "ip", "src", "dst", "mac", "prefix", "hop", "gateway", "network",
    ]
    .iter()
    .any(|part| last.contains(part));
    match value.width() {
        48 => bytes
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<Vec<_>>()
            .join(":"),
        32 if address => bytes
            .iter()
            .map(|b| b.to_string())
            .collect::<Vec<_>>()
            .join("."),
        128 if address => {
            let octets: [u8; 16] = bytes.try_into().expect("128 bits are 16 bytes");
            Ipv6Addr::from(octets).to_string()
        }
        _ if value.value().bits() > 16 => format!("{:#x}", value.value()),
        _ => decimal(value),
    }
}

fn decimal(value: &Bits) -> String {
    value.value().to_string()
}

/// A match as people write it; [`parse_match`] reads it back.
pub fn show_match(program: &Program, ty: Type, name: &str, found: &KeyMatch) -> String {
    let value = |v: &Bits| show_value(program, ty, name, v);
    match found {
        KeyMatch::Exact(v) => value(v),
        KeyMatch::Lpm(v, length) => format!("{}/{length}", value(v)),
        KeyMatch::Ternary(v, mask) if *mask == Bits::ones(ty.width()) => value(v),
        KeyMatch::Ternary(v, mask) => match (prefix_length(mask), value(v)) {
            (Some(length), shown) if shown.contains(['.', ':']) => format!("{shown}/{length}"),
            (_, shown) => format!("{shown} &&& {:#x}", mask.value()),
        },
        KeyMatch::Range(low, high) if low == high => value(low),
        KeyMatch::Range(low, high) => format!("{}..{}", value(low), value(high)),
        KeyMatch::Any => "*".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(width: u32, text: &str) -> Result<Bits, String> {
        parse_value(&Program::default(), Type::bit(width), text).map_err(|e| e.message)
    }

    fn key(kind: MatchKind, width: u32, text: &str) -> Result<KeyMatch, String> {
        parse_match(&Program::default(), Type::bit(width), kind, text).map_err(|e| e.message)
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
                &Program::default(),
                Type::Bits {
                    width: 8,
                    signed: true,
                },
                t,
            )
        };
        assert_eq!(parse("-128"), Ok(bits(8, 0x80)));
        assert!(parse("-129").is_err());
    }

    #[test]
    fn prefixes_masks_ranges_wildcards() {
        use MatchKind::*;
        assert_eq!(
            key(Lpm, 32, "10.0.0.7/24"),
            Ok(KeyMatch::Lpm(bits(32, 0x0a00_0000), 24)),
            "bits behind the prefix are dropped"
        );
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
        let program = Program::default();
        for (kind, width, text) in [
            (MatchKind::Lpm, 32, "10.0.0.0/24"),
            (MatchKind::Ternary, 8, "16 &&& 0xf0"),
            (MatchKind::Ternary, 32, "10.1.0.0/16"),
            (MatchKind::Ternary, 32, "10.0.0.1 &&& 0xff0000ff"),
            (MatchKind::Range, 16, "80..90"),
            (MatchKind::Exact, 48, "02:00:00:00:00:01"),
            (MatchKind::Ternary, 32, "*"),
        ] {
            let ty = Type::bit(width);
            let found = parse_match(&program, ty, kind, text).unwrap();
            assert_eq!(show_match(&program, ty, "hdr.ipv4.dstAddr", &found), text);
        }
    }
}
