//! Parser value sets: sets of keys, looked up as tables are.

use super::key::{self, KeyPart};
use super::lookup::{TupleSpace, member_record};
use crate::abi::{ActionAbi, LookupAbi, MapAbi, MapKind, TupleSpaceAbi, ValueAbi, ValueSetAbi};
use crate::emit::Gen;
use crate::record::Record;
use cgen::tree::{BinOp, Expr as C, Stmt, Type};
use diag::Span;
use ir::{Expr, MatchKind, ValueSet};
use smol_str::SmolStr;

/// A value set's C side.
#[derive(Clone, Debug)]
pub struct MadeSet {
    value: SmolStr,
    lookup: SetLookup,
}

#[derive(Clone, Debug)]
enum SetLookup {
    Hash(SmolStr, key::KeyLayout),
    TupleSpace(TupleSpace),
}

impl Gen<'_> {
    /// Whether keys are a member of a set.
    pub(in crate::emit) fn value_set(&mut self, set: ValueSet, keys: &[Expr], span: Span) -> C {
        let made = match self.value_sets.get(&set) {
            Some(made) => made.clone(),
            None => {
                let made = self.make_set(set, span);
                self.value_sets.insert(set, made.clone());
                made
            }
        };
        let ty = Type::Struct(made.value.clone()).ptr();
        let outer = std::mem::take(&mut self.out);
        let entry = match &made.lookup {
            SetLookup::TupleSpace(space) => self.search(space, keys, ty),
            SetLookup::Hash(map, layout) => {
                let key = self.build_key(layout, keys);
                C::call(
                    "bpf_map_lookup_elem",
                    vec![C::Ident(map.clone()).addr(), key::address(&key)],
                )
            }
        };
        let found = self.own_local("member", Type::U32, None);
        self.set(found.clone(), C::bin(BinOp::Ne, entry, C::id("NULL")));
        let block = std::mem::replace(&mut self.out, outer);
        self.push(Stmt::Block(block));
        found
    }

    /// Value sets that decide nothing: the control plane may change them all the same.
    pub(in crate::emit) fn unread_value_sets(&mut self) {
        for (set, data) in &self.p.value_sets {
            if !self.value_sets.contains_key(&set) {
                self.make_set(set, data.span);
            }
        }
    }

    fn make_set(&mut self, set: ValueSet, span: Span) -> MadeSet {
        let data = &self.p.value_sets[set];
        let short = data.name.rsplit('.').next().unwrap_or(&data.name);
        let value = self.names.fresh(&format!("{short}_member"));
        self.maps.declare_struct(&value, member_record());
        let parts: Vec<KeyPart> = data
            .fields
            .iter()
            .map(|(name, ty, _)| KeyPart {
                name: name.to_string(),
                width: ty.width(),
                prefix: false,
            })
            .collect();
        let size = data.size.clamp(1, u64::from(u32::MAX));
        let value_abi = ValueAbi {
            size: 8,
            priority_offset: Some(0),
            action_offset: 4,
            actions: vec![ActionAbi {
                name: "member".into(),
                params: Vec::new(),
            }],
        };
        let exact = data
            .fields
            .iter()
            .all(|(_, _, kind)| *kind == MatchKind::Exact);
        let (lookup, abi) = if exact {
            let name = self.names.fresh(&format!("{short}_key"));
            let layout = key::layout(name.clone(), &parts, Record::default());
            self.maps
                .declare_struct(&name, layout.record.members.clone());
            let map = self.names.fresh_map(short, "");
            self.maps.declare(
                MapAbi {
                    name: map.to_string(),
                    kind: MapKind::Hash,
                    key_size: layout.abi.size,
                    value_size: 8,
                    max_entries: size as u32,
                    no_prealloc: false,
                },
                Some((Type::Struct(name), Type::Struct(value.clone()))),
            );
            let abi = LookupAbi::Hash {
                map: map.to_string(),
                key: layout.abi.clone(),
                value: value_abi,
            };
            (SetLookup::Hash(map, layout), abi)
        } else {
            let expansion = data
                .fields
                .iter()
                .filter(|(_, _, kind)| *kind == MatchKind::Range)
                .map(|(_, ty, _)| u64::from(2 * ty.width()).saturating_sub(2).max(1))
                .product();
            let ty = Type::Struct(value.clone());
            let (space, abi) = self.make_tuple_space(short, &parts, ty, 8, size, expansion, span);
            let abi = LookupAbi::TupleSpace(TupleSpaceAbi {
                value: value_abi,
                ..abi
            });
            (SetLookup::TupleSpace(space), abi)
        };
        self.maps.value_sets.push(ValueSetAbi {
            index: set.as_u32(),
            name: data.name.to_string(),
            capacity: size,
            lookup: abi,
        });
        MadeSet { value, lookup }
    }
}
