//! Calls of externs: counters, checksums, the clock, events, and the user's own C.

use super::Gen;
use super::values::Value;
use crate::abi::{CounterAbi, MapAbi, MapKind};
use crate::errors;
use cgen::lower;
use cgen::tree::{BinOp, Expr as C, Item, Stmt, Type as CType};
use diag::Span;
use ir::{ExternArg, ExternCall, ExternInst, Place, StmtId, Type};
use smol_str::SmolStr;

/// How many indices of a sparse counter are kept: few are used out of many.
const SPARSE_LIMIT: u32 = 1 << 16;

impl Gen<'_> {
    pub(super) fn extern_call(&mut self, call: &ExternCall, id: StmtId, span: Span) {
        match (call.object, call.name.as_str()) {
            (Some(object), method) => {
                let ty = self.p.externs[object].ty.clone();
                match (ty.as_str(), method) {
                    ("CounterArray", "increment" | "add") => self.count(object, call, span),
                    (ir::atomic::FLOW_STATE, _) => self.flow_call(object, call, id, span),
                    _ => self.refuse(errors::unknown_extern(
                        self.options.hook,
                        &format!("{ty}.{method}"),
                        span,
                    )),
                }
            }
            (None, name @ ("csum_replace2" | "csum_replace4" | "ebpf_ipv4_checksum")) => {
                self.pure_function(name, call);
            }
            (None, name @ ("l4_csum_replace2" | "l4_csum_replace4")) => {
                let mut args = vec![C::id("ctx")];
                args.extend(self.arguments(call));
                self.result(call, C::call(name, args));
            }
            (None, "random32") => self.result(call, C::call("random_u32", Vec::new())),
            (None, "BPF_KTIME_GET_NS") => {
                let now = C::call("now_ns", Vec::new()).cast(CType::U32);
                self.result(call, now);
            }
            (None, "BPF_PERF_EVENT_OUTPUT") => self.send_event(call),
            (None, name) => self.user_function(name, call, span),
        }
    }

    fn result(&mut self, call: &ExternCall, value: C) {
        match call.result.first() {
            Some(&place) => self.store(place, Value::Scalar(value)),
            None => self.push(Stmt::Expr(value)),
        }
    }

    fn arguments(&mut self, call: &ExternCall) -> Vec<C> {
        let mut args = Vec::new();
        for arg in &call.args {
            if let ExternArg::In(values) = arg {
                for &e in values {
                    args.push(lower::scalar(self, e));
                }
            }
        }
        args
    }

    fn pure_function(&mut self, name: &str, call: &ExternCall) {
        if call.result.is_empty() {
            return;
        }
        let args = self.arguments(call);
        self.result(call, C::pure(name, args));
    }

    fn count(&mut self, object: ExternInst, call: &ExternCall, span: Span) {
        let Some(map) = self.counter_map(object, span) else {
            return;
        };
        let mut args = self.arguments(call).into_iter();
        let index = args.next().unwrap_or(C::int(0));
        let by = args.next().unwrap_or(C::int(1));
        let (key, slot) = (self.names.fresh("index"), self.names.fresh("count"));
        let sparse = self
            .maps
            .list
            .iter()
            .any(|m| m.name == map.as_str() && m.kind == MapKind::PercpuHash);
        let size = self
            .maps
            .counters
            .iter()
            .find(|c| c.map == map.as_str())
            .map_or(0, |c| c.size);
        let id = |n: &SmolStr| C::Ident(n.clone());
        let mut block = vec![
            Stmt::decl(CType::U32, key.clone(), index),
            Stmt::decl(
                CType::U64.ptr(),
                slot.clone(),
                C::call(
                    "bpf_map_lookup_elem",
                    vec![id(&map).addr(), id(&key).addr()],
                ),
            ),
        ];
        let target = C::Unary(cgen::tree::UnOp::Deref, Box::new(id(&slot)));
        let add = vec![Stmt::Update(BinOp::Add, target, by.clone())];
        let otherwise = if sparse {
            let first = self.names.fresh("first");
            let insert = vec![
                Stmt::decl(CType::U64, first.clone(), by),
                Stmt::Expr(C::call(
                    "bpf_map_update_elem",
                    vec![
                        id(&map).addr(),
                        id(&key).addr(),
                        id(&first).addr(),
                        C::id("BPF_NOEXIST"),
                    ],
                )),
            ];
            vec![Stmt::If(
                C::bin(BinOp::Lt, id(&key), C::int(size)),
                insert,
                Vec::new(),
            )]
        } else {
            Vec::new()
        };
        block.push(Stmt::If(id(&slot), add, otherwise));
        self.push(Stmt::Block(block));
    }

    fn counter_map(&mut self, object: ExternInst, span: Span) -> Option<SmolStr> {
        let index = object.as_u32();
        if let Some(known) = self.maps.counters.iter().find(|c| c.index == index) {
            return Some(known.map.as_str().into());
        }
        let data = &self.p.externs[object];
        let size = data
            .int_arg("max_index")
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| *n > 0);
        let Some(size) = size else {
            self.refuse(errors::counter_size(&data.name, span));
            return None;
        };
        let sparse = data
            .args
            .iter()
            .any(|(n, v)| n == "sparse" && *v == ir::CtorValue::Bool(true));
        let name = self.names.fresh_map(&data.name, "");
        self.maps.declare(
            MapAbi {
                name: name.to_string(),
                kind: if sparse {
                    MapKind::PercpuHash
                } else {
                    MapKind::PercpuArray
                },
                key_size: 4,
                value_size: 8,
                max_entries: if sparse { size.min(SPARSE_LIMIT) } else { size },
                no_prealloc: sparse,
            },
            Some((CType::U32, CType::U64)),
        );
        self.maps.counters.push(CounterAbi {
            index,
            name: data.name.to_string(),
            map: name.to_string(),
            size: size.into(),
        });
        Some(name)
    }

    fn send_event(&mut self, call: &ExternCall) {
        let map = match &self.maps.events {
            Some(map) => SmolStr::from(map.as_str()),
            None => {
                let map = self.names.fresh_map("events", "");
                self.maps.declare(
                    MapAbi {
                        name: map.to_string(),
                        kind: MapKind::PerfEventArray,
                        key_size: 4,
                        value_size: 4,
                        max_entries: 0,
                        no_prealloc: false,
                    },
                    None,
                );
                self.maps.events = Some(map.to_string());
                map
            }
        };
        let sent = C::call(
            "send_packet_event",
            vec![
                C::id("ctx"),
                C::Ident(map).addr(),
                super::block::packet_length(),
            ],
        );
        self.result(call, sent);
    }

    /// Calls a function of the user's C file: values by value, what is written by pointer, all in the
    /// machine's byte order, in the smallest of `u8`, `u16`, `u32` and `u64` that holds them.
    fn user_function(&mut self, name: &str, call: &ExternCall, span: Span) {
        if self.options.extern_files.is_empty() {
            self.refuse(errors::unknown_extern(self.options.hook, name, span));
            return;
        }
        let mut params = Vec::new();
        let mut args = Vec::new();
        let mut before = Vec::new();
        let mut after: Vec<(Place, C)> = Vec::new();
        let result = match &call.result[..] {
            [] => None,
            [place] => match self.c_type(self.p.place_type(*place)) {
                Some(ty) => Some((*place, ty)),
                None => {
                    self.refuse(errors::extern_parameter(
                        name,
                        "its result has more than 64 bits",
                        span,
                    ));
                    return;
                }
            },
            _ => {
                self.refuse(errors::extern_parameter(
                    name,
                    "its result is a struct",
                    span,
                ));
                return;
            }
        };
        for (i, arg) in call.args.iter().enumerate() {
            let param: SmolStr = format!("arg{i}").into();
            match arg {
                ExternArg::In(values) => {
                    for (k, &e) in values.iter().enumerate() {
                        let Some(ty) = self.c_type(Some(self.p.ty(e))) else {
                            self.refuse(errors::extern_parameter(
                                name,
                                "an argument has more than 64 bits",
                                span,
                            ));
                            return;
                        };
                        let param = if values.len() == 1 {
                            param.clone()
                        } else {
                            format!("{param}_{k}").into()
                        };
                        params.push((ty, param));
                        let value = lower::scalar(self, e);
                        args.push(value);
                    }
                }
                ExternArg::Out(places) | ExternArg::InOut(places) => {
                    for (k, &place) in places.iter().enumerate() {
                        let Some(ty) = self.c_type(self.p.place_type(place)) else {
                            self.refuse(errors::extern_parameter(
                                name,
                                "an argument has more than 64 bits",
                                span,
                            ));
                            return;
                        };
                        let param = if places.len() == 1 {
                            param.clone()
                        } else {
                            format!("{param}_{k}").into()
                        };
                        let holder = self.names.fresh(&param);
                        let first = match arg {
                            ExternArg::InOut(_) => self.read_place(place),
                            _ => C::int(0),
                        };
                        before.push(Stmt::decl(ty.clone(), holder.clone(), first));
                        params.push((ty.ptr(), param));
                        args.push(C::Ident(holder.clone()).addr());
                        after.push((place, C::Ident(holder)));
                    }
                }
                ExternArg::Member(_, index) => {
                    params.push((CType::U32, param));
                    args.push(C::int((*index).into()));
                }
                ExternArg::HeaderIn(_) | ExternArg::HeaderOut(_) => {
                    self.refuse(errors::extern_parameter(
                        name,
                        "an argument is a header",
                        span,
                    ));
                    return;
                }
                ExternArg::String(_) | ExternArg::Absent => {
                    self.refuse(errors::extern_parameter(
                        name,
                        "an argument is a string or left out",
                        span,
                    ));
                    return;
                }
            }
        }
        if !self.prototypes.iter().any(|(n, _)| n == name) {
            let result = result.as_ref().map_or(CType::Void, |(_, ty)| ty.clone());
            let item = Item::Prototype {
                result,
                name: name.into(),
                params,
            };
            self.prototypes.push((name.into(), item));
        }
        let outer = std::mem::replace(&mut self.out, before);
        let value = C::call(name, args);
        match result {
            Some((place, _)) => {
                let width = self.p.place_type(place).map_or(0, Type::width);
                let holder = self.own_local("result", CType::register(width), None);
                self.set(holder.clone(), value);
                self.trimmed_store(place, holder);
            }
            None => self.push(Stmt::Expr(value)),
        }
        for (place, holder) in after {
            self.trimmed_store(place, holder);
        }
        let block = std::mem::replace(&mut self.out, outer);
        self.push(Stmt::Block(block));
    }

    /// Stores what C gave, without the bits that P4's type does not have.
    fn trimmed_store(&mut self, place: Place, value: C) {
        let ty = self.p.place_type(place);
        let width = ty.map_or(0, Type::width);
        let value = match (ty, width) {
            (Some(Type::Bool), _) => C::bin(BinOp::Ne, value, C::int(0)),
            (_, 8 | 16 | 32 | 64) => value,
            _ => C::bin(BinOp::And, value, C::int(lower::mask(width))),
        };
        self.store(place, Value::Scalar(value));
    }

    fn read_place(&mut self, place: Place) -> C {
        use cgen::lower::Leaves;
        let width = self.p.place_type(place).map_or(1, Type::width).max(1);
        match place {
            Place::Var(v) => self.var(v),
            Place::Field(h, f) => self.field(h, f, width - 1, 0),
        }
    }

    fn c_type(&self, ty: Option<Type>) -> Option<CType> {
        match ty? {
            Type::Varbit(_) => None,
            ty => match ty.width() {
                0..=8 => Some(CType::U8),
                9..=16 => Some(CType::U16),
                17..=32 => Some(CType::U32),
                33..=64 => Some(CType::U64),
                _ => None,
            },
        }
    }
}
