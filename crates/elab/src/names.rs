//! Control-plane names and annotations.

use crate::storage::join;
use crate::{Elab, errors};
use diag::Span;
use hir::{Annotation, AnnotationBody, ConstValue};
use p4runtime::Prefix;
use smol_str::{SmolStr, format_smolstr};

/// Kind of an object that the control plane finds by name. Objects of different kinds may share a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum NamedKind {
    Table,
    Action,
    ValueSet,
    /// An extern object, by the word that its type shares with others of its kind.
    Extern(&'static str),
}

impl NamedKind {
    /// Returns the kind of an extern's objects; `None` if the control plane does not access them.
    pub(crate) fn of_extern(ty: &str) -> Option<NamedKind> {
        let ty = ty.to_ascii_lowercase();
        [
            "counter",
            "register",
            "meter",
            "action_profile",
            "action_selector",
        ]
        .into_iter()
        .find(|word| ty.contains(word))
        .map(NamedKind::Extern)
    }

    /// Returns the prefix of its P4Runtime ids; `None` for extern objects, whose prefix [`Prefix::of_extern`]
    /// returns.
    fn prefix(self) -> Option<Prefix> {
        match self {
            NamedKind::Table => Some(Prefix::Table),
            NamedKind::Action => Some(Prefix::Action),
            NamedKind::ValueSet => Some(Prefix::ValueSet),
            NamedKind::Extern(_) => None,
        }
    }

    /// Returns the word for it in messages.
    fn word(self) -> &'static str {
        match self {
            NamedKind::Table => "table",
            NamedKind::Action => "action",
            NamedKind::ValueSet => "value set",
            NamedKind::Extern(word) => word,
        }
    }
}

impl Elab<'_> {
    /// Takes a control-plane name for a declaration. Reports it if another declaration of its kind has the name. A
    /// declaration may be visited again: an action is built again for each set of bound arguments. A declaration
    /// with `@hidden` has no name for the control plane.
    pub(crate) fn claim_name(
        &mut self,
        kind: NamedKind,
        name: &SmolStr,
        annotations: &[Annotation],
        span: Span,
    ) {
        if has(annotations, "hidden") {
            return;
        }
        if let Some(prefix) = kind.prefix() {
            self.check_id(prefix, annotations, span);
        }
        let holders = self.names.entry((kind, name.clone())).or_default();
        if holders.contains(&span) {
            return;
        }
        if let Some(&first) = holders.first() {
            self.diagnostics
                .push(errors::same_name(span, kind.word(), name, first));
        }
        holders.push(span);
    }
}

/// Returns the fully qualified control-plane name of something declared in `path`. `@name` replaces its own name,
/// or, with a leading dot, the entire name.
pub(crate) fn control_plane(path: &str, name: &str, annotations: &[Annotation]) -> SmolStr {
    match given_name(annotations) {
        Some(given) => match given.strip_prefix('.') {
            Some(absolute) => absolute.into(),
            None => join(path, given),
        },
        None => join(path, name),
    }
}

/// Returns the name in `@name("...")`.
fn given_name(annotations: &[Annotation]) -> Option<&str> {
    annotations.iter().find_map(|a| match &a.body {
        AnnotationBody::Values(values) if a.name == "name" => match &values[..] {
            [ConstValue::String(name)] => Some(name.as_str()),
            _ => None,
        },
        _ => None,
    })
}

/// Returns true if there is an annotation with this name.
pub(crate) fn has(annotations: &[Annotation], name: &str) -> bool {
    annotations.iter().any(|a| a.name == name)
}

/// Returns annotations as the IR keeps them, without `@name`, which is already applied.
pub(crate) fn keep(annotations: &[Annotation]) -> Vec<ir::Annotation> {
    annotations
        .iter()
        .filter(|a| a.name != "name")
        .map(|a| ir::Annotation {
            name: a.name.clone(),
            values: match &a.body {
                AnnotationBody::None => Vec::new(),
                AnnotationBody::Tokens(tokens) => tokens.clone(),
                AnnotationBody::Values(values) => values.iter().map(text).collect(),
                AnnotationBody::Pairs(pairs) => pairs
                    .iter()
                    .map(|(key, value)| format_smolstr!("{key}={}", text(value)))
                    .collect(),
            },
        })
        .collect()
}

fn text(value: &ConstValue) -> SmolStr {
    match value {
        ConstValue::Bool(v) => format_smolstr!("{v}"),
        ConstValue::Int(v) => format_smolstr!("{v}"),
        ConstValue::String(v) => v.into(),
        ConstValue::Error(v) | ConstValue::Enum(v) | ConstValue::MatchKind(v) => {
            format_smolstr!("{v}")
        }
        ConstValue::List(values) => values
            .iter()
            .map(|v| text(v).to_string())
            .collect::<Vec<_>>()
            .join(",")
            .into(),
        ConstValue::InvalidHeader => "{#}".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> [Annotation; 1] {
        [Annotation {
            name: "name".into(),
            body: AnnotationBody::Values(vec![ConstValue::String(name.into())]),
            span: Span::NONE,
        }]
    }

    #[test]
    fn a_name_annotation_replaces_the_own_name_and_with_a_dot_all_of_it() {
        assert_eq!(control_plane("ingress.acl", "t", &[]), "ingress.acl.t");
        assert_eq!(
            control_plane("ingress.acl", "t", &named("filter")),
            "ingress.acl.filter"
        );
        assert_eq!(
            control_plane("ingress.acl", "t", &named(".filter")),
            "filter"
        );
        assert_eq!(control_plane("", "NoAction", &[]), "NoAction");
    }
}
