//! JSON texts (RFC 8259): their scalars by path.

use super::Reason;
use super::input::Window;
use super::malformed::{Stop, stop};

/// JSON scalar, or value of an XML attribute.
pub(super) struct LocatedScalar<'p> {
    /// Path: names with dots between them, and `[N]` for the elements of arrays, from 0. Names are as they are written.
    /// A path may be as long as the document, so it is copied only where it is needed.
    pub(super) path: &'p str,
    /// Start of the value. A string's value is between its quotes, as it is written.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Reads a text from `at` to the window's end. Only white space may follow it.
pub(super) fn read(
    window: Window,
    at: usize,
    depth: usize,
    found: &mut dyn FnMut(LocatedScalar),
) -> Result<(), Stop> {
    let mut text = Text {
        window,
        at,
        path: String::new(),
        found,
    };
    text.value(depth)?;
    text.blanks();
    match text.at == window.end {
        true => Ok(()),
        false => stop(Reason::Unexpected, text.at),
    }
}

struct Text<'a> {
    window: Window<'a>,
    at: usize,
    path: String,
    found: &'a mut dyn FnMut(LocatedScalar),
}

impl Text<'_> {
    fn next(&self) -> Result<u8, Stop> {
        match self.window.from(self.at).first() {
            Some(&byte) => Ok(byte),
            None => stop(Reason::Truncated, self.window.end),
        }
    }

    fn unexpected<T>(&self) -> Result<T, Stop> {
        stop(Reason::Unexpected, self.at)
    }

    fn blanks(&mut self) {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.window.from(self.at).iter().take_while(blank).count();
    }

    fn passes(&mut self, byte: u8) -> Result<bool, Stop> {
        self.blanks();
        let stands = self.next()? == byte;
        self.at += usize::from(stands);
        Ok(stands)
    }

    fn value(&mut self, depth: usize) -> Result<(), Stop> {
        self.blanks();
        match self.next()? {
            b'{' | b'[' if depth == 0 => stop(Reason::TooDeep, self.at),
            b'{' => self.object(depth - 1),
            b'[' => self.array(depth - 1),
            b'"' => {
                let (start, end) = self.string()?;
                self.member(start, end);
                Ok(())
            }
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.unexpected(),
        }
    }

    fn member(&mut self, start: usize, end: usize) {
        (self.found)(LocatedScalar {
            path: &self.path,
            start,
            end,
        });
    }

    fn object(&mut self, depth: usize) -> Result<(), Stop> {
        self.at += 1;
        if self.passes(b'}')? {
            return Ok(());
        }
        let outer = self.path.len();
        loop {
            self.blanks();
            if self.next()? != b'"' {
                return self.unexpected();
            }
            let (start, end) = self.string()?;
            if !self.path.is_empty() {
                self.path.push('.');
            }
            self.path += &String::from_utf8_lossy(&self.window.bytes[start..end]);
            if !self.passes(b':')? {
                return self.unexpected();
            }
            self.value(depth)?;
            self.path.truncate(outer);
            if self.passes(b'}')? {
                return Ok(());
            }
            if !self.passes(b',')? {
                return self.unexpected();
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Stop> {
        self.at += 1;
        if self.passes(b']')? {
            return Ok(());
        }
        let outer = self.path.len();
        let mut index = 0;
        loop {
            self.path += &format!("[{index}]");
            self.value(depth)?;
            self.path.truncate(outer);
            index += 1;
            if self.passes(b']')? {
                return Ok(());
            }
            if !self.passes(b',')? {
                return self.unexpected();
            }
        }
    }

    /// Reads a string. Returns the start and end of its contents, without the quotes.
    fn string(&mut self) -> Result<(usize, usize), Stop> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.next()? {
                b'"' => {
                    self.at += 1;
                    return Ok((start, self.at - 1));
                }
                b'\\' => {
                    self.at += 1;
                    match self.next()? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
                        b'u' => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.next()?.is_ascii_hexdigit() {
                                    return self.unexpected();
                                }
                                self.at += 1;
                            }
                        }
                        _ => return self.unexpected(),
                    }
                }
                0..=0x1f => return self.unexpected(),
                0x80.. => self.character()?,
                _ => self.at += 1,
            }
        }
    }

    /// Passes over a character of several bytes in UTF-8.
    fn character(&mut self) -> Result<(), Stop> {
        let rest = self.window.from(self.at);
        let few = &rest[..rest.len().min(4)];
        let (valid, is_cut) = match std::str::from_utf8(few) {
            Ok(valid) => (valid, false),
            Err(error) => (
                std::str::from_utf8(&few[..error.valid_up_to()]).unwrap_or_default(),
                error.error_len().is_none(),
            ),
        };
        match valid.chars().next() {
            Some(character) => {
                self.at += character.len_utf8();
                Ok(())
            }
            None if is_cut => stop(Reason::Truncated, self.window.end),
            None => self.unexpected(),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Stop> {
        let start = self.at;
        for wanted in word.bytes() {
            if self.next()? != wanted {
                return self.unexpected();
            }
            self.at += 1;
        }
        self.member(start, self.at);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Stop> {
        if !self.next()?.is_ascii_digit() {
            return self.unexpected();
        }
        let rest = self.window.from(self.at).iter();
        self.at += rest.take_while(|byte| byte.is_ascii_digit()).count();
        Ok(())
    }

    /// Returns true if the next byte is one of these.
    fn stands(&self, any: &[u8]) -> bool {
        let here = self.window.from(self.at).first();
        here.is_some_and(|byte| any.contains(byte))
    }

    fn number(&mut self) -> Result<(), Stop> {
        let start = self.at;
        self.at += usize::from(self.stands(b"-"));
        if self.next()? == b'0' {
            self.at += 1;
            if self.stands(b"0123456789") {
                return self.unexpected();
            }
        } else {
            self.digits()?;
        }
        if self.stands(b".") {
            self.at += 1;
            self.digits()?;
        }
        if self.stands(b"eE") {
            self.at += 1;
            self.at += usize::from(self.stands(b"+-"));
            self.digits()?;
        }
        self.member(start, self.at);
        Ok(())
    }
}
