//! Parser of the text form: parts of statements, and expressions.

use super::OPERATORS;
use super::lex::Token;
use super::parse::{Reader, Result};
use crate::automaton::ByteTransition;
use crate::*;
use diag::Span;

impl Reader {
    pub(crate) fn block(&mut self) -> Result<Block> {
        self.expect("{")?;
        self.deeper(|p| {
            let mut block = Vec::new();
            while !p.eat("}") {
                block.push(p.stmt()?);
            }
            Ok(block)
        })
    }

    pub(super) fn switch(&mut self) -> Result<StmtKind> {
        let on = self.expr()?;
        self.expect("{")?;
        let (mut cases, mut default) = (Vec::new(), Vec::new());
        while !self.eat("}") {
            if self.eat_word("default") {
                default = self.block()?;
            } else {
                self.expect_word("case")?;
                let mut values = vec![self.bits()?];
                while self.eat(",") {
                    values.push(self.bits()?);
                }
                cases.push((values, self.block()?));
            }
        }
        Ok(StmtKind::Switch { on, cases, default })
    }

    pub(super) fn skip_ahead(&mut self) -> Result<StmtKind> {
        let width = self.number()?;
        let skip = match self.eat_word("behind") {
            true => self.number()?,
            false => 0,
        };
        self.expect("->")?;
        let short = self.lookup("variable", |n| &n.vars)?;
        self.expect("{")?;
        let mut sizes = Vec::new();
        while !self.eat("}") {
            let tag = self.bits()?;
            self.expect(":")?;
            sizes.push((tag, self.number()?));
            self.expect(";")?;
        }
        let table = SkipTable { skip, width, sizes };
        Ok(StmtKind::SkipAhead { table, short })
    }

    pub(super) fn automaton(&mut self) -> Result<StmtKind> {
        let start = self.expr()?;
        let limit = match self.eat_word("within") {
            true => Some(self.expr()?),
            false => None,
        };
        self.expect("->")?;
        let end = self.lookup("variable", |n| &n.vars)?;
        let passed = match self.eat(",") {
            true => Some(self.lookup("variable", |n| &n.vars)?),
            false => None,
        };
        self.expect("{")?;
        let mut rows = Vec::new();
        while !self.eat("}") {
            if self.number::<usize>()? != rows.len() {
                return self.error("the states of an automaton have numbers in a row");
            }
            self.expect(":")?;
            let mut row = Vec::new();
            while !self.eat(";") {
                let first = self.number()?;
                self.expect("..")?;
                let last = self.number()?;
                self.expect("->")?;
                let to = self.number()?;
                row.push(ByteTransition { first, last, to });
            }
            rows.push(row);
        }
        Ok(StmtKind::Automaton {
            automaton: Automaton { rows },
            start,
            limit,
            end,
            passed,
        })
    }

    pub(super) fn label(&mut self) -> Result<Label> {
        self.numbered("label", "a label").map(Label::from_u32)
    }

    /// Parses an entry point.
    pub(crate) fn entry(&mut self) -> Result<EntryPoint> {
        self.numbered("e", "an entry").map(EntryPoint::from_u32)
    }

    /// Parses a word that consists of a prefix and a number.
    fn numbered(&mut self, prefix: &str, what: &str) -> Result<u32> {
        let number = match self.peek() {
            Token::Word(word) => word.strip_prefix(prefix).and_then(|n| n.parse().ok()),
            _ => None,
        };
        match number {
            Some(number) => {
                self.next();
                Ok(number)
            }
            None => self.error(format!("expected {what}")),
        }
    }

    pub(super) fn arg(&mut self) -> Result<Arg> {
        Ok(match self.word()?.as_str() {
            "in" => Arg::In(self.expr()?),
            "out" if self.eat_word("_") => Arg::Out(None),
            "out" => Arg::Out(Some(self.place()?)),
            "inout" => Arg::InOut(self.place()?),
            "header" if self.eat_word("_") => Arg::Header(None),
            "header" => Arg::Header(Some(self.header()?)),
            _ => return self.error("expected an argument's direction before this"),
        })
    }

    pub(super) fn extern_call(&mut self, effect: Effect) -> Result<StmtKind> {
        let object = if let Token::Punct("::") = self.peek_at(1) {
            let object = self.lookup("extern object", |n| &n.externs)?;
            self.expect("::")?;
            Some(object)
        } else {
            None
        };
        let name = super::names::unquote(&self.word()?).into();
        self.expect("(")?;
        let args = self.list(")", Reader::extern_arg)?;
        let mut result = Vec::new();
        if self.eat("->") {
            result.push(self.place()?);
            while self.eat(",") {
                result.push(self.place()?);
            }
        }
        Ok(StmtKind::Extern(ExternCall {
            object,
            name,
            effect,
            args,
            result,
        }))
    }

    fn extern_arg(&mut self) -> Result<ExternArg> {
        if let Token::String(_) = self.peek() {
            return Ok(ExternArg::String(self.string()?.into()));
        }
        let word = self.word()?;
        Ok(match word.as_str() {
            "_" => ExternArg::Absent,
            "in" => {
                self.expect("(")?;
                ExternArg::In(self.list(")", Reader::expr)?)
            }
            "out" => {
                self.expect("(")?;
                ExternArg::Out(self.list(")", Reader::place)?)
            }
            "inout" => {
                self.expect("(")?;
                ExternArg::InOut(self.list(")", Reader::place)?)
            }
            "object" => ExternArg::Object(self.lookup("extern object", |n| &n.externs)?),
            "header_in" => ExternArg::HeaderIn(self.header()?),
            "header_out" => ExternArg::HeaderOut(self.header()?),
            "member" => match self.member()? {
                (Type::Enum(id), index) => ExternArg::Member(id, index),
                _ => return self.error("expected a member of an enum"),
            },
            _ => return self.error(format!("`{word}` is no kind of argument")),
        })
    }

    pub(super) fn place(&mut self) -> Result<Place> {
        let Token::Word(word) = self.peek() else {
            return self.error("expected a variable or a header's field");
        };
        let is_slice = matches!(
            (self.peek_at(2), self.peek_at(3)),
            (Token::Number(_), Token::Punct(":"))
        );
        let is_element = self.names.stacks.contains_key(word)
            && matches!(self.peek_at(1), Token::Punct("["))
            && !is_slice;
        if let Some(&var) = self.names.vars.get(word)
            && !is_element
        {
            self.next();
            return Ok(Place::Var(var));
        }
        if let Some(&(header, field)) = self.names.fields.get(word) {
            self.next();
            return Ok(Place::Field(HeaderRef::Header(header), field));
        }
        let header = self.header()?;
        Ok(Place::Field(header, self.field(header)?))
    }

    pub(super) fn header(&mut self) -> Result<HeaderRef> {
        let Token::Word(word) = self.peek() else {
            return self.error("expected a header");
        };
        if let Some(&header) = self.names.headers.get(word)
            && !matches!(self.peek_at(1), Token::Punct("["))
        {
            self.next();
            return Ok(HeaderRef::Header(header));
        }
        let stack = self.lookup("variable, header or stack", |n| &n.stacks)?;
        self.expect("[")?;
        let index = self.expr()?;
        self.expect("]")?;
        Ok(HeaderRef::Element(stack, index))
    }

    /// Parses `.name` after a header that is not a plain word, or `.?3` for a field by number.
    fn field(&mut self, header: HeaderRef) -> Result<u32> {
        self.expect(".")?;
        if self.eat("?") {
            return self.number();
        }
        let name = super::names::unquote(&self.word()?);
        let layout = self.program.header_layout(header);
        match layout.and_then(|l| l.fields.iter().position(|f| f.name == name)) {
            Some(field) => Ok(field as u32),
            None => self.error(format!("the header has no field `{name}`")),
        }
    }

    fn push(&mut self, kind: ExprKind, ty: Option<Type>) -> Result<Expr> {
        match ty.or_else(|| self.program.natural_type(&kind)) {
            Some(ty) => Ok(self.program.exprs.push(ExprData {
                kind,
                ty,
                span: Span::NONE,
            })),
            None => self.error("this has no type"),
        }
    }

    /// Parses an expression up to a bracket, comma, brace or semicolon.
    pub(crate) fn expr(&mut self) -> Result<Expr> {
        self.deeper(|p| {
            let first = p.operand()?;
            let expr = if p.eat("?") {
                let then = p.operand()?;
                p.expect(":")?;
                let otherwise = p.operand()?;
                p.push(ExprKind::Mux(first, then, otherwise), None)?
            } else if let Some(op) = p.operator() {
                p.next();
                let second = p.operand()?;
                p.push(ExprKind::Binary(op, first, second), None)?
            } else {
                first
            };
            if p.eat(":") {
                p.program.exprs[expr].ty = p.ty()?;
            }
            Ok(expr)
        })
    }

    fn operator(&self) -> Option<BinaryOp> {
        match self.peek() {
            Token::Punct(p) => OPERATORS.iter().find(|(_, t)| t == p).map(|&(op, _)| op),
            _ => None,
        }
    }

    fn operand(&mut self) -> Result<Expr> {
        let op = match self.peek() {
            Token::Punct("-") => UnaryOp::Neg,
            Token::Punct("~") => UnaryOp::BitNot,
            Token::Punct("!") => UnaryOp::Not,
            _ => return self.postfix(),
        };
        self.next();
        let operand = self.deeper(Reader::operand)?;
        self.push(ExprKind::Unary(op, operand), None)
    }

    fn postfix(&mut self) -> Result<Expr> {
        let mut expr = self.primary()?;
        while self.eat("[") {
            let hi = self.number()?;
            self.expect(":")?;
            let lo = self.number()?;
            self.expect("]")?;
            let base = expr;
            expr = self.push(ExprKind::Slice { base, hi, lo }, None)?;
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Result<Expr> {
        if self.eat("(") {
            let expr = self.expr()?;
            self.expect(")")?;
            return Ok(expr);
        }
        if let Token::Number(_) = self.peek() {
            let (bits, signed) = self.sized()?;
            let width = bits.width();
            return self.push(ExprKind::Const(bits), Some(Type::Bits { width, signed }));
        }
        let Token::Word(word) = self.peek() else {
            return self.error("expected an expression");
        };
        match (word.as_str(), self.peek_at(1)) {
            (_, Token::Punct("::")) => {
                let (ty, index) = self.member()?;
                self.push(ExprKind::Member(index), Some(ty))
            }
            ("true", _) => {
                self.next();
                self.push(ExprKind::Bool(true), None)
            }
            ("false", _) => {
                self.next();
                self.push(ExprKind::Bool(false), None)
            }
            ("valid", Token::Punct("(")) => {
                self.next();
                self.expect("(")?;
                let header = self.header()?;
                self.expect(")")?;
                self.push(ExprKind::IsValid(header), None)
            }
            ("cast", Token::Punct("(")) => {
                self.next();
                self.expect("(")?;
                let operand = self.expr()?;
                self.expect(",")?;
                let ty = self.ty()?;
                self.expect(")")?;
                self.push(ExprKind::Cast(operand), Some(ty))
            }
            _ => {
                let kind = match self.place()? {
                    Place::Var(var) => ExprKind::Var(var),
                    Place::Field(header, field) => ExprKind::Field(header, field),
                };
                self.push(kind, None)
            }
        }
    }
}
