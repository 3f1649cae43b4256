//! Lexer of the text form.

use super::names::is_word_char;
use super::parse::ParseError;

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// A name or keyword, as written.
    Word(String),
    /// A token that begins with a digit.
    Number(String),
    /// A string's contents.
    String(String),
    /// An operator, separator or bracket.
    Punct(&'static str),
    /// The end.
    End,
}

/// A token with its position.
#[derive(Clone, Debug)]
pub(super) struct Lexed {
    pub token: Token,
    pub line: u32,
    pub column: u32,
}

/// Operators and brackets, longest first.
const PUNCTS: [&str; 38] = [
    "&&&", "|+|", "|-|", "::", "..", "->", "<<", ">>", "<=", ">=", "==", "!=", "++", "(", ")", "{",
    "}", "[", "]", "<", ">", ",", ";", ":", "=", "*", "/", "%", "+", "-", "&", "^", "|", "~", "!",
    "?", "@", ".",
];

pub(super) fn lex(text: &str) -> Result<Vec<Lexed>, ParseError> {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
        column: 1,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_space();
        let (line, column) = (lexer.line, lexer.column);
        let token = lexer.token().map_err(|message| ParseError {
            line,
            column,
            message,
        })?;
        let end = token == Token::End;
        tokens.push(Lexed {
            token,
            line,
            column,
        });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
    column: u32,
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    /// Consumes `len` bytes.
    fn take(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(len);
        for c in taken.chars() {
            if c == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn skip_space(&mut self) {
        loop {
            let space = self.rest.len() - self.rest.trim_start().len();
            if space > 0 {
                self.take(space);
            } else if self.rest.starts_with("//") {
                self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else {
                return;
            }
        }
    }

    fn token(&mut self) -> Result<Token, String> {
        let Some(first) = self.peek() else {
            return Ok(Token::End);
        };
        if first.is_ascii_digit() {
            let is_digit = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let len = self.rest.find(|c| !is_digit(c)).unwrap_or(self.rest.len());
            return Ok(Token::Number(self.take(len).to_owned()));
        }
        if first == '"' {
            return self.string();
        }
        if first.is_ascii_alphabetic() || matches!(first, '_' | '$' | '`') {
            return self.word();
        }
        match PUNCTS.iter().find(|p| self.rest.starts_with(**p)) {
            Some(punct) => {
                self.take(punct.len());
                Ok(Token::Punct(punct))
            }
            None => Err(format!("unexpected character {first:?}")),
        }
    }

    fn string(&mut self) -> Result<Token, String> {
        self.take(1);
        let mut text = String::new();
        loop {
            match self.peek() {
                Some('"') => {
                    self.take(1);
                    return Ok(Token::String(text));
                }
                Some('\\') => {
                    self.take(1);
                    match self.peek() {
                        Some('n') => text.push('\n'),
                        Some(c) => text.push(c),
                        None => return Err("string without an end".to_owned()),
                    }
                    self.take_char();
                }
                Some(c) => {
                    text.push(c);
                    self.take_char();
                }
                None => return Err("string without an end".to_owned()),
            }
        }
    }

    fn take_char(&mut self) {
        if let Some(c) = self.peek() {
            self.take(c.len_utf8());
        }
    }

    fn word(&mut self) -> Result<Token, String> {
        let start = self.rest;
        loop {
            match self.peek() {
                Some('`') => self.quoted()?,
                Some('[') => match index_len(self.rest) {
                    Some(len) => {
                        self.take(len);
                    }
                    None => break,
                },
                Some(c) if is_word_char(c) || c == '#' => {
                    // `a .. b` may be written without spaces.
                    if self.rest.starts_with("..") {
                        break;
                    }
                    self.take(1);
                }
                _ => break,
            }
        }
        let len = start.len() - self.rest.len();
        Ok(Token::Word(start[..len].to_owned()))
    }

    fn quoted(&mut self) -> Result<(), String> {
        self.take(1);
        loop {
            match self.peek() {
                Some('`') => {
                    self.take(1);
                    return Ok(());
                }
                Some('\\') => {
                    self.take(1);
                    self.take_char();
                }
                Some(_) => self.take_char(),
                None => return Err("name without a closing backquote".to_owned()),
            }
        }
    }
}

/// Returns the length of `[digits]` at the start of the text.
fn index_len(text: &str) -> Option<usize> {
    let digits = text[1..].find(|c: char| !c.is_ascii_digit())?;
    (digits > 0 && text[1 + digits..].starts_with(']')).then_some(digits + 2)
}
