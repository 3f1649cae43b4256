//! Parser of the text form: tokens and names. Items are in `parse_items`, statements and expressions in `parse_code`.

use super::lex::{Lexed, Token, lex};
use super::names::unquote;
use crate::*;
use num_bigint::BigUint;
use smol_str::SmolStr;
use std::collections::HashMap;
use std::fmt;

/// Syntax error with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
    /// Description of the error.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// Parses the text form. All names in the resulting program are resolved; [`crate::verify`] checks the rest.
pub fn parse(text: &str) -> Result<Program> {
    let mut parser = Reader {
        tokens: lex(text)?,
        at: 0,
        depth: 0,
        program: Program::default(),
        names: Tables::default(),
        states: HashMap::new(),
    };
    parser.declare()?;
    parser.at = 0;
    while *parser.peek() != Token::End {
        parser.item()?;
    }
    parser.program.number_stmts();
    Ok(parser.program)
}

/// Symbol tables: entities by name, one table for each kind.
#[derive(Default)]
pub(super) struct Tables {
    pub enums: HashMap<String, Enum>,
    pub header_types: HashMap<String, HeaderType>,
    pub vars: HashMap<String, Var>,
    pub headers: HashMap<String, Header>,
    pub fields: HashMap<String, (Header, u32)>,
    pub stacks: HashMap<String, Stack>,
    pub externs: HashMap<String, ExternInst>,
    pub value_sets: HashMap<String, ValueSet>,
    pub actions: HashMap<String, Action>,
    pub tables: HashMap<String, Table>,
    pub routines: HashMap<String, Routine>,
    pub parsers: HashMap<String, Parser>,
}

pub(super) struct Reader {
    pub tokens: Vec<Lexed>,
    pub at: usize,
    /// Current nesting depth of blocks and expressions.
    pub depth: u32,
    pub program: Program,
    pub names: Tables,
    /// States of the parser that is being read.
    pub states: HashMap<String, State>,
}

/// Greatest nesting depth. Deeper nesting is an error rather than a stack overflow.
const MAX_DEPTH: u32 = 400;

impl Reader {
    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at].token
    }

    pub(crate) fn peek_at(&self, ahead: usize) -> &Token {
        let at = (self.at + ahead).min(self.tokens.len() - 1);
        &self.tokens[at].token
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].token.clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        let Lexed { line, column, .. } = self.tokens[self.at];
        Err(ParseError {
            line,
            column,
            message: message.into(),
        })
    }

    pub(crate) fn deeper<T>(&mut self, f: impl FnOnce(&mut Reader) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            return self.error("nested too deeply");
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    pub(crate) fn is(&self, punct: &str) -> bool {
        matches!(self.peek(), Token::Punct(p) if *p == punct)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    pub(crate) fn eat(&mut self, punct: &str) -> bool {
        let found = self.is(punct);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.at += 1;
        }
        found
    }

    pub(crate) fn expect(&mut self, punct: &str) -> Result<()> {
        if self.eat(punct) {
            Ok(())
        } else {
            self.error(format!("expected `{punct}`"))
        }
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            self.error(format!("expected `{word}`"))
        }
    }

    pub(crate) fn word(&mut self) -> Result<String> {
        match self.peek() {
            Token::Word(word) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => self.error("expected a name"),
        }
    }

    pub(crate) fn name(&mut self) -> Result<SmolStr> {
        Ok(unquote(&self.word()?).into())
    }

    pub(crate) fn string(&mut self) -> Result<SmolStr> {
        match self.peek() {
            Token::String(text) => {
                let text = SmolStr::from(text.as_str());
                self.at += 1;
                Ok(text)
            }
            _ => self.error("expected a string"),
        }
    }

    pub(crate) fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        let parsed = match self.peek() {
            Token::Number(text) => text.parse().ok(),
            _ => None,
        };
        match parsed {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => self.error("expected a number"),
        }
    }

    /// Parses a constant like `8w0xff`; the bool is true if it is signed.
    pub(crate) fn sized(&mut self) -> Result<(Bits, bool)> {
        let parsed = match self.peek() {
            Token::Number(text) => sized(text),
            _ => None,
        };
        match parsed {
            Some(value) => {
                self.at += 1;
                Ok(value)
            }
            None => self.error("expected a constant with its width, like `8w0xff`"),
        }
    }

    pub(crate) fn bits(&mut self) -> Result<Bits> {
        Ok(self.sized()?.0)
    }

    pub(crate) fn lookup<T: Copy>(
        &mut self,
        kind: &str,
        table: impl Fn(&Tables) -> &HashMap<String, T>,
    ) -> Result<T> {
        let found = match self.peek() {
            Token::Word(word) => table(&self.names).get(word).copied(),
            _ => return self.error(format!("expected the name of a {kind}")),
        };
        match (found, self.peek()) {
            (Some(id), _) => {
                self.at += 1;
                Ok(id)
            }
            (None, Token::Word(word)) => {
                let message = format!("no {kind} is called `{word}`");
                self.error(message)
            }
            _ => self.error(format!("expected the name of a {kind}")),
        }
    }

    pub(crate) fn list<T>(
        &mut self,
        end: &str,
        mut element: impl FnMut(&mut Reader) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut list = Vec::new();
        if self.eat(end) {
            return Ok(list);
        }
        loop {
            list.push(element(self)?);
            if self.eat(end) {
                return Ok(list);
            }
            self.expect(",")?;
        }
    }

    pub(crate) fn ty(&mut self) -> Result<Type> {
        let word = match self.peek() {
            Token::Word(word) => word.as_str(),
            _ => return self.error("expected a type"),
        };
        let width: fn(u32) -> Type = match word {
            "bool" => {
                self.at += 1;
                return Ok(Type::Bool);
            }
            "error" => {
                self.at += 1;
                return Ok(Type::Error);
            }
            "bit" => Type::bit,
            "int" => |width| Type::Bits {
                width,
                signed: true,
            },
            "varbit" => Type::Varbit,
            _ => return Ok(Type::Enum(self.lookup("type", |n| &n.enums)?)),
        };
        self.at += 1;
        self.expect("<")?;
        let ty = width(self.number()?);
        self.expect(">")?;
        Ok(ty)
    }
}

fn sized(text: &str) -> Option<(Bits, bool)> {
    let at = text.find(['w', 's'])?;
    let width: u32 = text[..at].parse().ok()?;
    let digits = &text[at + 1..];
    let value = match digits.strip_prefix("0x") {
        Some(hex) => BigUint::parse_bytes(hex.as_bytes(), 16)?,
        None => BigUint::parse_bytes(digits.as_bytes(), 10)?,
    };
    (value.bits() <= u64::from(width))
        .then(|| (Bits::new(width, value), text.as_bytes()[at] == b's'))
}
