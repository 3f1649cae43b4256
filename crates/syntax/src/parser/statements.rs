//! Statements and blocks.

use diag::Span;

use super::{Parse, Parser};
use crate::ast::{
    Annotation, BinaryOp, Block, Decl, DeclKind, Expr, ExprKind, IfArm, Stmt, StmtKind, SwitchCase,
};
use crate::errors::{common, grammar};
use crate::token::TokenKind;

/// Returns the operator of an assignment; `Some(None)` for `=`.
fn assignment(kind: TokenKind) -> Option<Option<BinaryOp>> {
    Some(Some(match kind {
        TokenKind::Assign => return Some(None),
        TokenKind::AddAssign => BinaryOp::Add,
        TokenKind::SubAssign => BinaryOp::Sub,
        TokenKind::MulAssign => BinaryOp::Mul,
        TokenKind::DivAssign => BinaryOp::Div,
        TokenKind::ModAssign => BinaryOp::Mod,
        TokenKind::ShlAssign => BinaryOp::Shl,
        TokenKind::ShrAssign => BinaryOp::Shr,
        TokenKind::AndAssign => BinaryOp::BitAnd,
        TokenKind::OrAssign => BinaryOp::BitOr,
        TokenKind::XorAssign => BinaryOp::BitXor,
        TokenKind::SatAddAssign => BinaryOp::SatAdd,
        TokenKind::SatSubAssign => BinaryOp::SatSub,
        _ => return None,
    }))
}

/// Returns true for the name of a method that statements call: of headers, stacks, packets, tables and checksums.
fn is_method(name: &str) -> bool {
    matches!(
        name,
        "setValid"
            | "setInvalid"
            | "push_front"
            | "pop_front"
            | "apply"
            | "extract"
            | "advance"
            | "emit"
            | "count"
            | "clear"
    )
}

impl Parser<'_> {
    /// `blockStatement`, in a scope of its own.
    pub(super) fn block(&mut self) -> Parse<Block> {
        let annotations = self.annotations()?;
        self.block_after(annotations)
    }

    fn block_after(&mut self, annotations: Vec<Annotation>) -> Parse<Block> {
        let opener = self.expect(TokenKind::LBrace)?;
        let stmts =
            self.nested(|p| p.scoped(|p| p.members(opener, |p| p.statement().map(Some))))?;
        Ok(Block {
            annotations,
            stmts,
            span: self.since(opener),
        })
    }

    /// `statementOrDeclaration`.
    pub(super) fn statement(&mut self) -> Parse<Stmt> {
        self.nested(Self::statement_here)
    }

    fn statement_here(&mut self) -> Parse<Stmt> {
        let start = self.span();
        let mut annotations = self.annotations()?;
        let kind = match self.kind() {
            TokenKind::Semi => {
                self.bump();
                StmtKind::Empty
            }
            TokenKind::LBrace => {
                StmtKind::Block(self.block_after(std::mem::take(&mut annotations))?)
            }
            TokenKind::If => self.conditional()?,
            TokenKind::Else => return Err(self.report(common::stray_else(start))),
            TokenKind::Switch => self.switch()?,
            TokenKind::For => self.for_loop()?,
            TokenKind::Return => {
                self.bump();
                let forgotten = self.token().first || self.at_kind(TokenKind::RBrace);
                let value = if self.at_kind(TokenKind::Semi) || forgotten {
                    None
                } else {
                    Some(self.expr()?)
                };
                self.semicolon("`return`")?;
                StmtKind::Return(value)
            }
            TokenKind::Exit => self.word_statement(StmtKind::Exit, "`exit`")?,
            TokenKind::Break => self.word_statement(StmtKind::Break, "`break`")?,
            TokenKind::Continue => self.word_statement(StmtKind::Continue, "`continue`")?,
            TokenKind::Const => {
                let decl = self.constant(std::mem::take(&mut annotations), start)?;
                StmtKind::Decl(Box::new(decl))
            }
            TokenKind::Table | TokenKind::Action | TokenKind::State | TokenKind::ValueSet
                if self.kind_at(1).is_name() =>
            {
                return Err(self.misplaced_declaration("among statements"));
            }
            TokenKind::Transition => {
                let (place, help) = if self.in_state {
                    (
                        "inside of another statement",
                        "a transition is the last statement of a state: choose where it leads with \
                         `transition select (...) { ... }`",
                    )
                } else {
                    (
                        "outside of parsers",
                        "only parsers have states to go to: use `if`, `switch` or a table here",
                    )
                };
                return Err(self.report(grammar::misplaced(start, "`transition`", place, help)));
            }
            _ => self.simple(&mut annotations, start)?,
        };
        Ok(Stmt {
            annotations,
            kind,
            span: self.since(start),
        })
    }

    fn word_statement(&mut self, kind: StmtKind, name: &str) -> Parse<StmtKind> {
        self.bump();
        self.semicolon(name)?;
        Ok(kind)
    }

    /// Parses a variable, an instance, an assignment or a call, with its `;`.
    fn simple(&mut self, annotations: &mut Vec<Annotation>, start: Span) -> Parse<StmtKind> {
        self.check_c_statement()?;
        if self.at_typed_name() {
            let decl = self.variable(std::mem::take(annotations), start)?;
            return Ok(StmtKind::Decl(Box::new(decl)));
        }
        let target = self.target()?;
        let call = matches!(target.kind, ExprKind::Call { .. });
        if call && self.kind().is_name() && !self.token().first {
            let decl = self.instance_after(std::mem::take(annotations), target, start)?;
            return Ok(StmtKind::Decl(Box::new(decl)));
        }
        let kind = self.assignment_or_call(target)?;
        let after = if matches!(kind, StmtKind::Call(_)) {
            "the call"
        } else {
            "the assignment"
        };
        self.semicolon(after)?;
        Ok(kind)
    }

    /// Parses the left side of an assignment, or a call.
    fn target(&mut self) -> Parse<Expr> {
        self.nested(|p| {
            let kind = p.kind();
            let starts = kind.is_name()
                || matches!(
                    kind,
                    TokenKind::Dot
                        | TokenKind::This
                        | TokenKind::LParen
                        | TokenKind::LBrace
                        | TokenKind::Error
                        | TokenKind::Int
                        | TokenKind::Str
                )
                || matches!(
                    kind,
                    TokenKind::Bit
                        | TokenKind::IntType
                        | TokenKind::Bool
                        | TokenKind::Varbit
                        | TokenKind::Tuple
                        | TokenKind::StringType
                )
                || matches!(kind, TokenKind::Concat | TokenKind::Minus | TokenKind::Plus);
            if !starts {
                return Err(p.unexpected("a statement"));
            }
            match (kind, p.kind_at(1)) {
                (TokenKind::Concat, next) if next.is_name() => {
                    return p.prefix_increment("++");
                }
                (TokenKind::Minus, TokenKind::Minus) => return p.prefix_increment("--"),
                _ => {}
            }
            let first = p.primary()?;
            p.postfix(first)
        })
    }

    fn assignment_or_call(&mut self, target: Expr) -> Parse<StmtKind> {
        if let Some(op) = assignment(self.kind()) {
            self.bump();
            let value = self.expr()?;
            return Ok(StmtKind::Assign { target, op, value });
        }
        if matches!(target.kind, ExprKind::Call { .. }) {
            return Ok(StmtKind::Call(target));
        }
        let start = target.span;
        if self.kind().is_name() || (self.token().first && !self.at_kind(TokenKind::Semi)) {
            return Err(self.unexpected("`=`, or `(` to call it"));
        }
        let method = match &target.kind {
            ExprKind::Member(_, name) if self.at_kind(TokenKind::Semi) => Some(name.clone()),
            _ => None,
        };
        self.expr_after(target)?;
        let span = self.since(start);
        if let Some(name) = method.filter(|name| is_method(&name.name)) {
            return Err(self.report(grammar::method_not_called(span, &name.name)));
        }
        if self.at_kind(TokenKind::Assign) {
            let help = "assign to a variable, a field, a slice or an element";
            return Err(self.report(grammar::misplaced(
                span,
                "this expression",
                "left of `=`",
                help,
            )));
        }
        Err(self.report(grammar::expression_statement(span)))
    }

    /// Parses `if (c) s else if (c) s else s`. A loop reads the chain, so that its length is not limited.
    fn conditional(&mut self) -> Parse<StmtKind> {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let span = self.bump();
            let cond = self.condition()?;
            let then = self.branch()?;
            arms.push(IfArm { cond, then, span });
            if !self.eat(TokenKind::Else) {
                break;
            }
            if !self.at_kind(TokenKind::If) {
                otherwise = Some(Box::new(self.branch()?));
                break;
            }
        }
        for arm in &mut arms {
            arm.span = self.since(arm.span);
        }
        Ok(StmtKind::If { arms, otherwise })
    }

    /// `(c)`
    fn condition(&mut self) -> Parse<Expr> {
        let opener = self.expect(TokenKind::LParen)?;
        let cond = self.expr()?;
        self.check_assignment()?;
        self.close(TokenKind::RParen, opener)?;
        Ok(cond)
    }

    /// Parses the statement after `if`, `else` or `for`, where a declaration would have no use.
    fn branch(&mut self) -> Parse<Stmt> {
        self.scoped(Self::statement)
    }

    /// `switch (e) { cases }`
    fn switch(&mut self) -> Parse<StmtKind> {
        self.bump();
        let scrutinee = self.condition()?;
        let opener = self.expect(TokenKind::LBrace)?;
        let cases = self.nested(|p| p.members(opener, |p| p.switch_case().map(Some)))?;
        Ok(StmtKind::Switch { scrutinee, cases })
    }

    fn switch_case(&mut self) -> Parse<SwitchCase> {
        let start = self.span();
        if self.at_word("case") {
            self.report(common::case_word(start, "switch", "label: { ... }"));
            self.bump();
        }
        let label = if self.at_kind(TokenKind::Default) {
            Expr {
                kind: ExprKind::Default,
                span: self.bump(),
            }
        } else if self.at_kind(TokenKind::LBrace) {
            return Err(self.unexpected("a label"));
        } else {
            self.expr()?
        };
        self.check_comma("write one label after the other: `1: 2: { ... }`")?;
        if !self.eat(TokenKind::Colon) {
            if !self.at_kind(TokenKind::LBrace) {
                return Err(self.unexpected("`:` after the label"));
            }
            self.report(common::missing_colon(self.after_previous()));
        }
        let body = match self.kind() {
            TokenKind::LBrace | TokenKind::At => Some(self.block()?),
            _ => None,
        };
        Ok(SwitchCase {
            label,
            body,
            span: self.since(start),
        })
    }

    /// `for (init; cond; update) s`, `for (T x in c) s`.
    fn for_loop(&mut self) -> Parse<StmtKind> {
        self.bump();
        self.scoped(|p| {
            let opener = p.expect(TokenKind::LParen)?;
            let annotations = p.annotations()?;
            if p.at_for_in() {
                return p.for_in(opener, annotations);
            }
            let init = p.for_part(TokenKind::Semi, true, annotations)?;
            p.expect(TokenKind::Semi)?;
            let cond = p.expr()?;
            p.check_assignment()?;
            p.expect(TokenKind::Semi)?;
            let update = p.for_part(TokenKind::RParen, false, Vec::new())?;
            p.close(TokenKind::RParen, opener)?;
            let body = Box::new(p.branch()?);
            Ok(StmtKind::For {
                init,
                cond,
                update,
                body,
            })
        })
    }

    /// Returns true if `x in` follows.
    fn at_untyped_for_in(&self) -> bool {
        self.kind().is_name() && self.kind_at(1) == TokenKind::In
    }

    /// Returns true if `x in` or `T x in` follows.
    fn at_for_in(&self) -> bool {
        let mut look = self.look(0);
        self.at_untyped_for_in()
            || self.skip_type(&mut look)
                && self.seen(&look).is_name()
                && self.seen(&self.after(look)) == TokenKind::In
    }

    /// Parses the rest of `for (T x in c) s`, from the type on.
    fn for_in(&mut self, opener: Span, annotations: Vec<Annotation>) -> Parse<StmtKind> {
        if self.at_untyped_for_in() {
            let name = self.name("a variable")?;
            return Err(self.report(grammar::loop_variable_type(&name)));
        }
        let ty = self.ty()?;
        let name = self.name("a variable")?;
        self.expect(TokenKind::In)?;
        let collection = self.collection()?;
        self.close(TokenKind::RParen, opener)?;
        self.scopes.declare_value(&name);
        let body = Box::new(self.branch()?);
        Ok(StmtKind::ForIn {
            annotations,
            ty,
            name,
            collection,
            body,
        })
    }

    /// Parses assignments, calls and, in the first part of the loop, variables, separated by commas. The first one gets
    /// the annotations that are already read.
    fn for_part(
        &mut self,
        end: TokenKind,
        declares: bool,
        mut first: Vec<Annotation>,
    ) -> Parse<Vec<Stmt>> {
        if self.at_kind(end) {
            self.refuse_annotations(&first);
        }
        self.comma_list(end, false, |p| {
            let start = first.first().map_or(p.span(), |a| a.span);
            let mut annotations = std::mem::take(&mut first);
            annotations.extend(p.annotations()?);
            if declares && p.at_typed_name() {
                let kind = p.variable_head()?;
                let decl = Decl {
                    annotations,
                    kind,
                    span: p.since(start),
                };
                return Ok(Stmt {
                    annotations: Vec::new(),
                    kind: StmtKind::Decl(Box::new(decl)),
                    span: p.since(start),
                });
            }
            let target = p.target()?;
            let kind = p.assignment_or_call(target)?;
            Ok(Stmt {
                annotations,
                kind,
                span: p.since(start),
            })
        })
    }

    /// `T x` or `T x = e`, without its `;`.
    pub(super) fn variable_head(&mut self) -> Parse<DeclKind> {
        let ty = self.ty()?;
        let name = self.name("a variable")?;
        let ty = self.sizes_after_name(ty)?;
        let init = if self.eat(TokenKind::Assign) {
            Some(self.value()?)
        } else {
            None
        };
        self.scopes.declare_value(&name);
        Ok(DeclKind::Var { ty, name, init })
    }

    /// Reports `while`, `do`, `goto` and similar statements of C, unless they are names of the program.
    fn check_c_statement(&mut self) -> Parse<()> {
        let (word, next) = (self.token().text.clone(), self.kind_at(1));
        let help = match (word.as_str(), next) {
            ("while", TokenKind::LParen) | ("do", TokenKind::LBrace) => {
                "write `for (bit<8> i = 0; i < 10; i = i + 1) { ... }`, or a loop of parser states"
            }
            ("goto", TokenKind::Ident) => {
                "in a parser, write `transition STATE;`; in a control, use `if` and `switch`"
            }
            ("case", _) => {
                "a label stands alone and directly inside of a `switch`, with its statements in braces: `label: { ... }`"
            }
            _ => return Ok(()),
        };
        if self.scopes.meaning(&word).is_some() {
            return Ok(());
        }
        let span = self.span();
        Err(self.report(common::c_statement(span, &word, help)))
    }
}
