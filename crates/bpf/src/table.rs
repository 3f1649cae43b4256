//! The kernel's structure for a table's match kinds, and the look-up in it.

use super::{Made, action::Layout, key, key::KeyLayout};
use crate::abi::{LookupAbi, MapAbi, MapKind, TupleSpaceAbi};
use crate::emit::Gen;
use crate::errors;
use crate::maps::GLOBALS;
use crate::record::Record;
use cgen::tree::{BinOp, Expr as C, Member, Stmt, Type};
use diag::Span;
use ir::{CtorValue, Expr, MatchKind, TableData};
use smol_str::SmolStr;

/// Bits of a key that an array map is used for: 4,096 elements, of which all exist.
const ARRAY_BITS: u32 = 12;
/// Bytes of key data that an LPM trie takes.
const TRIE_LIMIT: u32 = 256;
/// Bytes of key that fit on the stack together with their masked copy.
const KEY_LIMIT: u32 = 192;
/// Entries that ranges may expand to, in all.
const EXPANDED_LIMIT: u64 = 1 << 20;
/// Masks in a half of the list.
const MASK_LIMIT: u64 = 1 << 14;

/// How entries are found.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// By comparisons, or there are none.
    Compiled,
    /// In an array map.
    Array {
        /// The map.
        map: SmolStr,
    },
    /// In a hash map.
    Hash {
        /// The map.
        map: SmolStr,
        /// Its keys.
        key: KeyLayout,
    },
    /// In an LPM trie.
    Lpm {
        /// The map.
        map: SmolStr,
        /// Its keys.
        key: KeyLayout,
        /// The prefix length to ask for: that of a whole key.
        bits: u32,
    },
    /// By tuple space search.
    TupleSpace(TupleSpace),
}

/// A tuple space search.
#[derive(Clone, Debug)]
pub struct TupleSpace {
    /// The map of masks and its struct.
    pub masks: SmolStr,
    /// The masks' struct.
    pub mask: SmolStr,
    /// The map of entries.
    pub entries: SmolStr,
    /// Its keys' struct: the tuple and the masked key.
    pub tuple_key: SmolStr,
    /// The key.
    pub key: KeyLayout,
    /// The globals' member with the list's head.
    pub head: SmolStr,
}

/// Whether a table's entries overlap in ways that only priorities decide.
pub fn needs_tuple_space(data: &TableData) -> bool {
    let overlapping = data.keys.iter().any(|k| {
        matches!(
            k.kind,
            MatchKind::Ternary | MatchKind::Range | MatchKind::Optional
        )
    });
    let prefixes = data
        .keys
        .iter()
        .filter(|k| k.kind == MatchKind::Lpm)
        .count();
    overlapping || prefixes > 1
}

fn map(name: &SmolStr, kind: MapKind, key_size: u32, value_size: u32, max_entries: u64) -> MapAbi {
    MapAbi {
        name: name.to_string(),
        kind,
        key_size,
        value_size,
        max_entries: u32::try_from(max_entries).unwrap_or(u32::MAX),
        no_prealloc: kind == MapKind::LpmTrie,
    }
}

impl Gen<'_> {
    /// Declares what a table's match kinds need.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn make_lookup(
        &mut self,
        data: &TableData,
        short: &str,
        value: &SmolStr,
        layout: &Layout,
        size: u64,
        ternary: bool,
        span: Span,
    ) -> (Lookup, LookupAbi) {
        let parts = key::parts(self.p, &data.keys);
        let value_type = Type::Struct(value.clone());
        let value_size = layout.abi.size;
        if ternary {
            let expansion = data
                .keys
                .iter()
                .filter(|k| k.kind == MatchKind::Range)
                .map(|k| {
                    u64::from(2 * self.p.ty(k.expr).width())
                        .saturating_sub(2)
                        .max(1)
                })
                .product::<u64>();
            let space =
                self.make_tuple_space(short, &parts, value_type, value_size, size, expansion, span);
            let abi = LookupAbi::TupleSpace(TupleSpaceAbi {
                value: layout.abi.clone(),
                ..space.1
            });
            return (Lookup::TupleSpace(space.0), abi);
        }
        if let Some(lpm) = data.keys.iter().position(|k| k.kind == MatchKind::Lpm) {
            let name = self.names.fresh(&format!("{short}_key"));
            let mut head = Record::default();
            head.add(Type::U32, "prefix_length", 4, 4, "in bits, of what follows");
            let key = key::layout(name.clone(), &parts, head);
            if key.abi.size - 4 > TRIE_LIMIT {
                self.refuse(errors::key_too_long(
                    self.options.hook,
                    &data.name,
                    key.abi.size - 4,
                    TRIE_LIMIT,
                    span,
                ));
            }
            self.maps.declare_struct(&name, key.record.members.clone());
            let map_name = self.names.fresh_map(short, "");
            self.maps.declare(
                map(&map_name, MapKind::LpmTrie, key.abi.size, value_size, size),
                Some((Type::Struct(name), value_type)),
            );
            let field = &key.abi.fields[lpm];
            let prefix_base = 8 * (field.offset - 4) + 8 * field.size - field.width;
            let abi = LookupAbi::Lpm {
                map: map_name.to_string(),
                key: key.abi.clone(),
                lpm_key: lpm as u32,
                prefix_base,
                value: layout.abi.clone(),
            };
            let bits = prefix_base + field.width;
            let lookup = Lookup::Lpm {
                map: map_name,
                key,
                bits,
            };
            return (lookup, abi);
        }
        let map_name = self.names.fresh_map(short, "");
        if let [part] = &parts[..]
            && part.width <= ARRAY_BITS
            && value_size <= 8
            && !asks_for_hash(self.p, data)
        {
            self.maps.declare(
                map(&map_name, MapKind::Array, 4, value_size, 1 << part.width),
                Some((Type::U32, value_type)),
            );
            let abi = LookupAbi::Array {
                map: map_name.to_string(),
                key_width: part.width,
                value: layout.abi.clone(),
            };
            return (Lookup::Array { map: map_name }, abi);
        }
        let name = self.names.fresh(&format!("{short}_key"));
        let key = key::layout(name.clone(), &parts, Record::default());
        if key.abi.size > KEY_LIMIT {
            self.refuse(errors::key_too_long(
                self.options.hook,
                &data.name,
                key.abi.size,
                KEY_LIMIT,
                span,
            ));
        }
        self.maps.declare_struct(&name, key.record.members.clone());
        self.maps.declare(
            map(&map_name, MapKind::Hash, key.abi.size, value_size, size),
            Some((Type::Struct(name), value_type)),
        );
        let abi = LookupAbi::Hash {
            map: map_name.to_string(),
            key: key.abi.clone(),
            value: layout.abi.clone(),
        };
        let lookup = Lookup::Hash { map: map_name, key };
        (lookup, abi)
    }

    /// Declares the maps and structs of a tuple space search; the description's value layout is to be
    /// filled in.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn make_tuple_space(
        &mut self,
        short: &str,
        parts: &[key::KeyPart],
        value_type: Type,
        value_size: u32,
        size: u64,
        expansion: u64,
        span: Span,
    ) -> (TupleSpace, TupleSpaceAbi) {
        let key_name = self.names.fresh(&format!("{short}_key"));
        let mut parts_plain = Vec::new();
        for part in parts {
            parts_plain.push(key::KeyPart {
                name: part.name.clone(),
                width: part.width,
                prefix: false,
            });
        }
        let key = key::layout(key_name.clone(), &parts_plain, Record::default());
        if key.abi.size > KEY_LIMIT {
            self.refuse(errors::key_too_long(
                self.options.hook,
                short,
                key.abi.size,
                KEY_LIMIT,
                span,
            ));
        }
        self.maps
            .declare_struct(&key_name, key.record.members.clone());
        let key_type = Type::Struct(key_name);
        let padded = key.abi.size.next_multiple_of(8);
        let with_head = |second: &str| {
            let mut record = Record::default();
            record.add(Type::U32, "tuple", 4, 4, "");
            record.add(Type::U32, second, 4, 4, "");
            record.add(key_type.clone(), "key", key.abi.size, 8, "");
            record.pad_to(8);
            record.members
        };
        let mask = self.names.fresh(&format!("{short}_mask"));
        self.maps.declare_struct(&mask, with_head("top"));
        let tuple_key = self.names.fresh(&format!("{short}_tuple"));
        self.maps.declare_struct(&tuple_key, with_head("unused"));
        let max_masks = size.saturating_mul(expansion).clamp(1, MASK_LIMIT);
        let expanded = size.saturating_mul(expansion).min(EXPANDED_LIMIT.max(size));
        let masks = self.names.fresh_map(short, "_masks");
        self.maps.declare(
            map(&masks, MapKind::Array, 4, 8 + padded, 2 * max_masks),
            Some((Type::U32, Type::Struct(mask.clone()))),
        );
        let entries = self.names.fresh_map(short, "");
        let mut entries_abi = map(&entries, MapKind::Hash, 8 + padded, value_size, expanded);
        // Most of the room that ranges may need is never used.
        entries_abi.no_prealloc = expansion > 1;
        self.maps.declare(
            entries_abi,
            Some((Type::Struct(tuple_key.clone()), value_type)),
        );
        let book = self.names.fresh_map(short, "_book");
        let written: u32 = parts
            .iter()
            .map(|p| 1 + 2 * p.width.div_ceil(8).max(2))
            .sum();
        let mut book_abi = map(
            &book,
            MapKind::Hash,
            4,
            (4 + value_size + written).next_multiple_of(4),
            size,
        );
        book_abi.no_prealloc = true;
        self.maps.declare(book_abi, None);
        let head = self.names.fresh(&format!("{short}_list"));
        let head_offset = self.maps.add_global(Type::U64, &head, 8, None, vec![0; 8]);
        let abi = TupleSpaceAbi {
            masks: masks.to_string(),
            mask_offset: 8,
            max_masks: max_masks as u32,
            entries: entries.to_string(),
            key_offset: 8,
            key: key.abi.clone(),
            value: crate::abi::ValueAbi {
                size: value_size,
                priority_offset: None,
                action_offset: 0,
                actions: Vec::new(),
            },
            head_offset,
            book: book.to_string(),
        };
        let space = TupleSpace {
            masks,
            mask,
            entries,
            tuple_key,
            key,
            head,
        };
        (space, abi)
    }

    /// Emits the look-up; gives the entry found, or a null pointer.
    pub(super) fn find(&mut self, data: &TableData, made: &Made, _span: Span) -> Option<C> {
        let exprs: Vec<Expr> = data.keys.iter().map(|k| k.expr).collect();
        let entry_type = Type::Struct(made.value.clone()?).ptr();
        match &made.lookup {
            Lookup::Compiled => None,
            Lookup::Array { map } => {
                let index = self.names.fresh("key");
                let value = self.index_key(exprs[0]);
                self.push(Stmt::decl(Type::U32, index.clone(), value));
                let entry = self.look_up(map, C::Ident(index), entry_type);
                let empty = C::bin(
                    BinOp::LogicalAnd,
                    entry.clone(),
                    C::not(entry.clone().arrow("action")),
                );
                let none = vec![Stmt::Assign(entry.clone(), C::id("NULL"))];
                self.push(Stmt::If(empty, none, Vec::new()));
                Some(entry)
            }
            Lookup::Hash { map, key } => {
                let key = self.build_key(key, &exprs);
                Some(self.look_up(map, key, entry_type))
            }
            Lookup::Lpm { map, key, bits } => {
                let built = self.build_key(key, &exprs);
                let length = built.clone().member("prefix_length");
                self.set(length, C::int((*bits).into()));
                Some(self.look_up(map, built, entry_type))
            }
            Lookup::TupleSpace(space) => Some(self.search(space, &exprs, entry_type)),
        }
    }

    fn look_up(&mut self, map: &SmolStr, key: C, entry_type: Type) -> C {
        let entry = self.names.fresh("entry");
        let value = C::call(
            "bpf_map_lookup_elem",
            vec![C::Ident(map.clone()).addr(), key::address(&key)],
        );
        self.push(Stmt::decl(entry_type, entry.clone(), value));
        C::Ident(entry)
    }

    /// Goes through the masks; the best entry, or null.
    pub(super) fn search(&mut self, space: &TupleSpace, exprs: &[Expr], entry_type: Type) -> C {
        let fresh = |g: &mut Self, wish: &str| g.names.fresh(wish);
        let best = fresh(self, "best");
        let (head, i) = (fresh(self, "list"), fresh(self, "turn"));
        let (again, done) = (fresh(self, "next_mask"), fresh(self, "searched"));
        let masked = fresh(self, "masked");
        let (at, mask, entry) = (
            fresh(self, "place"),
            fresh(self, "mask"),
            fresh(self, "found"),
        );
        let id = |n: &SmolStr| C::Ident(n.clone());
        self.push(Stmt::decl(entry_type.clone(), best.clone(), C::id("NULL")));
        self.push(Stmt::decl(
            Type::U64,
            head.clone(),
            C::id(GLOBALS).member(space.head.clone()),
        ));
        let (first, count) = (
            id(&head).cast(Type::U32),
            C::bin(BinOp::Shr, id(&head), C::int(32)).cast(Type::U32),
        );
        // Where there are no entries, no key is made.
        let outer = std::mem::take(&mut self.out);
        let any = count.clone();
        let key = self.build_key(&space.key, exprs);
        // What was computed for it was perhaps not.
        self.forget_computed();
        self.push(Stmt::Decl {
            ty: Type::Struct(space.tuple_key.clone()),
            name: masked.clone(),
            init: Some(C::Init(Vec::new())),
            align: Some(8),
        });
        self.push(Stmt::decl(Type::U32, i.clone(), C::int(0)));
        self.push(Stmt::Label(again.clone()));
        self.push(Stmt::goto_if(
            C::bin(BinOp::Ge, id(&i), count),
            done.clone(),
        ));
        let mut turn = vec![
            Stmt::decl(Type::U32, at.clone(), C::bin(BinOp::Add, first, id(&i))),
            Stmt::decl(
                Type::Struct(space.mask.clone()).ptr(),
                mask.clone(),
                C::call(
                    "bpf_map_lookup_elem",
                    vec![id(&space.masks).addr(), id(&at).addr()],
                ),
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
        turn.extend(key::and_words(
            id(&masked).member("key").addr(),
            key.addr(),
            id(&mask).arrow("key").addr(),
            space.key.abi.size / 4,
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
                C::call(
                    "bpf_map_lookup_elem",
                    vec![id(&space.entries).addr(), id(&masked).addr()],
                ),
            ),
            Stmt::If(
                better,
                vec![Stmt::Assign(id(&best), id(&entry))],
                Vec::new(),
            ),
            Stmt::Update(BinOp::Add, id(&i), C::int(1)),
        ]);
        self.push(Stmt::Block(turn));
        self.back_edge(&done, &again);
        let search = std::mem::replace(&mut self.out, outer);
        self.push(Stmt::If(any, search, Vec::new()));
        self.push(Stmt::Label(done));
        id(&best)
    }
}

fn asks_for_hash(p: &ir::Program, data: &TableData) -> bool {
    data.properties.iter().any(|(_, value)| {
        matches!(value, CtorValue::Extern(inst) if p.externs[*inst].ty == "hash_table")
    })
}

/// A struct with nothing but a priority, for sets.
pub fn member_record() -> Vec<Member> {
    let mut record = Record::default();
    record.add(Type::U32, "priority", 4, 4, "");
    record.add(Type::U32, "action", 4, 4, "1: a member");
    record.members
}
