//! A condition as a P4 expression.

use super::field::{Layout, Source};
use crate::catalogue::Type;
use crate::query::{Condition, Element, Predicate};
use std::net::IpAddr;

/// The expression that is true where the condition holds.
pub(super) fn text(condition: &Condition, layout: &Layout) -> String {
    match condition {
        Condition::All(parts) => joined(parts, " && ", "true", layout),
        Condition::Any(parts) => joined(parts, " || ", "false", layout),
        Condition::Not(part) => format!("!{}", text(part, layout)),
        Condition::Test(attribute, predicate) => {
            let source = &layout.sources[*attribute];
            let ty = layout.query.attributes[*attribute].ty;
            format!("({} && {})", source.has, test(predicate, source, ty))
        }
    }
}

fn joined(parts: &[Condition], by: &str, none: &str, layout: &Layout) -> String {
    let parts: Vec<String> = parts.iter().map(|part| text(part, layout)).collect();
    match parts.is_empty() {
        true => none.into(),
        false => format!("({})", parts.join(by)),
    }
}

fn test(predicate: &Predicate, source: &Source, ty: Type) -> String {
    let value = &source.value;
    match predicate {
        Predicate::Number(operator, number) => {
            format!("{value} {} {number}", operator.symbol())
        }
        Predicate::In(elements) => {
            let tests: Vec<String> = elements.iter().map(|e| is(e, source, ty)).collect();
            match tests.is_empty() {
                true => "false".into(),
                false => format!("({})", tests.join(" || ")),
            }
        }
        Predicate::Not(element) => format!("!({})", is(element, source, ty)),
        Predicate::StartsWith(begin) => starts_with(begin, source),
        Predicate::Matches(pattern) => {
            let mut known = source.matched.iter();
            if let Some((_, variable)) = known.find(|(known, _)| known == pattern.text()) {
                return variable.clone();
            }
            let name = &source.attribute;
            format!(
                "messages.matches(\"{name}\", \"{}\")",
                escaped(pattern.text())
            )
        }
    }
}

/// Whether a value is an element.
fn is(element: &Element, source: &Source, ty: Type) -> String {
    let value = &source.value;
    match (element, ty) {
        (Element::Text(text), Type::Text) => {
            let begin = starts_with(text, source);
            format!("({value}_length == {} && {begin})", text.len())
        }
        (Element::Number(number), Type::Number(_) | Type::Time) => format!("{value} == {number}"),
        (Element::Mac(bytes), Type::Mac) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{value} == 0x{digits}")
        }
        (Element::Prefix(IpAddr::V4(address), length), Type::Ipv4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(*length)).unwrap_or(0);
            in_prefix(
                value,
                u32::from(*address).into(),
                mask.into(),
                mask == u32::MAX,
            )
        }
        (Element::Prefix(IpAddr::V6(address), length), Type::Ipv6) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(*length)).unwrap_or(0);
            in_prefix(value, u128::from(*address), mask, mask == u128::MAX)
        }
        // A value of another type is no element.
        _ => "false".into(),
    }
}

/// Whether a text begins with these bytes; its variable has room for them.
fn starts_with(begin: &[u8], source: &Source) -> String {
    let (value, bits) = (&source.value, 8 * begin.len());
    if begin.is_empty() {
        return "true".into();
    }
    let digits: String = begin.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, last) = (source.width - 1, source.width - bits);
    let length = begin.len();
    format!("({value}_length >= {length} && {value}[{first}:{last}] == {bits}w0x{digits})")
}

fn in_prefix(value: &str, address: u128, mask: u128, whole: bool) -> String {
    match whole {
        true => format!("{value} == {address:#x}"),
        false => format!("({value} & {mask:#x}) == {:#x}", address & mask),
    }
}

/// A text as one between quotes in P4.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\0' => out += "\\0",
            _ => out.push(letter),
        }
    }
    out
}
