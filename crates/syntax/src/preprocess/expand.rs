//! Macro expansion: the stream of tokens with every macro replaced.
//!
//! The stream is a file with a stack of expansions on top. A macro is not expanded inside its own expansion, that is,
//! as long as its frame is on the stack.

use std::rc::Rc;

use diag::{FileId, Span, counted};
use smol_str::{SmolStr, ToSmolStr};

use super::directives::Condition;
use super::macros::{Macro, Params};
use super::{MAX_EXPANDED, Preprocessor};
use crate::errors::preprocess as errors;
use crate::lexer::Lexer;
use crate::token::{Bad, Token, TokenKind};

/// Deepest nesting of macro uses in each other's arguments.
const MAX_ARGUMENT_DEPTH: usize = 100;

/// Source of tokens: a file, with a stack of expansions.
pub(super) struct Input {
    frames: Vec<Frame>,
    pub(super) source: Option<Source>,
}

/// A file being read.
pub(super) struct Source {
    pub file: FileId,
    pub lexer: Lexer,
    /// Open `#if`s, the innermost last.
    pub conditions: Vec<Condition>,
}

/// Tokens that replace a macro's use, or a list to expand.
struct Frame {
    tokens: std::vec::IntoIter<Token>,
    /// Macro that must not be expanded among them.
    of: Option<SmolStr>,
}

impl Input {
    pub(super) fn of_file(file: FileId, lexer: Lexer) -> Input {
        Input {
            frames: Vec::new(),
            source: Some(Source {
                file,
                lexer,
                conditions: Vec::new(),
            }),
        }
    }

    pub(super) fn of_tokens(tokens: Vec<Token>) -> Input {
        Input {
            frames: vec![Frame {
                tokens: tokens.into_iter(),
                of: None,
            }],
            source: None,
        }
    }

    /// Drops the finished expansions. Returns true if the file itself comes next.
    pub(super) fn drop_finished(&mut self) -> bool {
        while self
            .frames
            .last()
            .is_some_and(|f| f.tokens.as_slice().is_empty())
        {
            self.frames.pop();
        }
        self.frames.is_empty()
    }

    /// Returns the kind of the next token.
    fn peek(&self) -> TokenKind {
        let mut frames = self.frames.iter().rev();
        if let Some(token) = frames.find_map(|f| f.tokens.as_slice().first()) {
            return token.kind;
        }
        let source = self.source.as_ref();
        source.map_or(TokenKind::Eof, |source| source.lexer.peek().kind)
    }

    /// Returns true if the next token comes from the file itself and is the first of its line, where a directive is
    /// allowed.
    fn at_line_start(&self) -> bool {
        self.frames.iter().all(|f| f.tokens.as_slice().is_empty())
            && self
                .source
                .as_ref()
                .is_some_and(|source| source.lexer.peek().first)
    }

    fn is_disabled(&self, name: &SmolStr) -> bool {
        self.frames.iter().any(|f| f.of.as_ref() == Some(name))
    }
}

impl Preprocessor<'_> {
    /// Returns the next token, unexpanded. `None` at the end.
    fn next(&mut self, input: &mut Input) -> Option<Token> {
        if !input.drop_finished() {
            return input.frames.last_mut().and_then(|f| f.tokens.next());
        }
        let source = input.source.as_mut()?;
        let raw = source.lexer.next();
        (raw.kind != TokenKind::Eof).then(|| self.token(source.file, raw))
    }

    /// Returns the next token of a macro's arguments. `None` if they are not closed: at the end of the text, and before
    /// an `#include`, which would add tokens of its own.
    fn next_of_arguments(&mut self, input: &mut Input) -> Option<Token> {
        if input.drop_finished()
            && let Some(source) = &mut input.source
            && !self.directives(source, true)
        {
            return None;
        }
        self.next(input)
    }

    /// Returns the next token that is not a macro's use. `None` at the end and after an error. Also `None` if a macro
    /// was empty and a new line of the file begins, since that line may be a directive.
    pub(super) fn expand_next(&mut self, input: &mut Input) -> Option<Token> {
        while !self.stopped {
            // A frame stays on the stack while its last token is examined and expanded, so that its macro is not
            // expanded there either.
            let mut token = self.next(input)?;
            if token.kind != TokenKind::Ident || token.painted {
                return Some(token);
            }
            if let Some(built_in) = self.built_in(&token) {
                return Some(built_in);
            }
            let Some(found) = self.macros.get(&token.text).cloned() else {
                return Some(token);
            };
            if input.is_disabled(&token.text) {
                token.painted = true;
                return Some(token);
            }
            let arguments = match &found.params {
                None => Vec::new(),
                Some(_) if input.peek() != TokenKind::LParen => return Some(token),
                Some(params) => match self.arguments(input, &token, &found, params) {
                    Some(arguments) => arguments,
                    None => {
                        return Some(Token {
                            kind: TokenKind::Bad(Bad::AlreadyReported),
                            ..token
                        });
                    }
                },
            };
            let tokens = self.substitute(&found, arguments, &token);
            self.charge(tokens.len(), token.span);
            input.frames.push(Frame {
                tokens: tokens.into_iter(),
                of: Some(found.name.clone()),
            });
            if input.at_line_start() {
                return None;
            }
        }
        None
    }

    /// Replaces the macros in a list of tokens.
    pub(super) fn expand_list(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let mut input = Input::of_tokens(tokens);
        let mut out = Vec::new();
        while let Some(token) = self.expand_next(&mut input) {
            out.push(token);
        }
        out
    }

    /// Counts tokens that macros produced.
    fn charge(&mut self, tokens: usize, span: Span) {
        // Count one more for the use itself, so that empty macros are not free.
        self.expanded += tokens + 1;
        if self.expanded > MAX_EXPANDED {
            self.report(errors::expansion_budget(span, MAX_EXPANDED));
            self.stopped = true;
        }
    }

    /// Counts the text of a token that a macro made: each nested `#` can double it.
    fn charge_text(&mut self, text: &str, span: Span) {
        const BYTES_A_TOKEN: usize = 8;
        self.charge(text.len() / BYTES_A_TOKEN, span);
    }

    fn built_in(&mut self, token: &Token) -> Option<Token> {
        let (file, line) = match token.text.as_str() {
            "__COUNTER__" => {
                let number = self.counter;
                self.counter += 1;
                return Some(Token {
                    kind: TokenKind::Int,
                    text: number.to_smolstr(),
                    ..token.clone()
                });
            }
            "__FILE__" | "__LINE__" => self.map.line(token.span)?,
            _ => return None,
        };
        let renumbered = self.renumbered.get(&file);
        let (kind, text) = if token.text == "__LINE__" {
            let line = match renumbered {
                // The first line after the directive has the number given there.
                Some(known) => u64::from(known.next) + u64::from(line.saturating_sub(known.at + 1)),
                None => line.into(),
            };
            (TokenKind::Int, line.to_smolstr())
        } else {
            let name = renumbered.and_then(|known| known.name.as_deref());
            (
                TokenKind::Str,
                quote(name.unwrap_or(&self.map.file(file).name)),
            )
        };
        Some(Token {
            kind,
            text,
            ..token.clone()
        })
    }

    /// Takes the arguments of a use, which begin with the next token. `None` after an error.
    fn arguments(
        &mut self,
        input: &mut Input,
        name: &Token,
        found: &Macro,
        params: &Params,
    ) -> Option<Vec<Vec<Token>>> {
        self.next(input)?;
        let mut arguments: Vec<Vec<Token>> = vec![Vec::new()];
        let mut depth = 1_usize;
        let mut taken = 0;
        loop {
            let Some(mut token) = self.next_of_arguments(input) else {
                self.report(errors::macro_unclosed(name.span, &found.name));
                return None;
            };
            taken += 1;
            match token.kind {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
            let rest = params.rest.is_some() && arguments.len() > params.names.len();
            if token.kind == TokenKind::Comma && depth == 1 && !rest {
                arguments.push(Vec::new());
                continue;
            }
            if token.kind == TokenKind::Ident && input.is_disabled(&token.text) {
                token.painted = true;
            }
            if let Some(last) = arguments.last_mut() {
                last.push(token);
            }
        }
        self.charge(taken, name.span);
        let wanted = params.names.len();
        if wanted == 0 && params.rest.is_none() && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if params.rest.is_some() && arguments.len() == wanted {
            arguments.push(Vec::new());
        }
        let given = arguments.len();
        if given != wanted + usize::from(params.rest.is_some()) {
            let many = if params.rest.is_some() {
                "at least "
            } else {
                ""
            };
            let wanted = format!("{many}{}", counted(wanted, "argument"));
            self.report(errors::macro_args(
                name.span,
                &found.name,
                &wanted,
                given,
                found.span,
            ));
            return None;
        }
        Some(arguments)
    }

    /// Returns the body of a macro with its arguments substituted.
    fn substitute(
        &mut self,
        found: &Rc<Macro>,
        arguments: Vec<Vec<Token>>,
        name: &Token,
    ) -> Vec<Token> {
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut out: Vec<Token> = Vec::new();
        let body = &found.body;
        let here = |token: &Token| Token {
            span: name.span,
            first: false,
            ..token.clone()
        };
        let argument = |token: &Token| found.param(token).filter(|i| *i < arguments.len());
        let mut i = 0;
        // True after a `##`, and true if the operand on its left was empty.
        let mut paste = false;
        let mut left_empty = false;
        while i < body.len() {
            let token = &body[i];
            let next_pastes = body
                .get(i + 1)
                .is_some_and(|t| t.kind == TokenKind::HashHash);
            let piece: Vec<Token> = match token.kind {
                TokenKind::HashHash => {
                    paste = true;
                    i += 1;
                    continue;
                }
                TokenKind::Hash if found.params.is_some() => {
                    i += 1;
                    let text = body
                        .get(i)
                        .and_then(argument)
                        .map_or("\"\"".into(), |a| stringify(&arguments[a]));
                    self.charge_text(&text, name.span);
                    vec![Token {
                        kind: TokenKind::Str,
                        text,
                        ..here(token)
                    }]
                }
                _ => match argument(token) {
                    None => vec![here(token)],
                    Some(a) if paste || next_pastes => arguments[a].clone(),
                    Some(a) => {
                        if expanded[a].is_none() {
                            expanded[a] =
                                Some(self.expand_argument(arguments[a].clone(), name.span));
                        }
                        let mut tokens = expanded[a].clone().unwrap_or_default();
                        if let Some(first) = tokens.first_mut() {
                            first.space = token.space;
                        }
                        tokens
                    }
                },
            };
            if self.expanded + out.len() + piece.len() > MAX_EXPANDED {
                self.charge(out.len() + piece.len(), name.span);
                return Vec::new();
            }
            // `, ## __VA_ARGS__` drops the comma if there are no such arguments, and pastes nothing.
            let after_comma = out.last().is_some_and(|t| t.kind == TokenKind::Comma);
            let is_rest = found.params.as_ref().and_then(|p| p.rest.as_ref()) == Some(&token.text);
            let rest = paste && after_comma && is_rest;
            let empty = piece.is_empty();
            if rest {
                if empty {
                    out.pop();
                }
                out.extend(piece);
            } else if paste && !left_empty && !empty {
                self.paste_onto(&mut out, piece, name.span);
            } else {
                out.extend(piece);
            }
            left_empty = if paste { left_empty && empty } else { empty };
            paste = false;
            i += 1;
        }
        if let Some(first) = out.first_mut() {
            first.first = name.first;
            first.space = name.space;
        }
        out
    }

    fn expand_argument(&mut self, tokens: Vec<Token>, span: Span) -> Vec<Token> {
        if self.argument_depth >= MAX_ARGUMENT_DEPTH {
            self.report(errors::expansion_depth(span, MAX_ARGUMENT_DEPTH));
            self.stopped = true;
            return Vec::new();
        }
        self.argument_depth += 1;
        let out = self.expand_list(tokens);
        self.argument_depth -= 1;
        out
    }

    /// Joins the last token of `out` and the first of `piece` into one. If the result is not a token, the two stay
    /// separate: programs that paste names and punctuation rely on that.
    fn paste_onto(&mut self, out: &mut Vec<Token>, piece: Vec<Token>, span: Span) {
        let mut piece = piece.into_iter();
        let (Some(left), Some(right)) = (out.pop(), piece.next()) else {
            return;
        };
        let text = format!("{}{}", left.text, right.text);
        self.charge_text(&text, span);
        let mut lexer = Lexer::new(text.as_str().into());
        let raw = lexer.next();
        if raw.hi == text.len()
            && raw.lo == 0
            && !matches!(raw.kind, TokenKind::Bad(_) | TokenKind::Eof)
        {
            out.push(Token {
                kind: raw.kind,
                text: text.into(),
                span,
                painted: false,
                ..left
            });
        } else {
            out.extend([left, right]);
        }
        out.extend(piece);
    }
}

/// Converts an argument to a string literal.
fn stringify(tokens: &[Token]) -> SmolStr {
    let mut text = String::new();
    for (i, token) in tokens.iter().enumerate() {
        if i > 0 && (token.space || token.first) {
            text.push(' ');
        }
        text += &token.text;
    }
    quote(&text)
}

fn quote(text: &str) -> SmolStr {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")).into()
}
