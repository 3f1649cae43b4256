//! Resolution of a name against a schema: the fields whose values it stands for, and their kind.

use crate::{
    Attribute, CaseKey, Contents, Extent, FieldId, LayoutId, MessageField, Schema, Traits, Which,
};
use diag::nearest;
use std::ops::RangeInclusive;

/// The values that a name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The name, as in [`crate::Found::name`].
    pub name: String,
    /// Kind of the values.
    pub kind: AttributeKind,
    /// Fields that hold the values.
    pub sites: Vec<Site>,
    /// Their particulars.
    pub traits: Traits,
}

/// Kind of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttributeKind {
    /// Whole number.
    Number {
        /// Number of bits that hold every such number.
        bits: u32,
        /// True if it may be negative.
        signed: bool,
    },
    /// Bytes as they stand in the message.
    Bytes,
    /// A DNS name, as text.
    DnsName,
}

/// A field, and a restriction to some of its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// The layout.
    pub layout: LayoutId,
    /// The field.
    pub field: FieldId,
    /// Restriction to instances of the layout with a key or an index, or to members of the field.
    pub only: Only,
}

/// Restriction of a name to some instances of a layout, or to members of a document in a field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Only {
    /// All instances.
    All,
    /// Instances with this key.
    Key(CaseKey),
    /// Instance with this index in its repetition, from 0.
    Index(usize),
    /// Members of this path in the field's document, rather than the field itself.
    Member(String),
}

/// Reason why a name does not resolve.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unasked {
    /// No attribute has this name. Holds a similar one, if there is one.
    Unknown(Option<String>),
    /// The text in place of an attribute's `*` is not a key of its layout.
    Key {
        /// The attribute's name.
        attribute: String,
        /// Description of the keys that are accepted.
        keys: String,
    },
    /// The name stands for many attributes, one of which must be named.
    Many,
    /// Several attributes of different kinds have the name.
    Mixed,
}

impl Schema {
    /// Resolves a name: that of an attribute, or of a wildcard attribute with a key in place of its `*`.
    pub fn asked(&self, name: &str) -> Result<Asked, Unasked> {
        let mut sites = Vec::new();
        let mut kinds = Vec::new();
        let mut traits = Traits::default();
        for attribute in &self.attributes {
            if let Some(only) = self.only(attribute, name) {
                let (layout, field) = (attribute.layout, attribute.field);
                traits.clone_from(&attribute.traits);
                kinds.push(kind(&self.layouts[layout].fields[field]));
                sites.push(Site {
                    layout,
                    field,
                    only,
                });
            }
        }
        match kinds.first() {
            _ if name.ends_with('*') && self.attributes.iter().any(|a| a.name == name) => {
                Err(Unasked::Many)
            }
            None => Err(self.unknown(name)),
            Some(kind) if kinds.iter().any(|other| other != kind) => Err(Unasked::Mixed),
            Some(&kind) => Ok(Asked {
                name: name.to_string(),
                kind,
                sites,
                traits,
            }),
        }
    }

    /// Returns the instances of the layout to which a name restricts an attribute; `None` if it does not name the
    /// attribute.
    pub(crate) fn only(&self, attribute: &Attribute, name: &str) -> Option<Only> {
        let is_named = attribute.name == name;
        match &attribute.which {
            Which::All => is_named.then_some(Only::All),
            Which::Key(key) => is_named.then(|| Only::Key(key.clone())),
            Which::Index(index) => is_named.then_some(Only::Index(*index)),
            Which::AnyKey => {
                let text = name.strip_prefix(attribute.name.trim_end_matches('*'))?;
                self.key_named(attribute.layout, text).map(Only::Key)
            }
            Which::Member(path) => is_named.then(|| Only::Member(path.clone())),
            Which::AnyMember => {
                let path = name.strip_prefix(attribute.name.trim_end_matches('*'))?;
                self.is_path(attribute, path)
                    .then(|| Only::Member(path.to_owned()))
            }
        }
    }

    /// Returns true if `path` may be a member's. In XML, a path ends in the name of an attribute.
    fn is_path(&self, attribute: &Attribute, path: &str) -> bool {
        let field = &self.layouts[attribute.layout].fields[attribute.field];
        match field.contents {
            Contents::Xml => path
                .rsplit_once("/@")
                .is_some_and(|(elements, name)| !elements.is_empty() && !name.is_empty()),
            _ => !path.is_empty(),
        }
    }

    /// Returns the key of a layout whose text is `text`. The text of a case-insensitive key has no capital letters.
    fn key_named(&self, layout: LayoutId, text: &str) -> Option<CaseKey> {
        let layout = &self.layouts[layout];
        let key = layout.key?;
        let field = &layout.fields[key.field];
        if let AttributeKind::Number { .. } = kind(field) {
            let number: i128 = text.parse().ok()?;
            let is_one = number.to_string() == text && numbers(field).contains(&number);
            return is_one.then_some(CaseKey::Number(number));
        }
        let is_plain = text.is_ascii() && !text.is_empty();
        let fits = is_plain && !(key.ignore_case && text.bytes().any(|b| b.is_ascii_uppercase()));
        fits.then(|| CaseKey::Bytes(text.as_bytes().to_vec()))
    }

    /// Explains why a name does not resolve.
    fn unknown(&self, name: &str) -> Unasked {
        let lower = name.to_ascii_lowercase();
        let found = |attribute: &Attribute| self.only(attribute, &lower).is_some();
        if lower != name && self.attributes.iter().any(found) {
            return Unasked::Unknown(Some(lower));
        }
        let of_many = |attribute: &&Attribute| {
            let prefix = attribute.name.strip_suffix('*');
            let key = prefix.and_then(|prefix| name.strip_prefix(prefix));
            key.is_some_and(|key| !key.is_empty())
        };
        if let Some(attribute) = self.attributes.iter().find(of_many) {
            return Unasked::Key {
                attribute: attribute.name.clone(),
                keys: self.keys_of(attribute),
            };
        }
        let names = self.attributes.iter().map(|a| a.name.as_str());
        Unasked::Unknown(nearest(name, names).map(String::from))
    }

    /// Describes the keys that may replace an attribute's `*`.
    fn keys_of(&self, attribute: &Attribute) -> String {
        if attribute.which == Which::AnyMember {
            return "a path, such as order/item/@id in XML".into();
        }
        let layout = &self.layouts[attribute.layout];
        let field = layout.key.map(|key| &layout.fields[key.field]);
        match field.map(|field| (kind(field), numbers(field))) {
            Some((AttributeKind::Number { .. }, numbers)) => {
                format!("a number from {} to {}", numbers.start(), numbers.end())
            }
            _ => "a text of ASCII".into(),
        }
    }
}

/// Returns the range of numbers that a field can hold.
pub(crate) fn numbers(field: &MessageField) -> RangeInclusive<i128> {
    match kind(field) {
        AttributeKind::Number {
            bits,
            signed: false,
        } => 0..=(1 << bits.min(64)) - 1,
        _ => i64::MIN.into()..=i64::MAX.into(),
    }
}

/// Returns the kind of a field's values.
pub(crate) fn kind(field: &MessageField) -> AttributeKind {
    let number = |bits| AttributeKind::Number {
        bits,
        signed: false,
    };
    match (&field.contents, &field.extent) {
        (_, Extent::Bits(bits)) => number(*bits),
        // Seven bits of each of four bytes.
        (_, Extent::Varint) => number(28),
        (_, Extent::DnsName) => AttributeKind::DnsName,
        (Contents::Number { .. }, Extent::Size(bytes)) => number(8 * *bytes as u32),
        (Contents::Number { .. }, _) => number(64),
        (Contents::Decimal, extent) => {
            let signed = field.chars.as_ref().is_none_or(|c| c.contains(b'-'));
            match extent {
                Extent::Size(digits @ 1..=18) if !signed => {
                    number((10u64.pow(*digits as u32) - 1).ilog2() + 1)
                }
                _ => AttributeKind::Number { bits: 64, signed },
            }
        }
        _ => AttributeKind::Bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::Builtin;

    fn asked(message: &str, name: &str) -> Result<Asked, Unasked> {
        let schema = Builtin::named(message).and_then(|b| b.schema().ok());
        schema.expect("a built-in message").asked(name)
    }

    fn kind_of(message: &str, name: &str) -> AttributeKind {
        asked(message, name).expect("an attribute").kind
    }

    #[test]
    fn numbers_have_the_bits_that_they_need() {
        let number = |bits, signed| AttributeKind::Number { bits, signed };
        assert_eq!(kind_of("dns", "response"), number(1, false));
        assert_eq!(kind_of("dns", "id"), number(16, false));
        assert_eq!(kind_of("http", "status"), number(10, false));
        assert_eq!(kind_of("redis", "integer"), number(64, true));
        assert_eq!(kind_of("pfcp", "seid"), number(64, false));
        assert_eq!(kind_of("dns", "qname"), AttributeKind::DnsName);
        assert_eq!(kind_of("http", "host"), AttributeKind::Bytes);
    }

    #[test]
    fn a_name_that_stands_for_many_takes_a_key() {
        let only = |message, name| {
            asked(message, name).expect("an attribute").sites[0]
                .only
                .clone()
        };
        let bytes = |text: &str| Only::Key(CaseKey::Bytes(text.into()));
        assert_eq!(only("http", "header.accept"), bytes("accept"));
        assert_eq!(only("http", "query.Q"), bytes("Q"));
        assert_eq!(only("tls", "extension.16"), Only::Key(CaseKey::Number(16)));
        assert_eq!(asked("http", "header.*"), Err(Unasked::Many));
    }

    #[test]
    fn members_of_documents_have_paths() {
        let only = |message, name| Some(asked(message, name).ok()?.sites[0].only.clone());
        let member = |path: &str| Some(Only::Member(path.to_string()));
        assert_eq!(only("json", "user.tags[0]"), member("user.tags[0]"));
        assert_eq!(only("xml", "order/item/@id"), member("order/item/@id"));
        assert_eq!(only("xml", "order/item"), None);
        assert_eq!(only("xml", "/@id"), None);
        assert_eq!(asked("json", "*"), Err(Unasked::Many));
    }

    #[test]
    fn what_no_message_has_is_unknown() {
        let unknown = |name: Option<&str>| Err(Unasked::Unknown(name.map(String::from)));
        assert_eq!(asked("http", "hots"), unknown(Some("host")));
        assert_eq!(
            asked("http", "header.Accept"),
            unknown(Some("header.accept"))
        );
        assert_eq!(asked("http", "colour"), unknown(None));
    }

    #[test]
    fn keys_are_numbers_that_their_field_has_room_for() {
        let wrong = |message, name: &str| match asked(message, name) {
            Err(Unasked::Key { attribute, keys }) => format!("{attribute}: {keys}"),
            other => panic!("{name}: {other:?}"),
        };
        let numbers = "extension.*: a number from 0 to 65535";
        for name in ["65536", "-1", "016", "sni"] {
            assert_eq!(wrong("tls", &format!("extension.{name}")), numbers);
        }
        assert_eq!(wrong("http", "header.\u{e9}"), "header.*: a text of ASCII");
        assert!(asked("tls", "extension.65535").is_ok());
        let path = "*: a path, such as order/item/@id in XML";
        assert_eq!(wrong("xml", "order.item"), path);
    }
}
