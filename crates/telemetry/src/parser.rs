//! Parser: tokens to a syntax tree.

use crate::ast::{By, Call, Condition, Constant, Literal, Name, Order, Test, Tree};
use crate::errors::syntax;
use crate::lexer::{Token, TokenKind};
use crate::query::{Arguments, FUNCTIONS, Operator};
use diag::{Diagnostic, Span};

/// Greatest nesting of parentheses and `not` in conditions.
const MAX_DEPTH: usize = 64;
/// Keywords, which cannot be attributes.
pub(crate) const WORDS: [&str; 11] = [
    "by", "where", "order", "asc", "desc", "and", "or", "not", "in", "starts", "with",
];

type Parse<T> = Result<T, Box<Diagnostic>>;

/// Parses a query.
pub(crate) fn parse(text: &str, base: u32, tokens: Vec<Token>) -> Parse<Tree> {
    Parser {
        text,
        base,
        tokens,
        at: 0,
        depth: 0,
    }
    .query()
}

struct Parser<'a> {
    text: &'a str,
    /// Start of the text in the source map.
    base: u32,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn query(mut self) -> Parse<Tree> {
        if self.peek().kind == TokenKind::End {
            return Err(syntax::empty(self.peek().span));
        }
        let mut aggregates = vec![self.aggregate()?];
        while self.takes_symbol(",") {
            aggregates.push(self.aggregate()?);
        }
        let mut keys = Vec::new();
        if self.takes_word("by") {
            keys.push(self.name()?);
            while self.takes_symbol(",") {
                keys.push(self.name()?);
            }
        }
        let mut condition = None;
        if self.takes_word("where") {
            condition = Some(self.condition()?);
        }
        let order = match self.takes_word("order") {
            true => Some(self.order()?),
            false => None,
        };
        let most = match self.takes_word("top") {
            true => Some(self.most()?),
            false => None,
        };
        let end = self.peek();
        match &end.kind {
            TokenKind::End => Ok(Tree {
                aggregates,
                keys,
                condition,
                order,
                most,
            }),
            _ if most.is_some() => Err(self.expected(&["the end"])),
            _ if order.is_some() => Err(self.expected(&["`asc`", "`desc`", "`top`", "the end"])),
            TokenKind::Word(word) if word == "by" && condition.is_some() => {
                Err(syntax::by_after_where(end.span))
            }
            _ => {
                let expected: &[&str] = match (&condition, keys.is_empty()) {
                    (Some(_), _) => &["`and`", "`or`", "`order by`", "`top`", "the end"],
                    (None, false) => &["`,`", "`where`", "`order by`", "`top`", "the end"],
                    (None, true) => &["`,`", "`by`", "`where`", "the end"],
                };
                Err(self.expected(expected))
            }
        }
    }

    /// Parses the order after `order`.
    fn order(&mut self) -> Parse<Order> {
        if !self.takes_word("by") {
            return Err(self.expected(&["`by`"]));
        }
        let is_function = |(name, _): &(&str, _)| matches!(self.peek_kind(), TokenKind::Word(word) if word == name);
        let by = match FUNCTIONS.iter().any(is_function) {
            true => By::Aggregate(self.aggregate()?),
            false => By::Key(self.name()?),
        };
        let descending = match () {
            () if self.takes_word("desc") => Some(true),
            () if self.takes_word("asc") => Some(false),
            () => None,
        };
        Ok(Order { by, descending })
    }

    /// Parses the number after `top`.
    fn most(&mut self) -> Parse<(u64, Span)> {
        let span = self.peek().span;
        let TokenKind::Number(most) = *self.peek_kind() else {
            return Err(self.expected(&["a number of groups"]));
        };
        self.at += 1;
        Ok((most, span))
    }

    fn aggregate(&mut self) -> Parse<Call> {
        let begin = self.peek().span;
        let TokenKind::Word(word) = &self.peek().kind else {
            return Err(self.expected(&["an aggregate"]));
        };
        let Some((function, arguments)) = FUNCTIONS.into_iter().find(|(name, _)| name == word)
        else {
            return Err(syntax::unknown_aggregate(begin, word));
        };
        self.at += 1;
        let mut call = Call {
            function,
            number: None,
            attribute: None,
            span: begin,
        };
        let open = *self.peek_kind() == TokenKind::Symbol("(");
        match (arguments, open) {
            (Arguments::None, true) => {
                return Err(syntax::takes_nothing(self.peek().span, function));
            }
            (Arguments::None | Arguments::Maybe, false) => return Ok(call),
            (Arguments::One | Arguments::NumberAndOne, false) => {
                return Err(syntax::needs_argument(begin, function));
            }
            _ => self.at += 1,
        }
        if arguments == Arguments::NumberAndOne {
            let TokenKind::Number(number) = *self.peek_kind() else {
                return Err(syntax::needs_argument(self.peek().span, function));
            };
            call.number = Some((number, self.peek().span));
            self.at += 1;
            if *self.peek_kind() == TokenKind::Symbol(")") {
                return Err(syntax::needs_argument(self.peek().span, function));
            }
            self.symbol(",")?;
        }
        call.attribute = Some(self.name()?);
        call.span = begin.to(self.peek().span);
        self.symbol(")")?;
        Ok(call)
    }

    fn condition(&mut self) -> Parse<Condition> {
        let mut all = vec![self.conjunction()?];
        while self.takes_word("or") {
            all.push(self.conjunction()?);
        }
        Ok(one_or(all, Condition::Any))
    }

    fn conjunction(&mut self) -> Parse<Condition> {
        let mut all = vec![self.negation()?];
        while self.takes_word("and") {
            all.push(self.negation()?);
        }
        Ok(one_or(all, Condition::All))
    }

    fn negation(&mut self) -> Parse<Condition> {
        let span = self.peek().span;
        let not = self.takes_word("not");
        if !not && !self.takes_symbol("(") {
            return self.test();
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(syntax::too_deep(span, MAX_DEPTH));
        }
        let inside = if not {
            Condition::Not(Box::new(self.negation()?))
        } else {
            let inside = self.condition()?;
            if !self.takes_symbol(")") {
                return Err(self.expected(&["`and`", "`or`", "`)`"]));
            }
            inside
        };
        self.depth -= 1;
        Ok(inside)
    }

    fn test(&mut self) -> Parse<Condition> {
        let name = self.name()?;
        let Token { kind, span } = self.peek().clone();
        let operator = match &kind {
            TokenKind::Symbol(symbol) => Operator::from_symbol(symbol),
            _ => None,
        };
        let test = if let Some(operator) = operator {
            self.at += 1;
            Test::Compare(operator, span, self.literal()?)
        } else if self.takes_word("in") {
            Test::In(self.set()?)
        } else if self.takes_word("starts") {
            let words = span.to(self.peek().span);
            if !self.takes_word("with") {
                return Err(self.expected(&["`with`"]));
            }
            Test::StartsWith(words, self.literal()?)
        } else if self.takes_symbol("~") {
            let Token { kind, span: quoted } = self.peek().clone();
            let TokenKind::Quoted(pattern) = kind else {
                return Err(self.expected(&["a regular expression in double quotes"]));
            };
            self.at += 1;
            let inside = Span {
                lo: quoted.lo + 1,
                hi: quoted.hi - 1,
            };
            Test::Matches(span, pattern, inside)
        } else {
            let mut refused = self.expected(&[
                "`==`",
                "`!=`",
                "`<`",
                "`<=`",
                "`>`",
                "`>=`",
                "`in`",
                "`starts with`",
                "`~`",
            ]);
            if self.takes_word("not") {
                let test = match self.peek_kind() {
                    TokenKind::Word(word) if word == "starts" => "starts with \"...\"",
                    _ => "in [...]",
                };
                refused.help = Some(format!("write `not {} {test}`", name.text));
            }
            return Err(refused);
        };
        Ok(Condition::Test(name, test))
    }

    fn set(&mut self) -> Parse<Vec<Literal>> {
        if !self.takes_symbol("[") {
            if let TokenKind::Address(_, Some(_)) = self.peek_kind() {
                return Ok(vec![self.literal()?]);
            }
            return Err(self.expected(&["`[`", "a prefix such as 10.0.0.0/8"]));
        }
        let mut values = vec![self.literal()?];
        while self.takes_symbol(",") {
            values.push(self.literal()?);
        }
        match self.takes_symbol("]") {
            true => Ok(values),
            false => Err(self.expected(&["`,`", "`]`"])),
        }
    }

    fn literal(&mut self) -> Parse<Literal> {
        let Token { kind, span } = self.peek().clone();
        let value = match kind {
            TokenKind::Number(number) => Constant::Number(number),
            TokenKind::Time(time) => Constant::Time(time),
            TokenKind::Address(address, length) => Constant::Address(address, length),
            TokenKind::Mac(bytes) => Constant::Mac(bytes),
            TokenKind::Quoted(written) => Constant::Text(unescaped(&written, span.lo + 1)?),
            TokenKind::Word(word) if !WORDS.contains(&word.as_str()) => Constant::Name(word),
            _ => return Err(self.expected(&["a value"])),
        };
        self.at += 1;
        Ok(Literal {
            value,
            span,
            written: self.written(span).to_string(),
        })
    }

    fn name(&mut self) -> Parse<Name> {
        let begin = self.peek().span;
        let is_first = matches!(self.peek_kind(), TokenKind::Word(word) if word == "first")
            && self.tokens.get(self.at + 1).map(|next| &next.kind) == Some(&TokenKind::Symbol("("));
        if is_first {
            self.at += 2;
            let of = self.plain_name()?;
            let span = begin.to(self.peek().span);
            self.symbol(")")?;
            return Ok(Name {
                text: format!("first({})", of.text),
                span,
            });
        }
        self.plain_name()
    }

    fn plain_name(&mut self) -> Parse<Name> {
        match self.peek_kind() {
            TokenKind::Word(word) if !WORDS.contains(&word.as_str()) => {
                let (text, span) = (word.clone(), self.peek().span);
                self.at += 1;
                Ok(Name { text, span })
            }
            _ => Err(self.expected(&["an attribute"])),
        }
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn peek_kind(&self) -> &TokenKind {
        &self.peek().kind
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek_kind(), TokenKind::Word(next) if next == word);
        self.at += usize::from(found);
        found
    }

    fn takes_symbol(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek_kind(), TokenKind::Symbol(next) if *next == symbol);
        self.at += usize::from(found);
        found
    }

    fn symbol(&mut self, symbol: &str) -> Parse<()> {
        match self.takes_symbol(symbol) {
            true => Ok(()),
            false => Err(self.expected(&[&format!("`{symbol}`")])),
        }
    }

    fn written(&self, span: Span) -> &str {
        &self.text[(span.lo - self.base) as usize..(span.hi - self.base) as usize]
    }

    fn expected(&self, what: &[&str]) -> Box<Diagnostic> {
        let span = self.peek().span;
        syntax::expected(span, what, self.written(span))
    }
}

fn one_or(mut all: Vec<Condition>, several: fn(Vec<Condition>) -> Condition) -> Condition {
    match all.pop() {
        Some(one) if all.is_empty() => one,
        last => {
            all.extend(last);
            several(all)
        }
    }
}

/// Resolves the escapes of a text at `at`: `\"`, `\\`, `\n`, `\r`, `\t` and `\x` with two hexadecimal digits.
fn unescaped(written: &str, at: u32) -> Parse<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        if c != '\\' {
            bytes.extend_from_slice(&rest.as_bytes()[..length]);
            rest = &rest[length..];
            continue;
        }
        // The lexer never ends a text after a backslash.
        let next = rest[1..].chars().next().unwrap_or('\\');
        length += next.len_utf8();
        let byte = match next {
            '"' | '\\' => Some(next as u8),
            'n' => Some(b'\n'),
            'r' => Some(b'\r'),
            't' => Some(b'\t'),
            'x' => {
                let digits = rest.get(2..4);
                let is_hex = |digits: &&str| digits.bytes().all(|b| b.is_ascii_hexdigit());
                length += 2 * usize::from(digits.as_ref().is_some_and(is_hex));
                digits
                    .filter(is_hex)
                    .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        let Some(byte) = byte else {
            let lo = at + (written.len() - rest.len()) as u32;
            let hi = lo + length as u32;
            return Err(syntax::escape(Span { lo, hi }, &rest[..length]));
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    Ok(bytes)
}
