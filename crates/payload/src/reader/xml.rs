//! XML documents: the values of attributes by path. Document types are refused, since their entities could change a
//! document's meaning.

use super::Reason;
use super::input::Window;
use super::json::LocatedScalar;
use super::malformed::{Stop, stop};

/// Greatest number of attributes of an element. Each is compared with those before it, since their names must differ.
pub const MOST_ATTRIBUTES: usize = 64;

/// Reads a document from `at` to the window's end. A path is the names of elements with `/` between them, then `/@` and
/// the attribute's name.
pub(super) fn read(
    window: Window,
    at: usize,
    depth: usize,
    found: &mut dyn FnMut(LocatedScalar),
) -> Result<(), Stop> {
    let mut document = Document {
        window,
        at,
        open: Vec::new(),
        path: String::new(),
        found,
    };
    let mut has_root = false;
    while document.at < window.end {
        let is_outside = document.open.is_empty();
        if !document.stands("<") {
            document.text(is_outside)?;
        } else if document.stands("<?") {
            document.skip("<?", "?>")?;
        } else if document.stands("<!--") {
            document.skip("<!--", "-->")?;
        } else if document.stands("<![CDATA[") && !is_outside {
            document.skip("<![CDATA[", "]]>")?;
        } else if document.is_cut("<!--") || (document.is_cut("<![CDATA[") && !is_outside) {
            return stop(Reason::Truncated, window.end);
        } else if document.stands("</") {
            document.end_tag()?;
        } else {
            document.start_tag(is_outside && has_root, depth)?;
            has_root = true;
        }
    }
    match has_root && document.open.is_empty() {
        true => Ok(()),
        false => stop(Reason::Truncated, window.end),
    }
}

struct Document<'a> {
    window: Window<'a>,
    at: usize,
    /// Names of the open elements, as start and end.
    open: Vec<(usize, usize)>,
    /// Path of the innermost element, with `/` after each name.
    path: String,
    found: &'a mut dyn FnMut(LocatedScalar),
}

impl Document<'_> {
    fn rest(&self) -> &[u8] {
        self.window.from(self.at)
    }

    fn stands(&self, text: &str) -> bool {
        self.rest().starts_with(text.as_bytes())
    }

    /// Returns true if the document ends within this text.
    fn is_cut(&self, text: &str) -> bool {
        let rest = self.rest();
        rest.len() < text.len() && text.as_bytes().starts_with(rest)
    }

    fn bytes(&self, (start, end): (usize, usize)) -> &[u8] {
        &self.window.bytes[start..end]
    }

    fn unexpected<T>(&self) -> Result<T, Stop> {
        match self.at < self.window.end {
            true => stop(Reason::Unexpected, self.at),
            false => stop(Reason::Truncated, self.window.end),
        }
    }

    /// Passes over text up to the next tag. Outside of the root, only white space is allowed.
    fn text(&mut self, is_outside: bool) -> Result<(), Stop> {
        while self.at < self.window.end && !self.stands("<") {
            if is_outside && !is_blank(self.rest()[0]) {
                return self.unexpected();
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Passes over a construct with this start and end.
    fn skip(&mut self, start: &str, end: &str) -> Result<(), Stop> {
        self.at += start.len();
        while !self.stands(end) {
            if self.at >= self.window.end {
                return self.unexpected();
            }
            self.at += 1;
        }
        self.at += end.len();
        Ok(())
    }

    fn blanks(&mut self) -> usize {
        let blanks = self.rest().iter().take_while(|&&b| is_blank(b)).count();
        self.at += blanks;
        blanks
    }

    fn expect(&mut self, text: &str) -> Result<(), Stop> {
        if !self.stands(text) {
            return self.unexpected();
        }
        self.at += text.len();
        Ok(())
    }

    fn name(&mut self) -> Result<(usize, usize), Stop> {
        let start = self.at;
        let begins = |b: u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b':' | 0x80..);
        if !self.rest().first().is_some_and(|&b| begins(b)) {
            return self.unexpected();
        }
        let goes_on = |b: u8| begins(b) || b.is_ascii_digit() || matches!(b, b'-' | b'.');
        self.at += self.rest().iter().take_while(|&&b| goes_on(b)).count();
        Ok((start, self.at))
    }

    fn end_tag(&mut self) -> Result<(), Stop> {
        let start = self.at;
        self.expect("</")?;
        let name = self.name()?;
        self.blanks();
        self.expect(">")?;
        match self.open.pop() {
            Some(open) if self.bytes(open) == self.bytes(name) => {
                self.leave(open);
                Ok(())
            }
            _ => stop(Reason::Unexpected, start),
        }
    }

    /// Removes the name of a closed element from the path.
    fn leave(&mut self, element: (usize, usize)) {
        let name = String::from_utf8_lossy(self.bytes(element)).len();
        self.path.truncate(self.path.len() - name - 1);
    }

    /// Reads a start tag. It is an error after the root, or within `depth` elements.
    fn start_tag(&mut self, is_behind_root: bool, depth: usize) -> Result<(), Stop> {
        let start = self.at;
        self.expect("<")?;
        let name = self.name()?;
        if is_behind_root {
            return stop(Reason::Unexpected, start);
        }
        if self.open.len() == depth {
            return stop(Reason::TooDeep, start);
        }
        self.open.push(name);
        self.path += &String::from_utf8_lossy(&self.window.bytes[name.0..name.1]);
        self.path.push('/');
        let mut names = Vec::new();
        loop {
            let blanks = self.blanks();
            if self.stands(">") {
                self.at += 1;
                return Ok(());
            }
            if self.stands("/") {
                self.at += 1;
                self.expect(">")?;
                self.open.pop();
                self.leave(name);
                return Ok(());
            }
            if blanks == 0 {
                return self.unexpected();
            }
            self.attribute(&mut names)?;
        }
    }

    /// Reads an attribute; `names` are those before it in this element.
    fn attribute(&mut self, names: &mut Vec<(usize, usize)>) -> Result<(), Stop> {
        let name = self.name()?;
        self.blanks();
        self.expect("=")?;
        self.blanks();
        let Some(&quote) = self.rest().first().filter(|b| matches!(b, b'"' | b'\'')) else {
            return self.unexpected();
        };
        self.at += 1;
        let start = self.at;
        loop {
            match self.rest().first() {
                Some(&byte) if byte == quote => break,
                Some(b'<') | None => return self.unexpected(),
                Some(_) => self.at += 1,
            }
        }
        let end = self.at;
        self.at += 1;
        if names.len() == MOST_ATTRIBUTES {
            return stop(Reason::TooDeep, name.0);
        }
        if names
            .iter()
            .any(|&known| self.bytes(known) == self.bytes(name))
        {
            return stop(Reason::Unexpected, name.0);
        }
        names.push(name);
        let outer = self.path.len();
        self.path.push('@');
        self.path += &String::from_utf8_lossy(&self.window.bytes[name.0..name.1]);
        (self.found)(LocatedScalar {
            path: &self.path,
            start,
            end,
        });
        self.path.truncate(outer);
        Ok(())
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
