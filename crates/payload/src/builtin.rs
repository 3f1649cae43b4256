//! The schemas that are built in: the files of `messages/`.

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

/// All, as the documentation lists them.
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

impl Builtin {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Builtin> {
        ALL.into_iter().find(|builtin| builtin.name == name)
    }

    /// Its schema. Tests load each, so an error is one in Onpath.
    pub fn schema(&self) -> Result<Schema, Diagnostics> {
        let mut map = SourceMap::new();
        match map.add(format!("messages/{}.toml", self.name), self.text) {
            Some(file) => load(&map, file),
            None => Err(Diagnostics::new()),
        }
    }
}
