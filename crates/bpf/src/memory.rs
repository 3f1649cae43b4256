//! Maps and single values as memory that outlives packets.

use crate::emitter::{Bpf, Shared};
use crate::maps::{GLOBALS, LOOK_UP, MAP_NAME};
use cgen::tree::{Expr as C, Item, Type};
use emit::memory::{Kept, Memory};
use layout::Map;
use smol_str::SmolStr;

impl Memory for Bpf {
    const MAP_NAME: usize = MAP_NAME;

    const GLOBALS: &'static str = GLOBALS;

    fn kept(file: &mut Shared) -> &mut Kept {
        &mut file.maps.kept
    }

    fn declare_map(file: &mut Shared, map: Map, types: Option<(Type, Type)>) {
        file.maps.declare(map.into(), types);
    }

    fn declare_constants(file: &mut Shared, item: Item) {
        file.maps.items.push(item);
    }

    fn find(map: &SmolStr, key: C) -> C {
        let map = C::Ident(map.clone()).addr();
        C::call(LOOK_UP, vec![map, key])
    }
}
