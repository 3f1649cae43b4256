//! Memory that outlives packets: interface between stateful code and a target.

use crate::emitter::Gen;
use crate::record::Record;
use crate::target::Target;
use cgen::tree::{Expr as C, Item, Type};
use layout::{Contents, GlobalsAbi, Map};
use smol_str::SmolStr;

/// A target with maps, and with single values that the control plane changes.
pub trait Memory: Target {
    /// Greatest length of a map's name, in characters.
    const MAP_NAME: usize;

    /// Name of the struct with the single values.
    const GLOBALS: &'static str;

    /// Returns the state that the functions of a file have declared so far, with its maps.
    fn kept(file: &mut Self::File) -> &mut Kept;

    /// Declares a map in C. `types` are those of keys and values, if these are structs or numbers. [`declare`]
    /// calls it once for each map.
    fn declare_map(file: &mut Self::File, map: Map, types: Option<(Type, Type)>);

    /// Adds a declaration of constants, after the maps declared before it.
    fn declare_constants(file: &mut Self::File, item: Item);

    /// Returns the address of a map's element, given the address of its key; null if there is none.
    fn find(map: &SmolStr, key: C) -> C {
        C::call("map_find", vec![C::Ident(map.clone()).addr(), key])
    }
}

/// State that a file's functions keep between packets.
#[derive(Clone, Default, Debug)]
pub struct Kept {
    /// Its description.
    pub contents: Contents,
    maps: Vec<Map>,
    globals: Record,
    initial: Vec<(SmolStr, C)>,
    bytes: Vec<u8>,
}

/// The struct of single values, once all of them are known.
pub struct Globals {
    /// Its members.
    pub record: Record,
    /// Its initial value, in C.
    pub initial: C,
    /// Its initial value, in bytes.
    pub bytes: Vec<u8>,
}

/// Declares a map with keys and values of these types, unless another function of the file did.
pub fn declare<T: Memory>(g: &mut Gen<'_, T>, map: Map, types: Option<(Type, Type)>) {
    let file = &mut g.file.own;
    let kept = T::kept(file);
    if !kept.maps.contains(&map) {
        kept.maps.push(map.clone());
        T::declare_map(file, map, types);
    }
}

impl Kept {
    /// Returns a declared map.
    pub fn map(&self, name: &str) -> Option<&Map> {
        self.maps.iter().find(|map| map.name == name)
    }

    /// Adds a single value, with its initial value in C and in bytes; returns its offset.
    pub fn add_global(
        &mut self,
        ty: Type,
        name: &SmolStr,
        align: u32,
        init: Option<C>,
        bytes: Vec<u8>,
    ) -> u32 {
        let size = bytes.len() as u32;
        let offset = self.globals.add(ty, name.clone(), size, align, "");
        self.bytes.resize(offset as usize, 0);
        self.bytes.extend(bytes);
        if let Some(init) = init {
            self.initial.push((name.clone(), init));
        }
        offset
    }

    /// Returns the single values, once all are added; `None` if there are none. They are described as the values of
    /// a map of this name.
    pub fn finish_globals(&mut self, map: &str) -> Option<Globals> {
        if self.globals.size == 0 {
            return None;
        }
        self.globals.pad_to(self.globals.align.max(8));
        self.bytes.resize(self.globals.size as usize, 0);
        let initial = std::mem::take(&mut self.initial).into_iter();
        let globals = Globals {
            record: std::mem::take(&mut self.globals),
            initial: C::Init(initial.map(|(name, value)| (Some(name), value)).collect()),
            bytes: std::mem::take(&mut self.bytes),
        };
        self.contents.globals = Some(GlobalsAbi {
            section: map.into(),
            size: globals.record.size,
            initial: globals.bytes.clone(),
        });
        Some(globals)
    }
}
