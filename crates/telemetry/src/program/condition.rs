//! Conditions as P4 expressions.

use super::field::{QuerySources, Source};
use super::p4::{Expr, all, any, number};
use crate::catalogue::Type;
use crate::query::{Condition, Element, Predicate};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the expression that is true if the condition holds.
pub(super) fn expression(condition: &Condition, layout: &QuerySources) -> Expr {
    let expressions = |parts: &[Condition]| -> Vec<Expr> {
        parts.iter().map(|part| expression(part, layout)).collect()
    };
    match condition {
        Condition::All(parts) => all(expressions(parts)),
        Condition::Any(parts) => any(expressions(parts)),
        Condition::Not(part) => expression(part, layout).not(),
        Condition::Test(attribute, predicate) => {
            let source = &layout.sources[*attribute];
            let ty = layout.query.attributes[*attribute].ty;
            let test = test(predicate, source, ty);
            all(source.has.clone().into_iter().chain([test]))
        }
    }
}

fn test(predicate: &Predicate, source: &Source, ty: Type) -> Expr {
    match predicate {
        Predicate::Number(operator, with) => {
            let value = source.value.clone();
            value.binary(operator.symbol(), number(*with))
        }
        Predicate::In(elements) => any(elements.iter().map(|e| is(e, source, ty))),
        Predicate::Not(element) => is(element, source, ty).not(),
        Predicate::StartsWith(begin) if begin.is_empty() => Expr::Bool(true),
        Predicate::StartsWith(begin) => begins(begin, ">=", source),
        Predicate::Matches(pattern) => {
            let mut known = source.matched.iter();
            if let Some((_, found)) = known.find(|(known, _)| known == pattern.text()) {
                return found.clone();
            }
            super::attribute::matches(&source.attribute, pattern.text())
        }
    }
}

/// Tests that a value is an element.
fn is(element: &Element, source: &Source, ty: Type) -> Expr {
    let value = || source.value.clone();
    match (element, ty) {
        (Element::Text(wanted), Type::Text) => begins(wanted, "==", source),
        (Element::Number(wanted), Type::Number(_) | Type::Time) => value().equals(number(*wanted)),
        (Element::Mac(bytes), Type::Mac) => value().equals(Expr::Bytes(bytes.to_vec())),
        (Element::Prefix(IpAddr::V4(address), length), Type::Ipv4) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(*length)).unwrap_or(0);
            in_prefix(value(), &address.octets(), &mask.to_be_bytes())
        }
        (Element::Prefix(IpAddr::V6(address), length), Type::Ipv6) => {
            in_prefix(value(), &address.octets(), &mask(*length).to_be_bytes())
        }
        // An IPv4 address is mapped to IPv6.
        (Element::Prefix(IpAddr::V4(address), length), Type::Address) => {
            let mapped = address.to_ipv6_mapped();
            in_prefix(value(), &mapped.octets(), &mask(96 + length).to_be_bytes())
        }
        (Element::Prefix(IpAddr::V6(address), length), Type::Address) => {
            let is_in = |prefix: Ipv6Addr, length| {
                in_prefix(value(), &prefix.octets(), &mask(length).to_be_bytes())
            };
            let inside = is_in(*address, *length);
            match MAPPED.to_bits() & mask(*length) == address.to_bits() {
                true => all([inside, is_in(MAPPED, 96).not()]),
                false => inside,
            }
        }
        // A value of another type never equals an element.
        _ => Expr::Bool(false),
    }
}

/// Prefix of length 96 to which IPv4 addresses are mapped.
const MAPPED: Ipv6Addr = Ipv4Addr::UNSPECIFIED.to_ipv6_mapped();

fn mask(length: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0)
}

/// Tests that a text begins with these bytes, and compares its length with theirs. The text's variable holds at least
/// as many bytes.
fn begins(bytes: &[u8], operator: &'static str, source: &Source) -> Expr {
    let Some(text) = &source.text else {
        return Expr::Bool(false);
    };
    let length = text.length.clone();
    let length = length.binary(operator, number(bytes.len() as u64));
    if bytes.is_empty() {
        return length;
    }
    let (first, last) = (text.width - 1, text.width - 8 * bytes.len());
    let begin = Expr::Slice(source.value.clone().into(), first, last);
    all([length, begin.equals(Expr::Bytes(bytes.to_vec()))])
}

fn in_prefix(value: Expr, address: &[u8], mask: &[u8]) -> Expr {
    if mask.iter().all(|byte| *byte == u8::MAX) {
        return value.equals(Expr::Bytes(address.to_vec()));
    }
    let network = address.iter().zip(mask).map(|(a, m)| a & m).collect();
    let masked = value.binary("&", Expr::Bytes(mask.to_vec()));
    masked.equals(Expr::Bytes(network))
}
