//! Text to values and matches.

use super::ValueError;
use super::show::show_scalar;
use diag::counted;
use num_bigint::{BigInt, BigUint};
use schema::{Bits, KeyMatch, KeySchema, MatchKind, Schema, Type, canonical};
use std::net::{Ipv4Addr, Ipv6Addr};

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
pub fn parse_value(schema: &Schema, ty: Type, text: &str) -> Result<Bits, ValueError> {
    let text = text.trim();
    match ty {
        Type::Bool => match text {
            "true" | "1" | "0x1" => return Ok(Bits::from_bool(true)),
            "false" | "0" | "0x0" => return Ok(Bits::from_bool(false)),
            _ => return error(format!("`{text}` is not a bool"), "write true or false"),
        },
        Type::Error => {
            let name = text.strip_prefix("error.").unwrap_or(text);
            return member(schema.errors.iter().map(|e| e.as_str()), "error", name);
        }
        Type::Enum(id) => {
            let data = &schema.enums[id];
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
    let largest = Bits::ones(width.saturating_sub(u32::from(signed)));
    // Digits of another base than 10 give the bits of a value.
    if signed && !negative && base == 10 && magnitude > *largest.value() {
        return error(
            format!("`{text}` does not fit in int<{width}>"),
            format!("the largest value is {}", largest.value()),
        );
    }
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
            format!(
                "`{text}` is {what} of {}, but the field has {width}",
                counted(needed, "bit")
            ),
            "write a number, or name another key",
        );
    }
    Ok(Bits::from_bytes(width, bytes))
}

/// Makes a prefix match. A value with bits set after the prefix is refused: `10.0.0.1/8` may mean the network or the
/// address.
fn prefix(
    schema: &Schema,
    key: &KeySchema,
    text: &str,
    value: Bits,
    length: u32,
) -> Result<KeyMatch, ValueError> {
    let width = value.width();
    let network = Bits::new(
        width,
        value.value() & Bits::prefix_mask(width, length).value(),
    );
    if network == value {
        return Ok(KeyMatch::Lpm(value, length));
    }
    let name = if text.contains(['.', ':']) {
        "addr"
    } else {
        ""
    };
    let [network, value] =
        [network, value].map(|value| show_scalar(schema, key.field.ty, name, &value));
    error(
        format!(
            "`{text}` has bits set after its prefix of {}",
            counted(length, "bit")
        ),
        format!("write {network}/{length} for the prefix, or {value}/{width} for this value alone"),
    )
}

/// Parses an entry's match for a key, in canonical form (see [`canonical`]).
pub fn parse_match(schema: &Schema, key: &KeySchema, text: &str) -> Result<KeyMatch, ValueError> {
    let text = text.trim();
    let (ty, kind) = (key.field.ty, key.kind);
    let width = ty.width();
    let found = if matches!(text, "*" | "_" | "default") {
        KeyMatch::Any
    } else if let Some((value, mask)) = text.split_once("&&&") {
        let value = parse_value(schema, ty, value)?;
        KeyMatch::Ternary(value, parse_value(schema, Type::bit(width), mask)?)
    } else if let Some((low, high)) = text.split_once("->").or_else(|| split_range(text)) {
        KeyMatch::Range(
            parse_value(schema, ty, low)?,
            parse_value(schema, ty, high)?,
        )
    } else if let Some((value, length)) = text.rsplit_once('/') {
        let value = parse_value(schema, ty, value)?;
        match length.trim().parse::<u32>() {
            Ok(length) if length <= width => prefix(schema, key, text, value, length)?,
            Ok(length) => {
                return error(
                    format!(
                        "the prefix length {length} is longer than the field's {}",
                        counted(width, "bit")
                    ),
                    format!("write a length from 0 to {width}"),
                );
            }
            Err(_) => KeyMatch::Ternary(value, parse_value(schema, Type::bit(width), length)?),
        }
    } else if text.contains('*') && matches!(ty, Type::Bits { .. }) {
        wildcard_digits(width, text)?
    } else {
        KeyMatch::Exact(parse_value(schema, ty, text)?)
    };
    fit(found, kind, ty, text)
}

/// Splits `low..high` without confusing it with the dots of an IPv4 address.
fn split_range(text: &str) -> Option<(&str, &str)> {
    let at = text.find("..")?;
    Some((&text[..at], text[at + 2..].trim_start_matches('.')))
}

/// Parses digits with wildcards, such as `0x12**` or `0b1*0*`.
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

/// Converts a match to the form that its match kind requires.
fn fit(found: KeyMatch, kind: MatchKind, ty: Type, text: &str) -> Result<KeyMatch, ValueError> {
    let found = canonical(found, kind, ty);
    let help = match (kind, &found) {
        (MatchKind::Range, KeyMatch::Range(low, high)) => {
            let signed = matches!(ty, Type::Bits { signed: true, .. });
            if low.to_int(signed) > high.to_int(signed) {
                return error(
                    format!("the range `{text}` is empty: its first value is above its last"),
                    "write the lower value first",
                );
            }
            return Ok(found);
        }
        (MatchKind::Exact, KeyMatch::Exact(_))
        | (MatchKind::Optional, KeyMatch::Exact(_) | KeyMatch::Any)
        | (MatchKind::Lpm, KeyMatch::Lpm(..) | KeyMatch::Any)
        | (MatchKind::Ternary, KeyMatch::Ternary(..) | KeyMatch::Any)
        | (MatchKind::Range | MatchKind::Selector, KeyMatch::Any) => return Ok(found),
        (MatchKind::Exact | MatchKind::Selector, _) => "an exact key takes one value",
        (MatchKind::Optional, _) => "an optional key takes one value, or * for any",
        (MatchKind::Lpm, _) => "an lpm key takes a prefix, such as 10.0.0.0/24",
        (MatchKind::Ternary, _) => "a ternary key takes a value with a mask, such as 0x10 &&& 0xf0",
        (MatchKind::Range, _) => "a range key takes low..high, or one value",
    };
    let kind = kind.name();
    error(
        format!("`{text}` does not match a key of kind {kind}"),
        help,
    )
}
