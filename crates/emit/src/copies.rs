//! Operations on whole headers: copies, invalidation, moves along a stack.

use crate::emitter::Gen;
use crate::locals::LocalKind;
use crate::target::Target;
use crate::values::Value;
use cgen::lower::limb_count;
use cgen::tree::{BinOp, Expr as C};
use ir::{Header, HeaderRef, Type};

impl<T: Target> Gen<'_, T> {
    /// Copies fields and validity. An index outside a stack yields an invalid header.
    pub(crate) fn copy_from(&mut self, dst: Header, src: HeaderRef) {
        self.with_header_or(
            src,
            |g, src| g.copy_header(dst, src),
            |g| g.clear_header(dst),
        );
    }

    /// Makes a header invalid and its fields zero.
    fn clear_header(&mut self, h: Header) {
        let fields = self.p.header_types[self.p.headers[h].ty].fields.len();
        for f in 0..fields as u32 {
            let ty = self.field_type(h, f);
            let value = match ty {
                Type::Varbit(_) => Value::Slice(C::int(0), C::int(0)),
                _ if ty.width() <= 64 => Value::Scalar(C::int(0)),
                _ => Value::Limbs(vec![C::int(0); limb_count(ty.width()) as usize]),
            };
            self.write_field(h, f, value);
        }
        self.set_validity(h, false);
    }

    /// Copies fields and validity.
    pub(crate) fn copy_header(&mut self, dst: Header, src: Header) {
        if dst == src {
            return;
        }
        let fields = self.p.header_types[self.p.headers[dst].ty].fields.len();
        for f in 0..fields as u32 {
            let ty = self.field_type(src, f);
            let width = ty.width();
            let value = match ty {
                Type::Varbit(_) => Value::Slice(
                    self.local(LocalKind::VarbitAt(src)),
                    self.local(LocalKind::VarbitLen(src)),
                ),
                _ if width == 0 => continue,
                _ if width <= 64 => Value::Scalar(self.read_field(src, f, width - 1, 0)),
                _ => Value::Limbs(
                    (0..limb_count(width))
                        .map(|i| self.read_field(src, f, (i * 64 + 63).min(width - 1), i * 64))
                        .collect(),
                ),
            };
            self.write_field(dst, f, value);
        }
        let valid = self.validity(src);
        let var = self.local(LocalKind::Valid(dst));
        self.set(var, valid);
        self.touch(dst);
    }

    pub(crate) fn move_elements(&mut self, stacks: &[ir::Stack], n: u32, up: bool) {
        let rolled = stacks.first().and_then(|&s| self.plan.rolled.member(s));
        if let Some(member) = rolled {
            self.pop_elements(member.stack, n);
        }
        let copied = if rolled.is_some() { &[] } else { stacks };
        for &stack in copied {
            let elems = self.p.stacks[stack].elems.clone();
            let size = elems.len();
            let n = (n as usize).min(size);
            if up {
                for i in (n..size).rev() {
                    self.copy_header(elems[i], elems[i - n]);
                }
                for &h in &elems[..n] {
                    self.set_validity(h, false);
                }
            } else {
                for i in 0..size - n {
                    self.copy_header(elems[i], elems[i + n]);
                }
                for &h in &elems[size - n..] {
                    self.set_validity(h, false);
                }
            }
        }
        let Some(&first) = stacks.first() else { return };
        let size = self.p.stacks[first].elems.len() as u64;
        let next = self.local(LocalKind::Var(self.p.stacks[first].next));
        let n = u64::from(n);
        let (limit, inside) = if up {
            let sum = next.clone().plus(n);
            (
                C::bin(BinOp::Ge, next.clone(), C::int(size.saturating_sub(n))),
                (C::int(size), sum),
            )
        } else {
            let rest = C::bin(BinOp::Sub, next.clone(), C::int(n));
            (
                C::bin(BinOp::Le, next.clone(), C::int(n)),
                (C::int(0), rest),
            )
        };
        let value = C::Cond(Box::new(limit), Box::new(inside.0), Box::new(inside.1));
        self.set(next, value);
    }
}
