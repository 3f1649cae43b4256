//! Scalars that the control plane can name.

use crate::{Annotation, Bits, Type};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Scalar: a key, a parameter of an action, or a member of a struct that is a register's element or a flow's key.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Field {
    /// P4Runtime id among its siblings: the id given by `@id`, or its position, counted from 1.
    pub id: u32,
    /// Control-plane name; dotted if the scalar is a member of a struct.
    pub name: SmolStr,
    /// Its type.
    pub ty: Type,
    /// Name of the `type` or serializable `enum` in its declaration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<SmolStr>,
    /// Text format of its values, if its declaration gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// `@p4runtime_translation` of its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation: Option<Translation>,
    /// True if it is an action's parameter that the action assigns to the output port.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub port: bool,
    /// All annotations: its own, then those of its type.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotations: Vec<Annotation>,
}

impl Field {
    /// Returns a scalar with id 1, this name and this type, without annotations.
    pub fn new(name: &str, ty: Type) -> Field {
        Field {
            id: 1,
            name: name.into(),
            ty,
            type_name: None,
            format: None,
            translation: None,
            port: false,
            annotations: Vec::new(),
        }
    }
}

/// Text format of a value, given by `@format(...)` before a key, parameter, field, `type` or `typedef`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Format {
    /// `IPV4_ADDRESS`: `10.0.0.1`. 32 bits.
    Ipv4Address,
    /// `IPV6_ADDRESS`: `2001:db8::1`. 128 bits.
    Ipv6Address,
    /// `MAC_ADDRESS`: `02:00:00:00:00:01`. 48 bits.
    MacAddress,
    /// `HEX_STRING`: `0x800`.
    HexString,
    /// `DECIMAL`: a plain number, whatever the field's name suggests.
    Decimal,
}

impl Format {
    /// Returns the format that `@format` gives a value of this type; `None` if there is none or it does not fit the
    /// type.
    pub fn of(annotations: &[Annotation], ty: Type) -> Option<Format> {
        let Type::Bits {
            width,
            signed: false,
        } = ty
        else {
            return None;
        };
        let format = annotations.iter().find(|a| a.name == "format")?;
        Format::named(format.values.first()?, width)
    }

    /// Returns the format with this name, for a value of `width` bits.
    pub fn named(name: &str, width: u32) -> Option<Format> {
        match (name, width) {
            ("IPV4_ADDRESS", 32) => Some(Format::Ipv4Address),
            ("IPV6_ADDRESS", 128) => Some(Format::Ipv6Address),
            ("MAC_ADDRESS", 48) => Some(Format::MacAddress),
            ("HEX_STRING", _) => Some(Format::HexString),
            ("DECIMAL", _) => Some(Format::Decimal),
            _ => None,
        }
    }

    /// Returns the value's text in this format; `None` if its width is not the format's.
    pub fn show(self, value: &Bits) -> Option<String> {
        match self {
            Format::Ipv4Address => {
                let octets: [u8; 4] = value.to_bytes().try_into().ok()?;
                Some(Ipv4Addr::from(octets).to_string())
            }
            Format::Ipv6Address => {
                let octets: [u8; 16] = value.to_bytes().try_into().ok()?;
                Some(Ipv6Addr::from(octets).to_string())
            }
            Format::MacAddress => {
                let bytes = value.to_bytes();
                let digits: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
                Some(digits.join(":"))
            }
            Format::HexString => Some(format!("{:#x}", value.value())),
            Format::Decimal => Some(value.value().to_string()),
        }
    }
}

/// Representation of a `type`'s values for P4Runtime clients: `@p4runtime_translation("uri", bits or string)`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Translation {
    /// URI that names the translation.
    pub uri: SmolStr,
    /// Width of the clients' values in bits; `None` for strings.
    pub width: Option<u32>,
}

impl Translation {
    /// Returns the translation that the annotations give. Without a width or `string`, clients' values are as wide as
    /// the type.
    pub fn of(annotations: &[Annotation], ty: Type) -> Option<Translation> {
        let translation = annotations
            .iter()
            .find(|a| a.name == "p4runtime_translation")?;
        let mut words = translation
            .values
            .iter()
            .map(|word| word.trim_matches('"'))
            .filter(|word| !matches!(*word, "," | "bit" | "<" | ">"));
        let uri = words.next()?.into();
        let width = match words.next() {
            Some("string") => None,
            Some(digits) => digits.parse().ok(),
            None => Some(ty.width()),
        };
        Some(Translation { uri, width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(name: &str, values: &[&str]) -> Vec<Annotation> {
        vec![Annotation {
            name: name.into(),
            values: values.iter().map(|&v| v.into()).collect(),
        }]
    }

    #[test]
    fn a_format_counts_where_it_fits() {
        let ipv4 = annotation("format", &["IPV4_ADDRESS"]);
        assert_eq!(Format::of(&ipv4, Type::bit(32)), Some(Format::Ipv4Address));
        assert_eq!(Format::of(&ipv4, Type::bit(16)), None);
        assert_eq!(Format::of(&ipv4, Type::Bool), None);
        assert_eq!(Format::of(&annotation("other", &[]), Type::bit(32)), None);
    }

    #[test]
    fn a_translation_has_a_width_or_is_to_strings() {
        let of = |values: &[&str]| {
            let all = annotation("p4runtime_translation", values);
            Translation::of(&all, Type::bit(9)).map(|t| (t.uri.to_string(), t.width))
        };
        let uri = "p4.org/PortId_t".to_string();
        assert_eq!(
            of(&["\"p4.org/PortId_t\"", ",", "32"]),
            Some((uri.clone(), Some(32)))
        );
        assert_eq!(
            of(&["p4.org/PortId_t", "string"]),
            Some((uri.clone(), None))
        );
        let wide = ["p4.org/PortId_t", ",", "bit", "<", "16", ">"];
        assert_eq!(of(&wide), Some((uri, Some(16))));
        assert_eq!(of(&["\"\""]), Some((String::new(), Some(9))));
    }
}
