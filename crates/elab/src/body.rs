//! The body under construction, and the basic functions to build it.

use crate::storage::{HeaderLoc, Storage};
use crate::{Elab, Result};
use diag::Span;
use ir::{
    BinaryOp, Bits, Block, Expr, ExprData, ExprKind, HeaderRef, Label, Place, Stmt, StmtKind, Type,
    UnaryOp,
};

/// A body under construction.
#[derive(Default)]
pub(crate) struct Body {
    /// Statements of the innermost block so far.
    pub(crate) out: Block,
    /// Enclosing loops, the innermost last.
    pub(crate) loops: Vec<LoopFrame>,
    /// Bodies that are built in place of a call, innermost last.
    pub(crate) inlined: Vec<InlineFrame>,
    /// Destination of a returned value.
    pub(crate) result: Option<Storage>,
    /// True if the body belongs to a parser.
    pub(crate) in_parser: bool,
    /// States of the parser, while statements are at the top level of a state.
    pub(crate) graph: Option<crate::parser::Graph>,
    /// Number of further copies of the surrounding source, made by unrolling.
    pub(crate) unrolled: u32,
}

/// An enclosing loop.
pub(crate) struct LoopFrame {
    /// Label that `break` leaves.
    pub(crate) outer: Label,
    /// Label that `continue` leaves.
    pub(crate) inner: Label,
    /// True if there is a `continue`.
    pub(crate) continued: bool,
    /// True if there is a `break`.
    pub(crate) broken: bool,
}

/// A body that is built in place of a call.
pub(crate) struct InlineFrame {
    /// Label that `return` leaves.
    pub(crate) label: Label,
    /// Number of its `return` statements.
    pub(crate) returns: u32,
    /// Parameters that are copied out, also at an `exit`.
    pub(crate) copy_outs: Vec<crate::args::CopyOut>,
    /// Destination of a returned value.
    pub(crate) result: Option<Storage>,
    /// State that `return` goes to, if the body became states of its own.
    pub(crate) after: Option<ir::State>,
}

impl Elab<'_> {
    /// Appends a statement.
    pub(crate) fn emit(&mut self, kind: StmtKind, span: Span) -> Result<()> {
        self.grow(1, span)?;
        self.body.out.push(Stmt::new(kind, span));
        Ok(())
    }

    /// Builds a block by itself.
    pub(crate) fn block(&mut self, build: impl FnOnce(&mut Self) -> Result<()>) -> Result<Block> {
        let outer = std::mem::take(&mut self.body.out);
        let graph = self.body.graph.take();
        let built = build(self);
        self.body.graph = graph;
        let block = std::mem::replace(&mut self.body.out, outer);
        built.map(|()| block)
    }

    /// Builds a body apart from the one being built.
    pub(crate) fn separate<R>(
        &mut self,
        body: Body,
        build: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<(R, Block)> {
        let outer = std::mem::replace(&mut self.body, body);
        let built = build(self);
        let inner = std::mem::replace(&mut self.body, outer);
        built.map(|result| (result, inner.out))
    }

    /// Appends `dst = value`.
    pub(crate) fn set(&mut self, dst: Place, value: Expr, span: Span) -> Result<()> {
        self.emit(StmtKind::Assign { dst, value }, span)
    }

    /// Adds an expression to the program.
    pub(crate) fn expr(&mut self, kind: ExprKind, ty: Type, span: Span) -> Expr {
        self.size += 1;
        self.program.exprs.push(ExprData { kind, ty, span })
    }

    /// Returns the type of an expression.
    pub(crate) fn type_of(&self, expr: Expr) -> Type {
        self.program.exprs[expr].ty
    }

    /// Makes a constant of a value that fits.
    pub(crate) fn bits(&mut self, width: u32, value: u64, span: Span) -> Expr {
        let bits = Bits::new(width, value);
        self.expr(ExprKind::Const(bits), Type::bit(width), span)
    }

    /// `true` or `false`.
    pub(crate) fn bool(&mut self, value: bool, span: Span) -> Expr {
        self.expr(ExprKind::Bool(value), Type::Bool, span)
    }

    /// Zero, false or the first member.
    ///
    /// An empty varbit is a variable that nothing writes, because the IR has no varbit constants.
    pub(crate) fn zero(&mut self, ty: Type, span: Span) -> Expr {
        let kind = match ty {
            Type::Bool => ExprKind::Bool(false),
            Type::Bits { width, .. } => ExprKind::Const(Bits::zero(width)),
            Type::Varbit(_) => ExprKind::Var(self.new_var("empty", ty, span)),
            Type::Error | Type::Enum(_) => ExprKind::Member(0),
        };
        self.expr(kind, ty, span)
    }

    /// Reads a place.
    pub(crate) fn read(&mut self, place: Place, span: Span) -> Expr {
        let ty = self.place_type(place);
        let kind = match place {
            Place::Var(var) => ExprKind::Var(var),
            Place::Field(header, index) => ExprKind::Field(header, index),
        };
        self.expr(kind, ty, span)
    }

    /// An infix operation whose result has the given type.
    pub(crate) fn binary(&mut self, op: BinaryOp, a: Expr, b: Expr, ty: Type, span: Span) -> Expr {
        if ty == Type::Bool && matches!(op, BinaryOp::And | BinaryOp::Or) {
            let decides = op == BinaryOp::Or;
            for (this, other) in [(a, b), (b, a)] {
                if let ExprKind::Bool(value) = self.program.exprs[this].kind {
                    return if value == decides { this } else { other };
                }
            }
        }
        self.expr(ExprKind::Binary(op, a, b), ty, span)
    }

    /// `a && b` of pure operands.
    pub(crate) fn and(&mut self, a: Expr, b: Expr, span: Span) -> Expr {
        self.binary(BinaryOp::And, a, b, Type::Bool, span)
    }

    /// `a || b` of pure operands.
    pub(crate) fn or(&mut self, a: Expr, b: Expr, span: Span) -> Expr {
        self.binary(BinaryOp::Or, a, b, Type::Bool, span)
    }

    /// `!a`
    pub(crate) fn not(&mut self, a: Expr, span: Span) -> Expr {
        match self.program.exprs[a].kind {
            ExprKind::Bool(value) => self.bool(!value, span),
            _ => self.expr(ExprKind::Unary(UnaryOp::Not, a), Type::Bool, span),
        }
    }

    /// Converts a value to a type, if it has another one.
    pub(crate) fn cast(&mut self, value: Expr, ty: Type, span: Span) -> Expr {
        let data = &self.program.exprs[value];
        if data.ty == ty {
            return value;
        }
        if let (ExprKind::Const(bits), Type::Bits { signed: from, .. }, Type::Bits { width, .. }) =
            (&data.kind, data.ty, ty)
        {
            let bits = Bits::from_int(width, &bits.to_int(from));
            return self.expr(ExprKind::Const(bits), ty, span);
        }
        self.expr(ExprKind::Cast(value), ty, span)
    }

    /// Takes bits `hi` down to `lo`, as an unsigned value.
    pub(crate) fn slice(&mut self, base: Expr, hi: u32, lo: u32, span: Span) -> Expr {
        let ty = self.type_of(base);
        if lo == 0 && ty == Type::bit(hi + 1) {
            return base;
        }
        let kind = ExprKind::Slice { base, hi, lo };
        self.expr(kind, Type::bit(hi - lo + 1), span)
    }

    /// Condition that a header is valid.
    pub(crate) fn is_valid(&mut self, header: HeaderRef, span: Span) -> Expr {
        self.expr(ExprKind::IsValid(header), Type::Bool, span)
    }

    /// Makes a header valid and the other members of its union invalid.
    pub(crate) fn set_valid(&mut self, header: &HeaderLoc, span: Span) -> Result<()> {
        self.emit(StmtKind::SetValid(header.at), span)?;
        self.only_valid(header, span)
    }

    /// Makes a header and its union invalid.
    pub(crate) fn set_invalid(&mut self, header: &HeaderLoc, span: Span) -> Result<()> {
        self.emit(StmtKind::SetInvalid(header.at), span)?;
        self.only_valid(header, span)
    }

    /// Makes the other members of a header's union invalid.
    pub(crate) fn only_valid(&mut self, header: &HeaderLoc, span: Span) -> Result<()> {
        for other in header.siblings().collect::<Vec<_>>() {
            self.emit(StmtKind::SetInvalid(other), span)?;
        }
        Ok(())
    }
}
