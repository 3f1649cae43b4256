//! Toy messages for tests: lines of `name=value` pairs with `;` between.

use payload::{Exchange, Sides};
use std::sync::LazyLock;
use telemetry::{Found, Messages, Payload, Position, Reader, Type, Value, Wish};

/// Source of two kinds of messages: `kv` at UDP port 7000, and `note`, which no packet has. `kv` has the texts `method`
/// and `host`, the number `size`, and any text by the name `x.NAME`.
pub(crate) struct Toy;

static KINDS: LazyLock<Vec<String>> = LazyLock::new(|| vec!["kv".into(), "note".into()]);
static KV: LazyLock<Vec<(String, Type)>> = LazyLock::new(|| {
    vec![
        ("method".into(), Type::Text),
        ("host".into(), Type::Text),
        ("size".into(), Type::Number(32)),
    ]
});
static NOTE: LazyLock<Vec<(String, Type)>> = LazyLock::new(|| vec![("text".into(), Type::Text)]);

static EXCHANGE: Exchange = Exchange {
    sides: Sides::Ports,
    id: None,
};

impl Messages for Toy {
    fn exchange(&self, kind: usize) -> Option<&Exchange> {
        (kind == 0).then_some(&EXCHANGE)
    }

    fn kinds(&self) -> &[String] {
        &KINDS
    }

    fn attributes(&self, kind: usize) -> &[(String, Type)] {
        if kind == 0 { &KV } else { &NOTE }
    }

    fn attribute(&self, kind: usize, name: &str) -> Option<Type> {
        if kind == 0 && name.starts_with("x.") {
            return Some(Type::Text);
        }
        let mut attributes = self.attributes(kind).iter();
        attributes
            .find(|(known, _)| known == name)
            .map(|(_, ty)| *ty)
    }

    fn reader(&self, kind: usize, wanted: &[Wish]) -> Box<dyn Reader + '_> {
        Box::new(Pairs {
            is_known: kind == 0,
            wanted: wanted.iter().map(|wish| wish.name.to_string()).collect(),
        })
    }
}

/// Reader of lines of pairs.
struct Pairs {
    is_known: bool,
    wanted: Vec<String>,
}

impl Reader for Pairs {
    fn read(&mut self, payload: &Payload, _: &mut Position, each: &mut dyn FnMut(Found)) {
        if !self.is_known || payload.destination_port != 7000 {
            return;
        }
        let mut start = 0;
        for line in payload.bytes.split(|&b| b == b'\n') {
            let value = |name: &String| {
                let name = name.strip_prefix("x.").unwrap_or(name);
                line.split(|&b| b == b';').find_map(|pair| {
                    let value = pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
                    match name {
                        "size" => {
                            let digits = std::str::from_utf8(value).ok()?;
                            Some(Value::Number(digits.parse().ok()?))
                        }
                        _ => Some(Value::Text(value.into())),
                    }
                })
            };
            let values: Vec<Option<Value>> = self.wanted.iter().map(value).collect();
            let whole = line.contains(&b'=');
            if !line.is_empty() {
                each(Found {
                    values: &values,
                    more: &[],
                    start: start as i64,
                    whole,
                    unread: false,
                    missed: false,
                });
                if !whole {
                    return;
                }
            }
            start += line.len() + 1;
        }
    }
}
