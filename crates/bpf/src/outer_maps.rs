//! Programs with more maps than the kernel lets one use. Maps of one shape become the inner maps of an outer one, an
//! array of maps, and the program uses only that.
//!
//! A look-up finds the inner map first, which takes a few nanoseconds. User space sees no difference: each map is
//! there by itself too.

use crate::abi::{MapAbi, MapKind};
use crate::costs::weights::kernel::MOST_MAPS;
use crate::maps::{GLOBALS, LOOK_UP, MAP_NAME, section};
use cgen::tidy;
use cgen::tree::{Expr as C, Item, Type, UnOp};
use emit::names::Names;
use smol_str::SmolStr;
use std::collections::{HashMap, HashSet};

/// Number of maps that one program may use besides those in the list of maps: sections of constants, of the key of
/// hashes, of the number of changes, and of the reports of a test run.
const SECTIONS: usize = 4;

/// Properties that all inner maps of an outer one must have in common (`bpf_map_meta_equal` of Linux).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MapShape {
    kind: MapKind,
    key_size: u32,
    value_size: u32,
    no_prealloc: bool,
    mmapable: bool,
    /// Number of entries, for arrays.
    entries: Option<u32>,
}

impl MapShape {
    fn of(map: &MapAbi) -> Option<MapShape> {
        let entries = match map.kind {
            MapKind::Array | MapKind::PercpuArray => Some(map.max_entries),
            MapKind::Hash | MapKind::PercpuHash | MapKind::LpmTrie => None,
            MapKind::LruHash
            | MapKind::DevmapHash
            | MapKind::PerfEventArray
            | MapKind::RingBuffer
            | MapKind::ProgramArray => return None,
        };
        Some(MapShape {
            kind: map.kind,
            key_size: map.key_size,
            value_size: map.value_size,
            no_prealloc: map.no_prealloc,
            mmapable: map.mmapable,
            entries,
        })
    }
}

/// Result of fitting a file's maps.
#[derive(Default)]
pub(crate) struct Fitted {
    /// Maps that the program uses.
    pub used: usize,
    /// Maps that it reaches through an outer one.
    pub inner: usize,
}

/// Makes a file's program use fewer maps, if it uses too many.
pub(crate) fn fit(items: &mut Vec<Item>, maps: &[MapAbi], names: &mut Names) -> Fitted {
    let used = uses(items, maps);
    let globals = items
        .iter()
        .any(|item| matches!(item, Item::Variable { name, .. } if name == GLOBALS));
    let mut count = used.len() + usize::from(globals);
    let most = MOST_MAPS - SECTIONS;
    if count <= most {
        return Fitted {
            used: count,
            inner: 0,
        };
    }
    let mut shapes: Vec<(MapShape, Vec<SmolStr>)> = Vec::new();
    let looked_up = maps
        .iter()
        .filter(|map| used.get(map.name.as_str()) == Some(&true));
    for (shape, map) in looked_up.filter_map(|map| Some((MapShape::of(map)?, map))) {
        match shapes.iter_mut().find(|(other, _)| *other == shape) {
            Some((_, inner)) => inner.push(SmolStr::from(&map.name)),
            None => shapes.push((shape, vec![SmolStr::from(&map.name)])),
        }
    }
    shapes.sort_by_key(|(_, inner)| std::cmp::Reverse(inner.len()));
    let mut moved: HashMap<SmolStr, (SmolStr, u64)> = HashMap::new();
    let mut outer = Vec::new();
    for (_, inner) in shapes {
        if count <= most || inner.len() < 2 {
            break;
        }
        count -= inner.len() - 1;
        let name = names.fresh_short("maps", "", MAP_NAME);
        outer.push(declare(&name, &inner));
        let numbered = inner.into_iter().zip(0..);
        moved.extend(numbered.map(|(map, number)| (map, (name.clone(), number))));
    }
    for item in items.iter_mut() {
        if let Item::Function { body, .. } = item {
            tidy::for_each(body, &mut |e| look_up_inside(e, &moved));
        }
    }
    let functions = items
        .iter()
        .position(|item| matches!(item, Item::Function { .. }));
    let at = functions.unwrap_or(items.len());
    let include = Item::Include("onpath/outer_maps.h".into());
    items.splice(at..at, std::iter::once(include).chain(outer));
    Fitted {
        used: count,
        inner: moved.len(),
    }
}

/// Returns the maps that functions use, each with true if the functions only look entries up.
fn uses<'a>(items: &mut [Item], maps: &'a [MapAbi]) -> HashMap<&'a str, bool> {
    let mut named: HashMap<SmolStr, usize> = HashMap::new();
    let mut looked_up: HashMap<SmolStr, usize> = HashMap::new();
    for item in items {
        let Item::Function { body, .. } = item else {
            continue;
        };
        for name in tidy::names(body) {
            *named.entry(name).or_default() += 1;
        }
        tidy::for_each(body, &mut |e| {
            if let Some(map) = map_of(e) {
                *looked_up.entry(map.clone()).or_default() += 1;
            }
        });
    }
    let known: HashSet<&str> = maps.iter().map(|map| map.name.as_str()).collect();
    let of = |name: &'a str| Some((name, named.get(name)? == looked_up.get(name).unwrap_or(&0)));
    known.into_iter().filter_map(of).collect()
}

/// Returns the map in which an expression looks an entry up.
fn map_of(e: &C) -> Option<&SmolStr> {
    match e {
        C::Call(callee, args) if callee.name == LOOK_UP => match args.first()? {
            C::Unary(UnOp::Addr, map) => match &**map {
                C::Ident(name) => Some(name),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

fn look_up_inside(e: &mut C, moved: &HashMap<SmolStr, (SmolStr, u64)>) {
    let Some((outer, number)) = map_of(e).and_then(|map| moved.get(map)) else {
        return;
    };
    if let C::Call(_, args) = e
        && let Some(key) = args.pop()
    {
        let outer = C::id(outer.clone()).addr();
        *e = C::call("look_up_inside", vec![outer, C::int(*number), key]);
    }
}

/// Declares the outer map of these.
fn declare(name: &SmolStr, inner: &[SmolStr]) -> Item {
    let number = |name: &str, value: C| C::call("__uint", vec![C::id(name), value]);
    let first = inner.first().map(|first| C::id(first.clone()));
    let like = C::call("typeof", first.into_iter().collect());
    let address = |map: &SmolStr| C::id(map.clone()).addr().cast(Type::Void.ptr());
    Item::Described {
        members: vec![
            number("type", C::id("BPF_MAP_TYPE_ARRAY_OF_MAPS")),
            number("max_entries", C::int(inner.len() as u64)),
            number("key_size", C::int(4)),
            C::call("__array", vec![C::id("values"), like]),
        ],
        name: name.clone(),
        attribute: section(".maps"),
        init: Some(C::Init(vec![(
            Some("values".into()),
            C::Init(inner.iter().map(|map| (None, address(map))).collect()),
        )])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::RESERVED;
    use cgen::tree::{Stmt, Unit};

    /// Makes a function that looks up a key in each of `count` maps, and changes the last one. Half of the maps have
    /// keys of 4 bytes, half of 8.
    fn file(count: u32) -> (Vec<Item>, Vec<MapAbi>) {
        let maps: Vec<MapAbi> = (0..count)
            .map(|i| MapAbi {
                name: format!("m{i}"),
                kind: MapKind::Hash,
                key_size: if i < count / 2 { 4 } else { 8 },
                value_size: 8,
                max_entries: 16,
                no_prealloc: false,
                mmapable: false,
            })
            .collect();
        let call = |name: &str, map: &MapAbi| {
            let args = vec![C::id(map.name.as_str()).addr(), C::id("key").addr()];
            Stmt::Expr(C::call(name, args))
        };
        let mut body: Vec<Stmt> = maps.iter().map(|map| call(LOOK_UP, map)).collect();
        body.extend(maps.last().map(|map| call("bpf_map_update_elem", map)));
        let function = Item::Function {
            linkage: "static".into(),
            result: Type::Int,
            name: "f".into(),
            params: Vec::new(),
            body,
        };
        (vec![function], maps)
    }

    fn fitted(count: u32) -> (Fitted, String) {
        let (mut items, maps) = file(count);
        let mut names = Names::new(RESERVED);
        let fitted = fit(&mut items, &maps, &mut names);
        (fitted, cgen::print(&Unit { items }))
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let (fitted, text) = fitted(60);
        assert_eq!((fitted.used, fitted.inner), (60, 0));
        assert!(!text.contains("look_up_inside"), "{text}");
    }

    #[test]
    fn the_shape_of_most_maps_goes_into_an_outer_one_and_what_is_changed_stays() {
        let (fitted, text) = fitted(61);
        assert_eq!((fitted.used, fitted.inner), (31 + 1, 30));
        assert!(text.contains("look_up_inside(&maps, 0, &key)"), "{text}");
        assert!(text.contains("bpf_map_update_elem(&m60, &key)"), "{text}");
        assert!(text.contains("bpf_map_lookup_elem(&m60, &key)"), "{text}");
        assert!(text.contains("__array(values, typeof(m"), "{text}");
    }
}
