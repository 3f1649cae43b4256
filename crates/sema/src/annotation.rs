//! Annotations: their values, and the few that the language itself defines.

use crate::checker::Checker;
use crate::errors::{constants, declarations, warnings};
use diag::Span;
use hir::*;
use num_bigint::BigInt;
use smol_str::SmolStr;
use syntax::ast;

/// Returns true if an annotation is about how people or P4Runtime's clients see a value.
pub(crate) fn is_display(annotation: &Annotation) -> bool {
    matches!(&*annotation.name, "format" | "p4runtime_translation")
}

/// Returns the format of a `typedef`'s values by its name: `ip4Addr_t` and the like are addresses.
pub(crate) fn format_by_name(name: &str, ty: &Ty) -> Option<&'static str> {
    let Ty::Bits {
        width,
        signed: false,
    } = ty
    else {
        return None;
    };
    let last = last_word(name);
    let is_address = matches!(&*last, "addr" | "address");
    match (width, &*last) {
        (32, "ipv4" | "ip4" | "ip") => Some("IPV4_ADDRESS"),
        (48, "mac") => Some("MAC_ADDRESS"),
        (128, "ipv6" | "ip6" | "ip") => Some("IPV6_ADDRESS"),
        (32, _) if is_address => Some("IPV4_ADDRESS"),
        (48, _) if is_address => Some("MAC_ADDRESS"),
        (128, _) if is_address => Some("IPV6_ADDRESS"),
        _ => None,
    }
}

/// Returns the last word of a type's name in lower case, without the `t` that types end with: `addr` of `ip4Addr_t` and
/// of `IP_ADDR_T`. A word begins after `_`, or with a capital after a lower-case letter or a digit.
fn last_word(name: &str) -> String {
    let words = name.trim_end_matches('_');
    let words = words
        .strip_suffix("_t")
        .or_else(|| words.strip_suffix("_T"));
    let words = words.unwrap_or(name);
    let last = words.rsplit('_').next().unwrap_or(words);
    let mut before = ' ';
    let mut begins = 0;
    for (at, c) in last.char_indices() {
        if c.is_ascii_uppercase() && (before.is_ascii_lowercase() || before.is_ascii_digit()) {
            begins = at;
        }
        before = c;
    }
    last[begins..].to_ascii_lowercase()
}

impl Checker<'_> {
    /// Checks the annotations of a declaration, and notes `@noWarn` and `@deprecated`. `span` is the whole declaration,
    /// `name` the location of its name.
    pub(crate) fn annotations_of(
        &mut self,
        list: &[ast::Annotation],
        span: Span,
        name: Span,
    ) -> Vec<Annotation> {
        let checked = self.annotations(list);
        for annotation in &checked {
            match annotation.name.as_str() {
                "noWarn" => {
                    if let AnnotationBody::Values(values) = &annotation.body {
                        for value in values {
                            if let ConstValue::String(what) = value {
                                self.silenced.push((span, what.clone()));
                            }
                        }
                    }
                }
                "deprecated" => {
                    let text = match &annotation.body {
                        AnnotationBody::Values(values) => match values.first() {
                            Some(ConstValue::String(text)) => text.clone(),
                            _ => String::new(),
                        },
                        _ => String::new(),
                    };
                    self.deprecated.insert(name, text);
                }
                _ => {}
            }
        }
        checked
    }

    /// Returns the annotations of a declaration with a type. They are its own, then those of the type's `typedef` about
    /// how values are shown, unless its own include the same. Other annotations of a `typedef` are about itself.
    pub(crate) fn with_display(&self, mut own: Vec<Annotation>, ty: &ast::Type) -> Vec<Annotation> {
        if let ast::TypeKind::Name { global, name } = &ty.kind
            && let Some(binding) = self.scopes.lookup(&name.name, *global)
            && let Some(display) = self.display.get(&binding.span)
        {
            for annotation in display {
                if own.iter().all(|known| known.name != annotation.name) {
                    own.push(annotation.clone());
                }
            }
        }
        own
    }

    /// Checks annotations alone.
    pub(crate) fn annotations(&mut self, list: &[ast::Annotation]) -> Vec<Annotation> {
        let mut done: Vec<Annotation> = Vec::with_capacity(list.len());
        for annotation in list {
            let body = match &annotation.body {
                ast::AnnotationBody::None => AnnotationBody::None,
                ast::AnnotationBody::Unstructured(tokens) => unstructured(tokens),
                ast::AnnotationBody::Exprs(exprs) => AnnotationBody::Values(
                    exprs
                        .iter()
                        .filter_map(|e| self.annotation_value(e))
                        .collect(),
                ),
                ast::AnnotationBody::Pairs(pairs) => {
                    let mut values: Vec<(SmolStr, ConstValue)> = Vec::new();
                    for (key, expr) in pairs {
                        if values.iter().any(|(k, _)| *k == key.name) {
                            self.report(declarations::annotation_key_twice(key));
                        }
                        if let Some(value) = self.annotation_value(expr) {
                            values.push((key.name.clone(), value));
                        }
                    }
                    AnnotationBody::Pairs(values)
                }
            };
            let checked = Annotation {
                name: annotation.name.name.clone(),
                body,
                span: annotation.span,
            };
            self.known(&checked, &done);
            // A structured annotation is one value: nothing says how two of them would be merged.
            if let Some(first) = list[..done.len()].iter().find(|earlier| {
                earlier.name.name == annotation.name.name
                    && (is_structured(earlier) || is_structured(annotation))
            }) {
                self.report(declarations::annotation_twice(
                    annotation.span,
                    &annotation.name.name,
                    first.span,
                ));
            }
            done.push(checked);
        }
        done
    }

    /// Checks a value in `@x[...]`: any constant.
    fn annotation_value(&mut self, expr: &ast::Expr) -> Option<ConstValue> {
        let value = self.expr(expr, None);
        match value.kind {
            _ if value.ty == Ty::Poison => None,
            ExprKind::Const(ConstValue::List(_)) | ExprKind::List(_) => {
                self.report(declarations::annotation_list(value.span));
                None
            }
            ExprKind::Const(known) => Some(known),
            _ => {
                self.report(constants::not_constant(
                    value.span,
                    "a value in an annotation",
                ));
                None
            }
        }
    }

    /// Checks the form of an annotation that the specification defines.
    fn known(&mut self, annotation: &Annotation, before: &[Annotation]) {
        let values: &[ConstValue] = match &annotation.body {
            AnnotationBody::Values(values) => values,
            _ => &[],
        };
        let wanted = match annotation.name.as_str() {
            "name" | "deprecated" if !matches!(values, [ConstValue::String(_)]) => {
                "one string, as in `@name(\"a.b\")`"
            }
            "noWarn"
                if values.is_empty()
                    || !values.iter().all(|v| matches!(v, ConstValue::String(_))) =>
            {
                "the name of a warning in quotes, as in `@noWarn(\"unused\")`"
            }
            "hidden" | "tableonly" | "defaultonly" | "optional" | "pure" | "noSideEffects"
            | "isolated" | "atomic" | "rare"
                if !matches!(annotation.body, AnnotationBody::None) =>
            {
                "no arguments"
            }
            "layout" if !matches!(values, [ConstValue::String(_)]) => {
                "the name of a layout in quotes, as in `@layout(\"bit_vectors\")`"
            }
            "field_list" if values.is_empty() || !values.iter().all(is_list_number) => {
                "the numbers of lists from 0 to 255, as in `@field_list(1, 2)`"
            }
            "priority" if !matches!(values, [ConstValue::Int(_)]) => {
                "one number, as in `@priority(10)`"
            }
            "pkginfo" if !is_package_info(&annotation.body) => {
                "keys with values, as in `@pkginfo(name=\"a\", version=\"1\")`"
            }
            "p4runtime_translation" if !is_translation(&annotation.body) => {
                "a URI and a type that P4Runtime has, as in `@p4runtime_translation(\"a/port\", 32)`, `bit<32>` or `string`"
            }
            "name" => {
                if let Some(first) = before.iter().find(|a| a.name == "name") {
                    self.report(warnings::second_name(annotation.span, first.span));
                }
                return;
            }
            _ => return,
        };
        self.report(declarations::annotation_form(
            annotation.span,
            &annotation.name,
            wanted,
        ));
    }
}

fn is_structured(annotation: &ast::Annotation) -> bool {
    matches!(
        annotation.body,
        ast::AnnotationBody::Exprs(_) | ast::AnnotationBody::Pairs(_)
    ) && annotation.name.name != "field_list"
}

/// True for `key=value, key=value`, as P4Runtime requires in `@pkginfo`.
fn is_package_info(body: &AnnotationBody) -> bool {
    let tokens = match body {
        AnnotationBody::Pairs(_) => return true,
        AnnotationBody::Tokens(tokens) => tokens,
        AnnotationBody::None | AnnotationBody::Values(_) => return false,
    };
    tokens
        .split(|token| token == ",")
        .all(|pair| matches!(pair, [_, equals, value] if equals == "=" && value.starts_with('"')))
}

/// True for a URI and the representation of the type for P4Runtime's clients: a number of bits, `bit<W>` or `string`.
fn is_translation(body: &AnnotationBody) -> bool {
    match body {
        AnnotationBody::Values(values) => {
            matches!(&values[..], [ConstValue::String(_), ConstValue::Int(_)])
        }
        AnnotationBody::Tokens(tokens) => match &tokens[..] {
            [uri, comma, rest @ ..] if uri.starts_with('"') && comma == "," => match rest {
                [word] => word == "string" || word == "bit",
                [bit, open, .., close] => bit == "bit" && open == "<" && close == ">",
                _ => false,
            },
            _ => false,
        },
        AnnotationBody::None | AnnotationBody::Pairs(_) => false,
    }
}

/// Returns true for the number of a field list, a `bit<8>`.
fn is_list_number(value: &ConstValue) -> bool {
    matches!(value, ConstValue::Int(number) if u8::try_from(number).is_ok())
}

/// Parses the tokens of `@x(tokens)`. Values are numbers and strings, also several strings joined by `++`, separated by
/// commas.
fn unstructured(tokens: &[SmolStr]) -> AnnotationBody {
    let values: Option<Vec<ConstValue>> = tokens.split(|token| token == ",").map(value).collect();
    match values {
        Some(values) => AnnotationBody::Values(values),
        None => AnnotationBody::Tokens(tokens.to_vec()),
    }
}

fn value(tokens: &[SmolStr]) -> Option<ConstValue> {
    if let [only] = tokens {
        return literal(only);
    }
    let mut joined = String::new();
    for part in tokens.split(|token| token == "++") {
        match part {
            [text] if text.starts_with('"') => joined += &syntax::string_value(text),
            _ => return None,
        }
    }
    Some(ConstValue::String(joined))
}

fn literal(token: &str) -> Option<ConstValue> {
    if token.starts_with('"') {
        return Some(ConstValue::String(syntax::string_value(token)));
    }
    let clean: String = token
        .chars()
        .filter(|c| *c != '_')
        .collect::<String>()
        .to_ascii_lowercase();
    let (radix, digits) = match clean.get(..2) {
        Some("0x") => (16, &clean[2..]),
        Some("0b") => (2, &clean[2..]),
        Some("0o") => (8, &clean[2..]),
        Some("0d") => (10, &clean[2..]),
        _ => (10, clean.as_str()),
    };
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    BigInt::parse_bytes(digits.as_bytes(), radix).map(ConstValue::Int)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_become_values_where_they_are_values() {
        let tokens =
            |list: &[&str]| unstructured(&list.iter().map(SmolStr::new).collect::<Vec<_>>());
        assert!(
            matches!(tokens(&["\"a.b\""]), AnnotationBody::Values(v) if v == [ConstValue::String("a.b".into())])
        );
        assert!(matches!(tokens(&["0x10", ",", "2"]), AnnotationBody::Values(v) if v.len() == 2));
        assert!(matches!(
            tokens(&["a", "+", "b"]),
            AnnotationBody::Tokens(_)
        ));
        assert!(matches!(tokens(&["1", "2"]), AnnotationBody::Tokens(_)));
        assert!(matches!(
            tokens(&["1", "++", "2"]),
            AnnotationBody::Tokens(_)
        ));
        assert!(matches!(tokens(&["1", ","]), AnnotationBody::Tokens(_)));
        assert!(matches!(tokens(&[]), AnnotationBody::Tokens(_)));
        assert!(matches!(
            tokens(&["\"a\"", "++"]),
            AnnotationBody::Tokens(_)
        ));
        assert!(matches!(tokens(&["\"a\"", "b"]), AnnotationBody::Tokens(_)));
        assert!(
            matches!(tokens(&["\"a\"", "++", "\".b\"", ",", "3"]), AnnotationBody::Values(v)
                if v == [ConstValue::String("a.b".into()), ConstValue::Int(3.into())])
        );
    }
}
