//! Statements in the text form: parser and printer, with their keywords and syntax.

use super::lex::Token;
use super::names::quote;
use super::parse::{Reader, Result};
use super::print::{Printer, bits, indent};
use crate::automaton::ByteTransition;
use crate::*;
use diag::Span;
use std::fmt::{self, Write};

impl Reader {
    pub(crate) fn stmt(&mut self) -> Result<Stmt> {
        let kind = match (self.peek().clone(), self.peek_at(1)) {
            (Token::Word(_), Token::Punct("=" | "[" | ".")) => self.assign()?,
            (Token::Word(word), _) => self.keyword(&word)?,
            _ => return self.error("expected a statement"),
        };
        let span = Span::NONE;
        Ok(Stmt::new(kind, span))
    }

    fn assign(&mut self) -> Result<StmtKind> {
        let dst = self.place()?;
        self.expect("=")?;
        let value = self.expr()?;
        self.expect(";")?;
        Ok(StmtKind::Assign { dst, value })
    }

    fn keyword(&mut self, word: &str) -> Result<StmtKind> {
        self.next();
        let kind = match word {
            "if" => {
                let cond = self.expr()?;
                let then = self.block()?;
                let otherwise = if self.eat_word("else") {
                    self.block()?
                } else {
                    Vec::new()
                };
                return Ok(StmtKind::If {
                    cond,
                    then,
                    otherwise,
                });
            }
            "switch" => return self.switch(),
            "atomic" => return Ok(StmtKind::Atomic(self.block()?)),
            "block" => {
                let label = self.label()?;
                return Ok(StmtKind::Labeled(label, self.block()?));
            }
            "loop" => {
                let label = self.label()?;
                return Ok(StmtKind::Loop(label, self.block()?));
            }
            "copy" => {
                let dst = self.header()?;
                self.expect("=")?;
                let src = self.header()?;
                StmtKind::CopyHeader { dst, src }
            }
            "set_valid" => StmtKind::SetValid(self.header()?),
            "set_invalid" => StmtKind::SetInvalid(self.header()?),
            "push_front" | "pop_front" => {
                let mut stacks = vec![self.lookup("stack", |n| &n.stacks)?];
                while self.eat(",") {
                    stacks.push(self.lookup("stack", |n| &n.stacks)?);
                }
                self.expect_word("by")?;
                let by = self.number()?;
                if word == "push_front" {
                    StmtKind::PushFront(stacks, by)
                } else {
                    StmtKind::PopFront(stacks, by)
                }
            }
            "break" => StmtKind::Break(self.label()?),
            "continue" => StmtKind::Continue(self.label()?),
            "return" => StmtKind::Return,
            "exit" => StmtKind::Exit,
            "apply" => {
                let table = self.lookup("table", |n| &n.tables)?;
                let mut result = |word| {
                    if self.eat_word(word) {
                        self.lookup("variable", |n| &n.vars).map(Some)
                    } else {
                        Ok(None)
                    }
                };
                let hit = result("hit")?;
                let action = result("action")?;
                StmtKind::Apply { table, hit, action }
            }
            "is_current" => {
                let table = self.lookup("table", |n| &n.tables)?;
                let generation = self.number()?;
                self.expect("->")?;
                StmtKind::IsCurrent {
                    table,
                    generation,
                    current: self.lookup("variable", |n| &n.vars)?,
                }
            }
            "call" => {
                let routine = self.lookup("routine", |n| &n.routines)?;
                self.expect("(")?;
                StmtKind::Call(routine, self.list(")", Reader::arg)?)
            }
            "extern" => self.extern_call(Effect::Any)?,
            "pure" => {
                self.expect_word("extern")?;
                self.extern_call(Effect::None)?
            }
            "isolated" => {
                self.expect_word("extern")?;
                self.extern_call(Effect::Outside)?
            }
            "extract" => {
                let header = self.header()?;
                let varbit = if self.eat(",") {
                    Some(self.expr()?)
                } else {
                    None
                };
                StmtKind::Extract { header, varbit }
            }
            "lookahead" => {
                let place = self.place()?;
                let skip = if self.eat_word("behind") {
                    self.number()?
                } else {
                    0
                };
                StmtKind::Lookahead { place, skip }
            }
            "advance" => StmtKind::Advance(self.expr()?),
            "search" => {
                let value = self.bits()?;
                let mask = match self.eat("&&&") {
                    true => self.bits()?,
                    false => Bits::ones(value.width()),
                };
                let skip = match self.eat_word("behind") {
                    true => self.number()?,
                    false => 0,
                };
                let limit = match self.eat_word("within") {
                    true => Some(self.expr()?),
                    false => None,
                };
                let passed = match self.eat("->") {
                    true => Some(self.lookup("variable", |n| &n.vars)?),
                    false => None,
                };
                StmtKind::Search {
                    pattern: Pattern { value, mask, skip },
                    limit,
                    passed,
                }
            }
            "fits" => {
                let bits = self.expr()?;
                self.expect("->")?;
                let fits = self.lookup("variable", |n| &n.vars)?;
                StmtKind::Fits { bits, fits }
            }
            "automaton" => return self.automaton(),
            "skip_ahead" => return self.skip_ahead(),
            "packet_length" => StmtKind::PacketLength(self.place()?),
            "verify" => {
                let cond = self.expr()?;
                self.expect(",")?;
                let error = self.expr()?;
                StmtKind::Verify { cond, error }
            }
            "emit" => StmtKind::Emit(self.header()?),
            "entry" => StmtKind::Entry(self.entry()?),
            _ => return self.error(format!("`{word}` is no statement")),
        };
        self.expect(";")?;
        Ok(kind)
    }
}

impl Printer<'_> {
    pub(super) fn stmt(&self, out: &mut String, depth: usize, kind: &StmtKind) -> fmt::Result {
        let href = |h: HeaderRef| self.header(h);
        match kind {
            StmtKind::Assign { dst, value } => {
                writeln!(out, "{} = {};", self.place(*dst), self.expr(*value))
            }
            StmtKind::CopyHeader { dst, src } => {
                writeln!(out, "copy {} = {};", href(*dst), href(*src))
            }
            StmtKind::SetValid(h) => writeln!(out, "set_valid {};", href(*h)),
            StmtKind::SetInvalid(h) => writeln!(out, "set_invalid {};", href(*h)),
            StmtKind::PushFront(stacks, by) => {
                writeln!(out, "push_front {} by {by};", self.stacks(stacks))
            }
            StmtKind::PopFront(stacks, by) => {
                writeln!(out, "pop_front {} by {by};", self.stacks(stacks))
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                write!(out, "if {}", self.expr(*cond))?;
                self.body(out, depth, then)?;
                if !otherwise.is_empty() {
                    write!(out, "{}else", indent(depth))?;
                    self.body(out, depth, otherwise)?;
                }
                Ok(())
            }
            StmtKind::Switch { on, cases, default } => {
                writeln!(out, "switch {} {{", self.expr(*on))?;
                for (values, block) in cases {
                    let values: Vec<_> = values.iter().map(|v| bits(v, false)).collect();
                    write!(out, "{}case {}", indent(depth + 1), values.join(", "))?;
                    self.body(out, depth + 1, block)?;
                }
                if !default.is_empty() {
                    write!(out, "{}default", indent(depth + 1))?;
                    self.body(out, depth + 1, default)?;
                }
                writeln!(out, "{}}}", indent(depth))
            }
            StmtKind::Atomic(block) => {
                write!(out, "atomic")?;
                self.body(out, depth, block)
            }
            StmtKind::Labeled(label, block) => {
                write!(out, "block {label}")?;
                self.body(out, depth, block)
            }
            StmtKind::Loop(label, block) => {
                write!(out, "loop {label}")?;
                self.body(out, depth, block)
            }
            StmtKind::Break(label) => writeln!(out, "break {label};"),
            StmtKind::Continue(label) => writeln!(out, "continue {label};"),
            StmtKind::Return => writeln!(out, "return;"),
            StmtKind::Exit => writeln!(out, "exit;"),
            StmtKind::Apply { table, hit, action } => {
                write!(out, "apply {}", self.names.tables[*table])?;
                if let Some(hit) = hit {
                    write!(out, " hit {}", self.var(*hit))?;
                }
                if let Some(action) = action {
                    write!(out, " action {}", self.var(*action))?;
                }
                writeln!(out, ";")
            }
            StmtKind::IsCurrent {
                table,
                generation,
                current,
            } => {
                let (table, current) = (&self.names.tables[*table], self.var(*current));
                writeln!(out, "is_current {table} {generation} -> {current};")
            }
            StmtKind::Call(routine, args) => {
                let args: Vec<_> = args.iter().map(|arg| self.arg(*arg)).collect();
                let routine = &self.names.routines[*routine];
                writeln!(out, "call {routine}({});", args.join(", "))
            }
            StmtKind::Extern(call) => {
                let effect = match call.effect {
                    Effect::None => "pure ",
                    Effect::Outside => "isolated ",
                    Effect::Any => "",
                };
                write!(out, "{effect}extern ")?;
                if let Some(object) = call.object {
                    write!(out, "{}::", self.names.externs[object])?;
                }
                let args: Vec<_> = call.args.iter().map(|arg| self.extern_arg(arg)).collect();
                write!(out, "{}({})", quote(&call.name), args.join(", "))?;
                if !call.result.is_empty() {
                    write!(out, " -> {}", self.places(&call.result))?;
                }
                writeln!(out, ";")
            }
            StmtKind::Extract { header, varbit } => {
                write!(out, "extract {}", href(*header))?;
                if let Some(size) = varbit {
                    write!(out, ", {}", self.expr(*size))?;
                }
                writeln!(out, ";")
            }
            StmtKind::Lookahead { place, skip: 0 } => {
                writeln!(out, "lookahead {};", self.place(*place))
            }
            StmtKind::Lookahead { place, skip } => {
                writeln!(out, "lookahead {} behind {skip};", self.place(*place))
            }
            StmtKind::Advance(by) => writeln!(out, "advance {};", self.expr(*by)),
            StmtKind::Search {
                pattern,
                limit,
                passed,
            } => {
                let Pattern { value, mask, skip } = pattern;
                write!(out, "search {}", bits(value, false))?;
                if *mask != Bits::ones(mask.width()) {
                    write!(out, " &&& {}", bits(mask, false))?;
                }
                if *skip != 0 {
                    write!(out, " behind {skip}")?;
                }
                if let Some(limit) = limit {
                    write!(out, " within {}", self.expr(*limit))?;
                }
                if let Some(passed) = passed {
                    write!(out, " -> {}", self.var(*passed))?;
                }
                writeln!(out, ";")
            }
            StmtKind::Automaton {
                automaton,
                start,
                limit,
                end,
                passed,
            } => {
                write!(out, "automaton {}", self.expr(*start))?;
                if let Some(limit) = limit {
                    write!(out, " within {}", self.expr(*limit))?;
                }
                write!(out, " -> {}", self.var(*end))?;
                if let Some(passed) = passed {
                    write!(out, ", {}", self.var(*passed))?;
                }
                writeln!(out, " {{")?;
                for (state, row) in automaton.rows.iter().enumerate() {
                    write!(out, "{}{state}:", indent(depth + 1))?;
                    for ByteTransition { first, last, to } in row {
                        write!(out, " {first}..{last} -> {to}")?;
                    }
                    writeln!(out, ";")?;
                }
                writeln!(out, "{}}}", indent(depth))
            }
            StmtKind::Fits { bits, fits } => {
                writeln!(out, "fits {} -> {};", self.expr(*bits), self.var(*fits))
            }
            StmtKind::SkipAhead { table, short } => {
                write!(out, "skip_ahead {}", table.width)?;
                if table.skip > 0 {
                    write!(out, " behind {}", table.skip)?;
                }
                writeln!(out, " -> {} {{", self.var(*short))?;
                for (tag, bytes) in &table.sizes {
                    writeln!(out, "{}{}: {bytes};", indent(depth + 1), bits(tag, false))?;
                }
                writeln!(out, "{}}}", indent(depth))
            }
            StmtKind::PacketLength(place) => {
                writeln!(out, "packet_length {};", self.place(*place))
            }
            StmtKind::Verify { cond, error } => {
                writeln!(out, "verify {}, {};", self.expr(*cond), self.expr(*error))
            }
            StmtKind::Emit(h) => writeln!(out, "emit {};", href(*h)),
            StmtKind::Entry(entry) => writeln!(out, "entry {entry};"),
        }
    }
}
