//! Semantic check: names to attributes, literals to values, and a syntax tree to a [`Query`].

use crate::ast::{self, Call, Constant, Literal, Name, Test, Tree};
use crate::catalogue::{Attribute, Catalogue, RESPONSE_TIME, Type};
use crate::errors::meaning;
use crate::query::{
    Aggregate, By, Compared, Condition, Element, Function, Operator, Order, Predicate, Query,
};
use crate::{MAX_AGGREGATES, MAX_KEYS};
use diag::{Diagnostic, Diagnostics, Span};
use payload::{Pattern, PatternError};
use std::net::IpAddr;

/// Greatest number of values that `top` finds.
pub(crate) const MAX_TOP: usize = 1000;

/// Checks a query. All errors are reported.
pub(crate) fn check(tree: Tree, catalogue: &Catalogue) -> Result<Query, Diagnostics> {
    let mut checker = Checker {
        catalogue,
        attributes: Vec::new(),
        texts: Vec::new(),
        kind: None,
        diagnostics: Diagnostics::new(),
    };
    let aggregates = checker.aggregates(&tree.aggregates);
    let keys = checker.keys(&tree.keys);
    let condition = tree.condition.as_ref().map(|c| checker.condition(c));
    let order = tree
        .order
        .as_ref()
        .and_then(|order| checker.order(order, &tree));
    let most = tree.most.and_then(|most| checker.most(most, &tree));
    if !checker.diagnostics.is_empty() {
        return Err(checker.diagnostics);
    }
    Ok(Query {
        attributes: checker.attributes,
        texts: checker.texts,
        kind: checker.kind.map(|(kind, ..)| kind),
        keys,
        aggregates,
        condition: condition.flatten(),
        order: order.unwrap_or_default(),
        most,
    })
}

struct Checker<'c> {
    catalogue: &'c Catalogue<'c>,
    attributes: Vec<Attribute>,
    texts: Vec<Compared>,
    /// Kind of message, with the attribute that named it first, and its location.
    kind: Option<(usize, String, Span)>,
    diagnostics: Diagnostics,
}

/// A part with errors is `None`: they have been reported.
impl Checker<'_> {
    fn refuse<T>(&mut self, diagnostic: Box<Diagnostic>) -> Option<T> {
        self.diagnostics.append(diagnostic.into());
        None
    }

    fn aggregates(&mut self, calls: &[Call]) -> Vec<Aggregate> {
        let mut aggregates: Vec<(Aggregate, Span)> = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            if index == MAX_AGGREGATES {
                let help = "make two queries";
                let many = meaning::too_many(call.span, "aggregates", MAX_AGGREGATES, help);
                self.diagnostics.push(*many);
                break;
            }
            let Some(aggregate) = self.aggregate(call) else {
                continue;
            };
            match aggregates.iter().find(|(a, _)| a.label == aggregate.label) {
                Some((_, first)) => {
                    let twice = meaning::twice(call.span, &aggregate.label, *first);
                    self.diagnostics.push(*twice);
                }
                None => aggregates.push((aggregate, call.span)),
            }
        }
        aggregates.into_iter().map(|(a, _)| a).collect()
    }

    fn aggregate(&mut self, call: &Call) -> Option<Aggregate> {
        if let Some((number, span)) = call.number
            && !(1..=MAX_TOP as u64).contains(&number)
        {
            return self.refuse(meaning::top_number(span, MAX_TOP));
        }
        let attribute = match &call.attribute {
            Some(name) => Some((self.attribute(name)?, name)),
            None => None,
        };
        if let Some((index, name)) = attribute
            && ["distinct", "top"].contains(&call.function)
            && self.attributes[index].ty == Type::Time
        {
            return self.refuse(meaning::time_as_key(name.span, &name.text));
        }
        if let Some((index, name)) = attribute
            && !["distinct", "top"].contains(&call.function)
        {
            let ty = self.attributes[index].ty;
            if !ty.is_number() {
                let wrong = meaning::not_a_number(name.span, call.function, &name.text, ty);
                return self.refuse(wrong);
            }
        }
        let number = call.number.map_or(0, |(number, _)| number as usize);
        let index = attribute.map(|(index, _)| index);
        let function = match (call.function, index) {
            ("count", _) => Function::Count,
            ("bytes", _) => Function::Bytes,
            ("rate", index) => Function::Rate(index),
            ("sum", Some(x)) => Function::Sum(x),
            ("min", Some(x)) => Function::Min(x),
            ("max", Some(x)) => Function::Max(x),
            ("mean", Some(x)) => Function::Mean(x),
            ("distinct", Some(x)) => Function::Distinct(x),
            ("top", Some(x)) => Function::Top(number, x),
            (_, index) => Function::Histogram(index?),
        };
        let label = call.label();
        Some(Aggregate { function, label })
    }

    /// Resolves the query's order to one of its aggregates or keys.
    fn order(&mut self, order: &ast::Order, tree: &Tree) -> Option<Order> {
        let (span, written, found) = match &order.by {
            ast::By::Aggregate(call) => {
                let label = call.label();
                let at = tree.aggregates.iter().position(|a| a.label() == label);
                (call.span, label, at.map(By::Aggregate))
            }
            ast::By::Key(name) => {
                let at = tree.keys.iter().position(|key| key.text == name.text);
                (name.span, name.text.clone(), at.map(By::Key))
            }
        };
        let Some(by) = found else {
            let aggregates = tree.aggregates.iter().map(Call::label);
            let keys = tree.keys.iter().map(|key| key.text.clone());
            let known: Vec<String> = aggregates.chain(keys).collect();
            return self.refuse(meaning::order_by_other(span, &written, &known));
        };
        if tree.keys.is_empty() {
            return self.refuse(meaning::one_group(span, "order by"));
        }
        Some(Order {
            by,
            descending: order.descending.unwrap_or(matches!(by, By::Aggregate(_))),
        })
    }

    /// Checks the number of groups that are shown.
    fn most(&mut self, (most, span): (u64, Span), tree: &Tree) -> Option<usize> {
        match most {
            _ if tree.keys.is_empty() => self.refuse(meaning::one_group(span, "top")),
            0 => self.refuse(meaning::no_groups(span)),
            most => Some(usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }

    fn keys(&mut self, names: &[Name]) -> Vec<usize> {
        let mut keys: Vec<(usize, Span)> = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if index == MAX_KEYS {
                let help = "`flow` is a key that has addresses, protocol and ports";
                let many = meaning::too_many(name.span, "keys", MAX_KEYS, help);
                self.diagnostics.push(*many);
                break;
            }
            let Some(key) = self.attribute(name) else {
                continue;
            };
            if self.attributes[key].ty == Type::Time {
                self.diagnostics
                    .push(*meaning::time_as_key(name.span, &name.text));
                continue;
            }
            let is_several = |key: usize| self.attributes[key].several;
            let mut others = keys.iter().filter(|(known, _)| *known != key);
            if is_several(key)
                && let Some((other, first)) = others.find(|(known, _)| is_several(*known))
            {
                let other = (self.attributes[*other].name.as_str(), *first);
                let two = meaning::two_several(name.span, &name.text, other);
                self.diagnostics.push(*two);
                continue;
            }
            match keys.iter().find(|(known, _)| *known == key) {
                Some((_, first)) => {
                    let twice = meaning::twice(name.span, &name.text, *first);
                    self.diagnostics.push(*twice);
                }
                None => keys.push((key, name.span)),
            }
        }
        keys.into_iter().map(|(key, _)| key).collect()
    }

    /// Returns the attribute's index in the query; adds it on first use.
    fn attribute(&mut self, name: &Name) -> Option<usize> {
        let known = self.attributes.iter().position(|a| a.name == name.text);
        if known.is_some() {
            return known;
        }
        let Some((attribute, kind)) = self.catalogue.find(&name.text, name.span) else {
            let unknown = meaning::unknown_attribute(name.span, &name.text, self.catalogue);
            let unknown = self.catalogue.unpaired(&name.text).map_or(unknown, |kind| {
                let known = self.catalogue.names().into_iter();
                let others: Vec<String> = known.filter(|n| n.ends_with(RESPONSE_TIME)).collect();
                let own = self.catalogue.names_in(kind);
                meaning::no_exchange(name.span, &name.text, kind, &own, &others)
            });
            return self.refuse(unknown);
        };
        if let Some(kind) = kind {
            match &self.kind {
                Some((other, first, at)) if *other != kind => {
                    let two = meaning::two_kinds(name.span, &name.text, (first, *at));
                    return self.refuse(two);
                }
                Some(_) => {}
                None => self.kind = Some((kind, name.text.clone(), name.span)),
            }
        }
        self.attributes.push(attribute);
        Some(self.attributes.len() - 1)
    }

    fn condition(&mut self, condition: &ast::Condition) -> Option<Condition> {
        let mut all = |parts: &[ast::Condition]| {
            // Every part is checked, so that all errors are reported.
            let parts: Vec<Option<Condition>> = parts.iter().map(|c| self.condition(c)).collect();
            parts.into_iter().collect::<Option<Vec<Condition>>>()
        };
        match condition {
            ast::Condition::All(parts) => all(parts).map(Condition::All),
            ast::Condition::Any(parts) => all(parts).map(Condition::Any),
            ast::Condition::Not(inside) => {
                let inside = self.condition(inside)?;
                Some(Condition::Not(Box::new(inside)))
            }
            ast::Condition::Test(name, test) => {
                let index = self.attribute(name)?;
                let ty = self.attributes[index].ty;
                if ty == Type::Flow {
                    return self.refuse(meaning::flow_compared(name.span));
                }
                let predicate = self.predicate(&name.text, ty, test)?;
                for literal in test.literals() {
                    if let Constant::Text(text) = &literal.value {
                        self.texts.push(Compared {
                            attribute: index,
                            bytes: text.len(),
                            at: literal.span,
                        });
                    }
                }
                Some(Condition::Test(index, predicate))
            }
        }
    }

    fn predicate(&mut self, name: &str, ty: Type, test: &Test) -> Option<Predicate> {
        match test {
            Test::Compare(operator, at, literal) => {
                let equal = *operator == Operator::Equal;
                if !equal && *operator != Operator::NotEqual && !ty.is_number() {
                    let symbol = operator.symbol();
                    return self.refuse(meaning::other_operator(*at, symbol, name, ty));
                }
                let element = self.element(name, ty, literal)?;
                if let Constant::Address(_, Some(_)) = literal.value {
                    let (at, written) = (literal.span, &literal.written);
                    return self.refuse(meaning::prefix_compared(at, name, written, equal));
                }
                Some(match element {
                    Element::Number(number) => Predicate::Number(*operator, number),
                    element if equal => Predicate::In(vec![element]),
                    element => Predicate::Not(element),
                })
            }
            Test::In(literals) => {
                let elements: Vec<Option<Element>> = literals
                    .iter()
                    .map(|literal| self.element(name, ty, literal))
                    .collect();
                let elements: Option<Vec<Element>> = elements.into_iter().collect();
                Some(Predicate::In(elements?))
            }
            Test::StartsWith(at, literal) => {
                if ty != Type::Text {
                    return self.refuse(meaning::other_operator(*at, "starts with", name, ty));
                }
                match self.element(name, ty, literal)? {
                    Element::Text(text) => Some(Predicate::StartsWith(text)),
                    _ => None,
                }
            }
            Test::Matches(at, text, inside) => {
                if ty != Type::Text {
                    return self.refuse(meaning::other_operator(*at, "~", name, ty));
                }
                match Pattern::new(text) {
                    Ok(pattern) => Some(Predicate::Matches(pattern)),
                    Err(error) => self.refuse(pattern_error(error, *inside)),
                }
            }
        }
    }

    /// Converts a literal to a value of the attribute's type.
    fn element(&mut self, name: &str, ty: Type, literal: &Literal) -> Option<Element> {
        let at = literal.span;
        match (&literal.value, ty) {
            (Constant::Number(number), Type::Number(_)) if *number <= ty.greatest() => {
                Some(Element::Number(*number))
            }
            (Constant::Number(number), Type::Number(_)) => {
                self.refuse(meaning::out_of_range(at, name, ty, *number))
            }
            (Constant::Time(time), Type::Time) => Some(Element::Number(*time)),
            (Constant::Text(text), Type::Text) => Some(Element::Text(text.clone())),
            (Constant::Mac(bytes), Type::Mac) => Some(Element::Mac(*bytes)),
            (Constant::Address(address @ IpAddr::V4(_), length), Type::Ipv4)
            | (Constant::Address(address @ IpAddr::V6(_), length), Type::Ipv6)
            | (Constant::Address(address, length), Type::Address) => {
                let bits = length.unwrap_or(if address.is_ipv4() { 32 } else { 128 });
                let (address, bits) = match (ty, address.to_canonical()) {
                    (Type::Address, four @ IpAddr::V4(_)) if address.is_ipv6() && bits >= 96 => {
                        (four, bits - 96)
                    }
                    _ => (*address, bits),
                };
                let prefix = masked(address, bits);
                if prefix != address {
                    let right = format!("{prefix}/{bits}");
                    return self.refuse(meaning::prefix_bits(at, &literal.written, &right));
                }
                Some(Element::Prefix(prefix, bits))
            }
            (Constant::Name(word), _) => {
                let is_attribute = self.catalogue.find(word, at).is_some();
                let named = meaning::name_for_value(at, word, name, ty, is_attribute);
                self.refuse(named)
            }
            (value, _) => self.refuse(meaning::other_type(at, name, ty, value.kind())),
        }
    }
}

/// Returns the address with all but the first `bits` bits cleared.
pub(crate) fn masked(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits)).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

/// Builds the diagnostic for a pattern; `inside` is its span between the quotes.
fn pattern_error(error: PatternError, inside: Span) -> Box<Diagnostic> {
    match error {
        PatternError::Syntax(what, at) => {
            let lo = inside.lo + at.start as u32;
            let hi = (inside.lo + at.end as u32).max(lo + 1);
            meaning::pattern_syntax(Span { lo, hi }, &what)
        }
        PatternError::TooLarge => meaning::pattern_too_large(inside),
        PatternError::NoAutomaton(what) => meaning::pattern_without_automaton(inside, &what),
    }
}
