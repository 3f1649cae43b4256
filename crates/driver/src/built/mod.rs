//! Programs as `onpath build -o` writes them: an object, and beside it a JSON description. They run without clang, also
//! on another machine.
//!
//! The description is what `control` tells other programs about tables, actions and counters, with two parts for
//! Onpath itself: `bpf`, the [`Abi`], and `object`, a [`Stamp`]. The stamp holds the description and the object
//! together: neither is used without the other.

pub mod errors;
mod find;

pub use find::{find, is_object};

use crate::bpf_target::Compiled;
use crate::bundle::{BundledProgram, CheckedProgram};
use bpf::abi::{Abi, Hook};
use bpf::features::{Feature, Features, Version};
use bpf::uses;
use diag::{Diagnostic, system_message};
use host::files::{self, Streams};
use kernel::budget::{self, Budget};
use kernel::contents;
use kernel::sys::Contents;
use schema::Schema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// File extension of an object.
const OBJECT: &str = "o";
/// File extension of a description.
const DESCRIPTION: &str = "json";

/// A program that was compiled earlier.
#[derive(Clone, PartialEq, Debug)]
pub struct Built {
    /// The object.
    pub object: Vec<u8>,
    /// Layout of its maps.
    pub abi: Arc<Abi>,
    /// Control-plane view of the program: its tables, actions and other objects.
    pub schema: Arc<Schema>,
    /// Hook at which it runs.
    pub hook: Hook,
}

/// Stamp that ties a description to its object.
#[derive(Serialize, Deserialize)]
struct Stamp {
    /// [`FORMAT`].
    format: u32,
    /// The version of Onpath that wrote it.
    onpath: String,
    /// [`Built::schema`].
    schema: Schema,
    /// All maps and programs of the object, including those that the [`Abi`] does not list.
    contents: Contents,
    /// [`digest`], in hexadecimal.
    sha256: String,
}

/// Version of a description's format, [`Stamp`] included.
const FORMAT: u32 = 3;

/// The part of a stamp that every version has.
#[derive(Deserialize)]
struct Origin {
    format: u32,
    onpath: String,
}

/// Returns the description of a program that was just compiled.
pub fn description(compiled: &Compiled) -> Value {
    describe(&compiled.object, &compiled.abi, &compiled.schema)
}

/// Returns the description of an object. Its contents are empty if the bytes are no object.
pub fn describe(object: &[u8], abi: &Abi, schema: &Schema) -> Value {
    let stamp = Stamp {
        format: FORMAT,
        onpath: env!("CARGO_PKG_VERSION").to_string(),
        sha256: digest(object, abi, schema),
        schema: schema.clone(),
        contents: kernel::sys::contents(object).unwrap_or_default(),
    };
    let mut described = control::describe::describe(schema);
    described["bpf"] = serde_json::to_value(abi).unwrap_or_default();
    described["object"] = serde_json::to_value(&stamp).unwrap_or_default();
    described
}

/// Returns the SHA-256 of an object, its ABI and its schema, in hexadecimal.
fn digest(object: &[u8], abi: &Abi, schema: &Schema) -> String {
    // Keys of a value are sorted, so the order of fields does not count.
    let described = serde_json::to_value((abi, schema)).unwrap_or_default();
    let mut hash = Sha256::new();
    hash.update((object.len() as u64).to_be_bytes());
    hash.update(object);
    hash.update(described.to_string());
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads an object and the description beside it.
///
/// # Errors
///
/// One of them cannot be read, is damaged, does not belong to the other, or was written by another version of Onpath;
/// or the object declares something forbidden ([`contents::read`]) or something that its description lacks.
pub fn read(file: &Path) -> Result<Built, Box<Diagnostic>> {
    let described = description_of(file);
    let object = files::read(file, Streams::Refused).map_err(|e| errors::unreadable(file, &e))?;
    let text = files::read(&described, Streams::Refused)
        .map_err(|e| errors::no_description(file, &described, &system_message(&e)))?;
    of_bytes(file, object, &text)
}

/// Decodes and checks an object that was read from `file`, and the text of its description.
pub fn of_bytes(file: &Path, object: Vec<u8>, text: &[u8]) -> Result<Built, Box<Diagnostic>> {
    let described = description_of(file);
    let damaged = |error: serde_json::Error| errors::no_such_form(&described, &why(&error));
    let mut value: Value = serde_json::from_slice(text).map_err(damaged)?;
    let Some(stamp) = value.get_mut("object").map(Value::take) else {
        return Err(errors::no_such_form(&described, "it has no `object`"));
    };
    let Origin { format, onpath } = Origin::deserialize(&stamp).map_err(damaged)?;
    if value.get("bpf").is_none_or(Value::is_null) {
        return Err(errors::no_such_form(&described, "it has no `bpf`"));
    }
    let version = value["bpf"]["version"].as_u64();
    if format != FORMAT || version != Some(Abi::VERSION.into()) {
        return Err(errors::other_version(file, &onpath));
    }
    let Stamp {
        schema,
        sha256,
        contents: described_contents,
        ..
    } = Stamp::deserialize(stamp).map_err(damaged)?;
    let abi = Abi::deserialize(&value["bpf"]).map_err(damaged)?;
    let program = abi.programs.first();
    let Some(program) = program.filter(|_| sha256 == digest(&object, &abi, &schema)) else {
        return Err(errors::differ(file, &described));
    };
    let found = contents::read(&object);
    found
        .and_then(|found| contents::check(&found, &described_contents, &abi))
        .map_err(|refused| errors::of_object(file, refused))?;
    Ok(Built {
        hook: program.hook,
        object,
        abi: Arc::new(abi),
        schema: Arc::new(schema),
    })
}

/// Describes a parse error in words that do not depend on the parser.
fn why(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    match error.classify() {
        Category::Eof => "it ends too early".to_string(),
        Category::Syntax => format!("line {line}, column {column} is no JSON"),
        Category::Data | Category::Io => {
            "it has not the parts that `onpath build` writes".to_string()
        }
    }
}

/// Reads the object that a bundle's member names. A refusal points at that name in the bundle's file.
pub fn of_member(member: &BundledProgram) -> Result<Built, Box<Diagnostic>> {
    read(&member.source.value).map_err(|mut refused| {
        refused.primary.span = member.source.span;
        refused
    })
}

/// Fails if the bundle's member names a hook and the object is for another one.
pub fn check_hook(member: &BundledProgram, built: &Built) -> Result<(), Box<Diagnostic>> {
    match &member.hook {
        Some(hook) if hook.value != built.hook => {
            let file = &member.source.value;
            Err(errors::other_hook(file, built.hook, hook.value, hook.span))
        }
        _ => Ok(()),
    }
}

/// Returns the path of an object's description.
pub fn description_of(object: &Path) -> PathBuf {
    object.with_extension(DESCRIPTION)
}

impl Built {
    /// Returns its input to the check of a bundle.
    pub fn part(&self) -> CheckedProgram<'_> {
        CheckedProgram {
            hook: self.hook,
            abi: Some(&self.abi),
            schema: &self.schema,
            program: None,
        }
    }

    /// Returns the instructions and stack of its functions.
    pub fn budget(&self) -> Budget {
        budget::read(&self.object).unwrap_or_default()
    }

    /// Returns the newest feature that the object needs and a kernel with these features lacks.
    pub fn missing(&self, features: Features) -> Option<Feature> {
        let missing = uses::missing(&self.abi.uses, &features);
        let lacks = missing.iter().filter_map(|used| used.by);
        lacks.max_by_key(|feature| feature.since())
    }

    /// Returns the first version of Linux with all features that the code uses, if a kernel with these features lacks
    /// one. Its verifier may reject the code.
    pub fn made_for_newer(&self, features: Features) -> Option<Version> {
        let used = self.abi.uses.iter().filter_map(|used| used.by);
        let lacks = used.filter(|feature| !features.has(*feature));
        lacks.map(Feature::since).max()
    }
}

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
