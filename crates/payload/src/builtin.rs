//! Built-in schemas: the files of `messages/`.

use crate::{Schema, load};
use diag::{Diagnostics, SourceMap};

/// A built-in schema's file.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The message's name.
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(Builtin {
            name: $name,
            text: include_str!(concat!("../../../messages/", $name, ".toml")),
        }),*]
    };
}

/// All built-in schemas, in the order of the documentation.
pub const ALL: [Builtin; 12] = files![
    "http",
    "json",
    "xml",
    "dns",
    "tls",
    "gtpu",
    "pfcp",
    "memcached",
    "memcached-binary",
    "redis",
    "postgresql",
    "mqtt",
];

/// The ClientHello of QUIC (RFC 9001, section 4), which no packet has as it stands: only an object that holds the bytes of
/// connections brings it.
const QUIC: Builtin = Builtin {
    name: "quic",
    text: include_str!("../../../messages/held/quic.toml"),
};

impl Builtin {
    /// Returns the built-in schema of this name.
    pub fn named(name: &str) -> Option<Builtin> {
        let mut all = ALL.into_iter().chain([QUIC]);
        all.find(|builtin| builtin.name == name)
    }

    /// Parses the schema. Tests load each file, so an error here is a bug in Onpath.
    pub fn schema(&self) -> Result<Schema, Diagnostics> {
        let mut map = SourceMap::new();
        match map.add(format!("messages/{}.toml", self.name), self.text) {
            Some(file) => load(&map, file),
            None => Err(Diagnostics::new()),
        }
    }
}
