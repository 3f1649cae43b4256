//! Tuple space search: entries with equal masks share a hash map under their tuple's number.

use super::lookup::{KEY_LIMIT, limit_key, map};
use super::{Entries, describe, map_element};
use crate::abi::{MapKind, TupleSpaceAbi};
use crate::maps::{GLOBALS, MAP_NAME};
use crate::target::{Bpf, Gen};
use cgen::tree::{BinOp, Expr as C, Stmt, Type, UnOp};
use emit::record::Record;
use emit::table::key::{self, KeyLayout, KeyPart};
use ir::Expr;
use smol_str::SmolStr;

/// Entries that ranges may expand to, in all.
const EXPANDED_LIMIT: u64 = 1 << 20;
/// Masks in a half of the list.
const MASK_LIMIT: u64 = 1 << 14;

/// A tuple space search.
#[derive(Clone, Debug)]
pub(crate) struct TupleSpace {
    /// The map of masks.
    masks: SmolStr,
    /// The masks' struct.
    mask: SmolStr,
    /// The map of entries.
    entries: SmolStr,
    /// Its keys' struct: the tuple and the masked key.
    tuple_key: SmolStr,
    /// The key.
    key: KeyLayout,
    /// The globals' member with the list's head.
    head: SmolStr,
}

/// What is searched by.
pub(crate) struct Shape<'a> {
    /// The parts of the key.
    pub parts: &'a [KeyPart],
    /// Masks that one entry may take.
    pub expansion: u64,
}

/// Masks that an entry with ranges of these widths, in bits, may take.
pub(crate) fn expansion(ranges: impl Iterator<Item = u32>) -> u64 {
    ranges
        .map(|width| u64::from(2 * width).saturating_sub(2).max(1))
        .product()
}

/// Declares the maps and structs of a tuple space search.
pub(crate) fn declare(
    g: &mut Gen<'_>,
    shape: &Shape<'_>,
    entries: &Entries<'_>,
) -> (TupleSpace, TupleSpaceAbi) {
    let Shape { parts, expansion } = *shape;
    let Entries {
        short,
        ref values,
        size,
        ..
    } = *entries;
    let value_size = values.abi.size;
    let key_name = g.file.names.fresh(&format!("{short}_key"));
    let parts: Vec<KeyPart> = parts.iter().map(KeyPart::without_prefix).collect();
    let key = key::layout::<Bpf>(key_name.clone(), &parts, Record::default());
    let key_abi = describe::key(&key, &parts);
    limit_key(g, short, key_abi.size, KEY_LIMIT, entries);
    g.file.declare_struct(&key_name, key.record.members.clone());
    let key_type = Type::Struct(key_name);
    let padded = key_abi.size.next_multiple_of(8);
    let with_head = |second: &str| {
        let mut record = Record::default();
        record.add(Type::U32, "tuple", 4, 4, "");
        record.add(Type::U32, second, 4, 4, "");
        record.add(key_type.clone(), "key", key_abi.size, 8, "");
        record.pad_to(8);
        record.members
    };
    let mask = g.file.names.fresh(&format!("{short}_mask"));
    g.file.declare_struct(&mask, with_head("top"));
    let tuple_key = g.file.names.fresh(&format!("{short}_tuple"));
    g.file.declare_struct(&tuple_key, with_head("unused"));
    let max_masks = size.saturating_mul(expansion).clamp(1, MASK_LIMIT);
    let expanded = size.saturating_mul(expansion).min(EXPANDED_LIMIT.max(size));
    let masks = g.file.names.fresh_short(short, "_masks", MAP_NAME);
    let maps = &mut g.file.own.maps;
    maps.declare(
        map(&masks, MapKind::Array, 4, 8 + padded, 2 * max_masks),
        Some((Type::U32, Type::Struct(mask.clone()))),
    );
    let found = g.file.names.fresh_short(short, "", MAP_NAME);
    let mut found_abi = map(&found, MapKind::Hash, 8 + padded, value_size, expanded);
    // Most of the room that ranges may need is never used.
    found_abi.no_prealloc = expansion > 1;
    maps.declare(
        found_abi,
        Some((Type::Struct(tuple_key.clone()), values.ty.clone())),
    );
    let shadow = g.file.names.fresh_short(short, "_shadow", MAP_NAME);
    let written: u32 = parts
        .iter()
        .map(|p| 1 + 2 * p.width.div_ceil(8).max(2))
        .sum();
    let written = (4 + value_size + written).next_multiple_of(4);
    let mut shadow_abi = map(&shadow, MapKind::Hash, 4, written, size);
    shadow_abi.no_prealloc = true;
    maps.declare(shadow_abi, None);
    let head = g.file.names.fresh(&format!("{short}_list"));
    let head_offset = maps.add_global(Type::U64, &head, 8, None, vec![0; 8]);
    let abi = TupleSpaceAbi {
        masks: masks.to_string(),
        mask_offset: 8,
        max_masks: max_masks as u32,
        entries: found.to_string(),
        key_offset: 8,
        key: key_abi,
        value: values.abi.clone(),
        head_offset,
        shadow: shadow.to_string(),
    };
    let space = TupleSpace {
        masks,
        mask,
        entries: found,
        tuple_key,
        key,
        head,
    };
    (space, abi)
}

/// Goes through the masks; the best entry, or null.
pub(crate) fn search(g: &mut Gen<'_>, space: &TupleSpace, exprs: &[Expr], entry_type: Type) -> C {
    let fresh = |g: &mut Gen<'_>, wish: &str| g.file.names.fresh(wish);
    let best = fresh(g, "best");
    let (head, i) = (fresh(g, "list"), fresh(g, "turn"));
    let (again, done) = (fresh(g, "next_mask"), fresh(g, "searched"));
    let masked = fresh(g, "masked");
    let (at, mask, entry) = (fresh(g, "place"), fresh(g, "mask"), fresh(g, "found"));
    let id = |n: &SmolStr| C::Ident(n.clone());
    g.push(Stmt::decl(entry_type.clone(), best.clone(), C::id("NULL")));
    g.push(Stmt::decl(
        Type::U64,
        head.clone(),
        C::id(GLOBALS).member(space.head.clone()),
    ));
    let (first, count) = (
        id(&head).cast(Type::U32),
        C::bin(BinOp::Shr, id(&head), C::int(32)).cast(Type::U32),
    );
    // Where there are no entries, no key is made.
    let outer = std::mem::take(&mut g.out);
    let any = count.clone();
    let key = g.build_key(&space.key, exprs);
    // What was computed for it was perhaps not.
    g.kill_computed();
    g.push(Stmt::Decl {
        ty: Type::Struct(space.tuple_key.clone()),
        name: masked.clone(),
        init: Some(C::Init(Vec::new())),
        align: Some(8),
    });
    g.push(Stmt::decl(Type::U32, i.clone(), C::int(0)));
    g.push(Stmt::Label(again.clone()));
    g.push(Stmt::goto_if(
        C::bin(BinOp::Ge, id(&i), count),
        done.clone(),
    ));
    let mut turn = vec![
        Stmt::decl(Type::U32, at.clone(), C::bin(BinOp::Add, first, id(&i))),
        Stmt::decl(
            Type::Struct(space.mask.clone()).ptr(),
            mask.clone(),
            map_element(&space.masks, id(&at)),
        ),
        Stmt::goto_if(C::not(id(&mask)), done.clone()),
        Stmt::goto_if(
            C::bin(
                BinOp::LogicalAnd,
                id(&best),
                C::bin(
                    BinOp::Ge,
                    id(&best).arrow("priority"),
                    id(&mask).arrow("top"),
                ),
            ),
            done.clone(),
        ),
        Stmt::Assign(id(&masked).member("tuple"), id(&mask).arrow("tuple")),
    ];
    turn.extend(and_words(
        id(&masked).member("key").addr(),
        key.addr(),
        id(&mask).arrow("key").addr(),
        space.key.record.size / 4,
    ));
    let better = C::bin(
        BinOp::LogicalAnd,
        id(&entry),
        C::bin(
            BinOp::LogicalOr,
            C::not(id(&best)),
            C::bin(
                BinOp::Gt,
                id(&entry).arrow("priority"),
                id(&best).arrow("priority"),
            ),
        ),
    );
    turn.extend([
        Stmt::decl(
            entry_type,
            entry.clone(),
            map_element(&space.entries, id(&masked)),
        ),
        Stmt::If(
            better,
            vec![Stmt::Assign(id(&best), id(&entry))],
            Vec::new(),
        ),
        Stmt::Update(BinOp::Add, id(&i), C::int(1)),
    ]);
    g.push(Stmt::Block(turn));
    g.back_edge(&done, &again);
    let search = std::mem::replace(&mut g.out, outer);
    g.push(Stmt::If(any, search, Vec::new()));
    g.push(Stmt::Label(done));
    id(&best)
}

/// `a & b` word by word, of structs of `words` 4-byte words.
fn and_words(dst: C, a: C, b: C, words: u32) -> Vec<Stmt> {
    let word = |base: &C, i: u32, wide: bool| {
        let ty = Type::Named(if wide { "any64" } else { "any32" }.into()).ptr();
        let address = C::bin(
            BinOp::Add,
            base.clone().cast(Type::U8.ptr()),
            C::int((i * 4).into()),
        );
        C::Unary(UnOp::Deref, Box::new(address.cast(ty)))
    };
    let mut out = Vec::new();
    let mut i = 0;
    while i < words {
        let wide = words - i >= 2;
        let value = C::bin(BinOp::And, word(&a, i, wide), word(&b, i, wide));
        out.push(Stmt::Assign(word(&dst, i, wide), value));
        i += if wide { 2 } else { 1 };
    }
    out
}
