//! Units of loading: a bundle, or a single program, object or text.

use super::{NotStarted, Unsuited};
use crate::bundle::{
    self, At, Bundle, BundledProgram, Entries, Ports, Share, SharedBy, check_interfaces,
    override_devices,
};
use crate::instance_name;
use bpf::abi::Hook;
use diag::{SourceMap, Span};
use host::files::read_text;
use kernel::pins::Asked;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Programs that are loaded and removed together.
#[derive(Debug)]
pub struct Unit {
    /// Name by which other commands refer to it.
    pub name: String,
    /// Its programs, one at least.
    pub bundle: Bundle,
    /// True for a program without a bundle file.
    pub alone: bool,
    /// Texts of the bundle's file and of files of entries.
    pub map: SourceMap,
    /// Further inputs, which the unit's record keeps.
    pub notes: Vec<Asked>,
}

/// A single program or object, and the options of its run.
#[derive(Clone, Debug, Default)]
pub struct Alone {
    /// Name by which other commands refer to it; by default the file's name.
    pub name: Option<String>,
    /// The P4 program, or the object.
    pub file: PathBuf,
    /// Folders for `#include`.
    pub include: Vec<PathBuf>,
    /// Macros and their values.
    pub define: Vec<(String, Option<String>)>,
    /// C files with extern functions.
    pub externs: Vec<PathBuf>,
    /// Hook at which it is to run; `None` leaves that to the architecture.
    pub hook: Option<Hook>,
    /// Its interfaces and groups.
    pub ports: Ports,
    /// A file of entries.
    pub entries: Option<PathBuf>,
}

/// A program that is in no file, at several hooks.
#[derive(Clone, Debug)]
pub struct AtHooks<'a> {
    /// Name by which other commands refer to it.
    pub name: String,
    /// Its name in messages.
    pub called: &'a str,
    /// The program.
    pub text: Arc<str>,
    /// Hooks, each with the name of the program there, and its interfaces.
    pub hooks: &'a [(&'a str, Hook, &'a [String])],
    /// Control-plane names of the state that all hooks share.
    pub shared: Vec<String>,
}

impl Unit {
    /// Returns the unit of a single program or object.
    pub fn alone(alone: Alone) -> Unit {
        let name = alone.name;
        let name = name.unwrap_or_else(|| instance_name::from_file(&alone.file));
        let entries = alone.entries;
        let member = BundledProgram {
            name: At::nowhere(name.clone()),
            source: At::nowhere(alone.file),
            text: None,
            include: alone.include,
            define: alone.define,
            externs: alone.externs,
            hook: alone.hook.map(At::nowhere),
            ports: alone.ports,
            entries: entries.map(|file| Entries::File(At::nowhere(file))),
        };
        Unit {
            name,
            bundle: Bundle {
                name: None,
                programs: vec![member],
                shares: Vec::new(),
            },
            alone: true,
            map: SourceMap::new(),
            notes: Vec::new(),
        }
    }

    /// Reads a bundle's file. `devices` replace its interfaces, as [`override_devices`] reads them. Without `name`
    /// the unit has the name that the bundle gives, or else the file's.
    pub fn from_file(
        path: &Path,
        name: Option<String>,
        devices: &[String],
    ) -> Result<Unit, NotStarted> {
        let text = read_text(path).map_err(NotStarted::Failed)?;
        let mut unit = Unit::from_text(&path.display().to_string(), text)?;
        override_devices(&mut unit.bundle, devices)
            .map_err(|why| NotStarted::Unsuited(Unsuited::Devices(why)))?;
        let wrong = |wrong| NotStarted::wrong(wrong, &unit.map);
        check_interfaces(&unit.bundle).map_err(wrong)?;
        let given = unit.bundle.name.as_ref().map(|name| name.value.clone());
        let name = name.or(given);
        unit.name = name.unwrap_or_else(|| instance_name::from_file(path));
        Ok(unit)
    }

    /// Reads a bundle's text. `name` is the name of the unit, and of the text in messages.
    pub fn from_text(name: &str, text: impl Into<Arc<str>>) -> Result<Unit, NotStarted> {
        let mut map = SourceMap::new();
        let Some(file) = map.add(name, text) else {
            return Err(NotStarted::Failed(format!("`{name}` is too large")));
        };
        let bundle = bundle::read(&map, file);
        let bundle = bundle.map_err(|wrong| NotStarted::wrong(wrong, &map))?;
        Ok(Unit {
            name: name.to_owned(),
            bundle,
            alone: false,
            map,
            notes: Vec::new(),
        })
    }

    /// Returns the unit of a program that is in no file, at several hooks.
    pub fn at_hooks(given: AtHooks<'_>) -> Unit {
        let member = |(name, hook, interfaces): &(&str, Hook, &[String])| BundledProgram {
            name: At::nowhere((*name).to_owned()),
            source: At::nowhere(PathBuf::from(given.called)),
            text: Some(Arc::clone(&given.text)),
            include: Vec::new(),
            define: Vec::new(),
            externs: Vec::new(),
            hook: Some(At::nowhere(*hook)),
            ports: Ports {
                dev: interfaces.to_vec(),
                ..Ports::default()
            },
            entries: None,
        };
        let programs: Vec<BundledProgram> = given.hooks.iter().map(member).collect();
        let share = |object: String| Share {
            of: (0..programs.len())
                .map(|program| SharedBy {
                    program,
                    state: object.clone(),
                    span: Span::NONE,
                })
                .collect(),
            name: At::nowhere(object),
        };
        let shares = match programs.len() {
            1 => Vec::new(),
            _ => given.shared.into_iter().map(share).collect(),
        };
        Unit {
            name: given.name,
            bundle: Bundle {
                name: None,
                programs,
                shares,
            },
            alone: false,
            map: SourceMap::new(),
            notes: Vec::new(),
        }
    }

    /// Returns the name by which the user knows a program of it: `NAME`, or `BUNDLE/NAME`.
    pub fn label(&self, number: usize) -> String {
        match self.alone {
            true => self.name.clone(),
            false => format!("{}/{}", self.name, self.bundle.programs[number].name.value),
        }
    }
}
