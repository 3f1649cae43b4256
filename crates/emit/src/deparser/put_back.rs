//! Writes the headers that are emitted before the retained suffix.

use super::{Item, Saved};
use crate::access::Bytes;
use crate::emitter::Gen;
use crate::hints::{Event, Role};
use crate::locals::LocalKind;
use crate::plan::HeaderStorage;
use crate::target::Target;
use cgen::tree::{BinOp, Expr as C, Stmt, Type as CType};

impl<T: Target> Gen<'_, T> {
    /// Writes all items after the packet's front.
    pub(super) fn put_back(&mut self, items: &[Item], front: &C, size: &C) {
        let fixed = size.as_int().is_some();
        if fixed && size != front {
            let end = C::bin(BinOp::Add, C::id("data"), size.clone());
            self.push(Stmt::goto_if(
                C::bin(BinOp::Gt, end, C::id("data_end")),
                "reject",
            ));
        }
        let mut known = front.as_int().map(|at| at as u32);
        // A store by the target's primitive invalidates the check of the whole range.
        let mut checked = true;
        let at = self.summed_local("at", Some(C::int(0)));
        if known.is_none() {
            let kept = match self.in_record() {
                true => front.clone(),
                false => self.target.see(Role::OverResize, front.clone()),
            };
            self.set(at.clone(), kept);
            let most = self.target.limits().offset;
            self.goto_reject(C::bin(BinOp::Gt, at.clone(), C::int(most)));
        }
        for item in items {
            if known.is_some() && !fixed {
                // From here on the offset may depend on the packet.
                self.set(at.clone(), C::int(known.unwrap_or(0).into()));
                known = None;
            }
            if let (Some(stack), Some(Saved::Scratch(slot))) = (item.rolled, &item.saved) {
                self.put_elements_back(stack, *slot, &at);
                checked = false;
                continue;
            }
            let block = self.block(|g| {
                let (pointer, place) = match known {
                    Some(at) => {
                        if !checked && item.saved.is_none() {
                            let end = C::id("data").plus((at + item.fixed).into());
                            g.goto_reject(C::bin(BinOp::Gt, end, C::id("data_end")));
                        }
                        (C::id("data").plus(at.into()), C::int(at.into()))
                    }
                    None => {
                        let at = g.here(&at);
                        let pointer = g.own_local("out", CType::U8.ptr(), None);
                        g.set(
                            pointer.clone(),
                            C::bin(BinOp::Add, C::id("data"), at.clone()),
                        );
                        // Otherwise the compiler may check one sum and store through another.
                        g.on(Event::Computed(&pointer));
                        if item.saved.is_none()
                            || g.plan.storage(item.header) == HeaderStorage::Fields
                        {
                            let end = pointer.clone().plus(item.fixed.into());
                            g.push(Stmt::goto_if(
                                C::bin(BinOp::Gt, end, C::id("data_end")),
                                "reject",
                            ));
                        }
                        (pointer, at.clone())
                    }
                };
                g.put(item, &pointer, &place);
                if known.is_none() {
                    let len = g.relocated_length(item, item.fixed);
                    g.push(Stmt::Update(BinOp::Add, at.clone(), len));
                }
            });
            self.when(&item.present, block);
            checked &= item.saved.is_none();
            if let Some(k) = &mut known {
                *k += item.fixed;
            }
        }
    }

    /// Returns the offset of the next item, bounded.
    fn here(&mut self, at: &C) -> C {
        let most = self.target.limits().offset;
        if self.in_record() {
            self.forget();
            let here = self.pinned_local("here", None);
            self.set(here.clone(), at.clone());
            self.at_most(&here, most);
            return here;
        }
        if self.plan.forms.recheck_lengths {
            self.at_most(at, most);
        }
        at.clone()
    }

    fn put(&mut self, item: &Item, pointer: &C, place: &C) {
        let h = item.header;
        if self.plan.storage(h) == HeaderStorage::Packet {
            match &item.saved {
                None => {
                    for (at, size, word) in &item.words {
                        let to = pointer.clone().plus((*at).into());
                        let name = format!("store_be{}", size * 8);
                        self.push(Stmt::Expr(C::call(name, vec![to, word.clone()])));
                    }
                }
                Some(saved) => {
                    let len = self.relocated_length(item, item.fixed);
                    self.store_bytes(place.clone(), saved, len);
                }
            }
            return;
        }
        let layout = &self.p.header_types[self.p.headers[h].ty];
        let varbit = layout.varbit();
        let before: u32 = layout.fields[..varbit.map_or(layout.fields.len(), |v| v as usize)]
            .iter()
            .map(|f| f.ty.width())
            .sum();
        let bytes = Bytes {
            base: pointer.clone(),
            len: before / 8,
        };
        let count = varbit.map_or(layout.fields.len(), |v| v as usize);
        self.write_fields(h, 0, count, &bytes);
        if let (Some(v), Some(len), Some(saved)) = (varbit, &item.varbit, &item.saved) {
            let after = (layout.fixed_width() - before) / 8;
            let offset = place.clone().plus((before / 8).into());
            self.store_bytes(offset.clone(), saved, len.clone());
            if after > 0 {
                let rest = self.own_local("out", CType::U8.ptr(), None);
                let mut len = len.clone();
                if self.plan.state.is_some() {
                    // The length comes from memory, so its bound must be checked again.
                    let bounded = self.pinned_local("relocated_len", None);
                    self.set(bounded.clone(), len);
                    let most = layout.fields[v as usize].ty.width().div_ceil(8);
                    self.at_most(&bounded, most.into());
                    len = bounded;
                }
                let start = C::bin(BinOp::Add, offset, len);
                self.set(rest.clone(), C::bin(BinOp::Add, C::id("data"), start));
                self.on(Event::Computed(&rest));
                let end = rest.clone().plus(after.into());
                self.push(Stmt::goto_if(
                    C::bin(BinOp::Gt, end, C::id("data_end")),
                    "reject",
                ));
                let bytes = Bytes {
                    base: rest,
                    len: after,
                };
                self.write_fields(h, v as usize + 1, layout.fields.len(), &bytes);
            }
        }
    }

    fn store_bytes(&mut self, offset: C, saved: &Saved, len: C) {
        let (from, space) = match saved {
            Saved::Scratch(slot) => {
                let from = self.target.relocated().plus((*slot).into());
                (from, self.rebuilding.relocated_bytes - slot)
            }
            Saved::Front(at, most) => {
                let from = self.pinned_local("from", None);
                self.set(from.clone(), at.clone());
                let kept = self.target.limits().kept_front;
                self.at_most(&from, (kept - most).into());
                let front = self.local(LocalKind::Front).cast(CType::U8.ptr());
                (C::bin(BinOp::Add, front, from), *most)
            }
        };
        self.file.contents.copied_bytes = true;
        let store = |len: C| {
            let args = vec![C::id("ctx"), offset, from, len];
            vec![Stmt::goto_if(C::call("packet_store_bytes", args), "reject")]
        };
        let stored = match len {
            C::Int { .. } => store(len),
            _ => {
                let relocated = self.pinned_local("relocated_len", None);
                self.set(relocated.clone(), len);
                self.at_most(&relocated, space.into());
                self.unless_empty(&relocated, space, store)
            }
        };
        self.out.extend(stored);
        self.reload();
    }
}
