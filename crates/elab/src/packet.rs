//! The packet: `extract`, `lookahead`, `advance`, `length`, `emit`.

use crate::assign::LValue;
use crate::instances::InstRef;
use crate::storage::{HeaderLoc, StackLoc, Storage};
use crate::types::TypeShape;
use crate::value::Value;
use crate::{Elab, Result, errors};
use diag::Span;
use hir::{Arg, Call, Expr, ExprKind, StackProperty, Ty};
use ir::{BinaryOp, HeaderRef, Place, StmtKind, Type};

/// The size of a varbit that is extracted, in bits.
#[derive(Clone, Copy)]
enum Size<'e> {
    /// Evaluated before the header, in the order of the source.
    Known(ir::Expr),
    /// Evaluated after it.
    Open(&'e Expr),
}

impl Elab<'_> {
    /// Builds a call of a method of the incoming or outgoing packet.
    pub(crate) fn packet_method(
        &mut self,
        packet: InstRef,
        name: &str,
        call: &Call,
    ) -> Result<Value> {
        let span = call.span;
        match (packet, name, &call.args[..]) {
            (InstRef::PacketIn, "extract", [header]) => self.extract(header, None, span)?,
            (InstRef::PacketIn, "extract", [header, Arg::In(size)]) => {
                let size = match call.args.as_written().next() {
                    Some((1, _)) => Size::Known(self.varbit_size(size)?),
                    _ => Size::Open(size),
                };
                self.extract(header, Some(size), span)?;
            }
            (InstRef::PacketIn, "lookahead", []) => return self.lookahead(&call.result, span),
            (InstRef::PacketIn, "advance", [Arg::In(bits)]) => {
                let bits = self.scalar(bits)?;
                let bits = self.cast(bits, Type::bit(32), span);
                self.emit(StmtKind::Advance(bits), span)?;
            }
            (InstRef::PacketIn, "length", []) => {
                let place = Place::Var(self.new_var("length", Type::bit(32), span));
                self.emit(StmtKind::PacketLength(place), span)?;
                return Ok(Value::Scalar(self.read(place, span)));
            }
            (InstRef::PacketOut, "emit", [Arg::In(header)]) => {
                let value = self.eval(header)?;
                self.emit_value(&value, span)?;
            }
            _ => return self.fail(errors::unexpected(span, name)),
        }
        Ok(Value::Nothing)
    }

    /// Evaluates the size of an extracted varbit, in bits.
    fn varbit_size(&mut self, size: &Expr) -> Result<ir::Expr> {
        let bits = self.scalar(size)?;
        let bits = self.cast(bits, Type::bit(32), size.span);
        self.save_scalar(bits, size.span)
    }

    fn extract(&mut self, header: &Arg, size: Option<Size<'_>>, span: Span) -> Result<()> {
        let (storage, next) = match header {
            Arg::Out(expr) | Arg::InOut(expr) => {
                let next = self.next_of(expr)?;
                let freeze =
                    matches!(size, Some(Size::Open(size)) if crate::effects::has_effects(size));
                match self.lvalue(expr, freeze)? {
                    LValue::Whole(storage) => (storage, next),
                    _ => return self.fail(errors::extracts_no_header(span)),
                }
            }
            Arg::Discard(ty) => (self.allocate("_", ty, span)?, None),
            _ => return self.fail(errors::unexpected(span, "extract")),
        };
        let size = match size {
            None => None,
            Some(Size::Known(bits)) => Some(bits),
            Some(Size::Open(size)) => {
                let bits = self.scalar(size)?;
                Some(self.cast(bits, Type::bit(32), size.span))
            }
        };
        self.extract_storage(&storage, size, span)?;
        if let Some(stack) = next {
            let place = Place::Var(stack.next);
            let old = self.read(place, span);
            let one = self.bits(32, 1, span);
            let raised = self.binary(BinaryOp::Add, old, one, Type::bit(32), span);
            self.set(place, raised, span)?;
        }
        Ok(())
    }

    /// Returns the stack whose `next` element an expression is, or is a member of.
    fn next_of(&mut self, expr: &Expr) -> Result<Option<StackLoc>> {
        let mut at = expr;
        while let ExprKind::Field(inner, _) | ExprKind::Cast(inner) = &at.kind {
            at = inner;
        }
        match &at.kind {
            ExprKind::StackProperty(stack, StackProperty::Next) => Ok(Some(self.stack(stack)?)),
            _ => Ok(None),
        }
    }

    fn extract_storage(
        &mut self,
        storage: &Storage,
        size: Option<ir::Expr>,
        span: Span,
    ) -> Result<()> {
        match storage {
            Storage::Header(header) => {
                self.require_on_wire(header.ty, span)?;
                let layout = &self.program.header_types[header.ty];
                let has_varbit = layout.varbit().is_some();
                if has_varbit != size.is_some() {
                    let name = layout.name.clone();
                    return self.fail(errors::extracts_by_length(span, &name, has_varbit));
                }
                let kind = StmtKind::Extract {
                    header: header.at,
                    varbit: size,
                };
                self.emit(kind, span)?;
                self.only_valid(header, span)
            }
            Storage::Struct(parts) if size.is_none() => {
                for part in parts.iter() {
                    self.extract_storage(part, None, span)?;
                }
                Ok(())
            }
            _ => self.fail(errors::extracts_no_header(span)),
        }
    }

    /// Makes one wide look-ahead, whose value is split by slices.
    fn lookahead(&mut self, ty: &Ty, span: Span) -> Result<Value> {
        let mut types = Vec::new();
        self.leaf_types(ty, span, &mut types)?;
        if types
            .iter()
            .any(|t| !matches!(t, Type::Bool | Type::Bits { .. }))
            || matches!(
                *self.shape(ty, span)?,
                TypeShape::Union(_) | TypeShape::Stack(..)
            )
        {
            return self.fail(errors::looks_at_no_fixed_size(span));
        }
        let width: u32 = types.iter().map(|t| t.width()).sum();
        let single = match *self.shape(ty, span)? {
            TypeShape::Scalar(ty) => Some(ty),
            _ => None,
        };
        let wide = single.unwrap_or(Type::bit(width));
        let place = Place::Var(self.new_var("lookahead", wide, span));
        self.emit(StmtKind::Lookahead { place, skip: 0 }, span)?;
        let all = self.read(place, span);
        if single.is_some() {
            return Ok(Value::Scalar(all));
        }
        let mut scalars = Vec::new();
        let mut left = width;
        for ty in types {
            let taken = ty.width();
            let value = if taken == 0 {
                self.zero(ty, span)
            } else {
                let bits = self.slice(all, left - 1, left - taken, span);
                self.cast(bits, ty, span)
            };
            left -= taken;
            scalars.push(value);
        }
        self.gather(ty, &mut scalars.into_iter(), span)
    }

    /// Emits headers, members of structs and unions, elements of stacks in order.
    fn emit_value(&mut self, value: &Value, span: Span) -> Result<()> {
        match value {
            Value::Stored(Storage::Header(header)) => {
                self.require_on_wire(header.ty, span)?;
                self.emit(StmtKind::Emit(header.at), span)
            }
            Value::Invalid(_) => Ok(()),
            Value::Header(ty, _) => {
                self.require_on_wire(*ty, span)?;
                let copy = HeaderLoc {
                    at: HeaderRef::Header(self.new_header("tmp", *ty, span)),
                    ty: *ty,
                    union: None,
                };
                self.assign(&Storage::Header(copy.clone()), value.clone(), span)?;
                self.emit(StmtKind::Emit(copy.at), span)
            }
            Value::Scalar(_) | Value::Stored(Storage::Scalar(_)) | Value::Nothing => {
                self.fail(errors::emits_no_header(span))
            }
            _ => {
                for part in self.parts(value) {
                    self.emit_value(&part, span)?;
                }
                Ok(())
            }
        }
    }
}
