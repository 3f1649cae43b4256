//! XML documents: the values of attributes by path. Document types are refused: entities of their own would give a document another meaning.

use super::Reason;
use super::input::Window;
use super::json::Member;
use super::malformed::{Stop, stop};

/// Reads a document from `at` to the window's end. Paths are the names of elements with `/` between them, then `/@` and the name of the attribute.
pub(super) fn read(
    window: Window,
    at: usize,
    depth: usize,
    members: &mut Vec<Member>,
) -> Result<(), Stop> {
    let mut document = Document {
        window,
        at,
        open: Vec::new(),
        members,
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
        } else if document.stands("</") {
            document.end_tag()?;
        } else if is_outside && has_root {
            return stop(Reason::Unexpected, document.at);
        } else if document.open.len() == depth {
            return stop(Reason::TooDeep, document.at);
        } else {
            has_root = true;
            document.start_tag()?;
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
    /// The names of the elements that are open.
    open: Vec<(usize, usize)>,
    members: &'a mut Vec<Member>,
}

impl Document<'_> {
    fn rest(&self) -> &[u8] {
        self.window.from(self.at)
    }

    fn stands(&self, text: &str) -> bool {
        self.rest().starts_with(text.as_bytes())
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

    /// Text up to the next tag; outside of the root only white space.
    fn text(&mut self, is_outside: bool) -> Result<(), Stop> {
        while self.at < self.window.end && !self.stands("<") {
            if is_outside && !is_blank(self.rest()[0]) {
                return self.unexpected();
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Passes over what begins and ends in these.
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
            Some(open) if self.bytes(open) == self.bytes(name) => Ok(()),
            _ => stop(Reason::Unexpected, start),
        }
    }

    fn start_tag(&mut self) -> Result<(), Stop> {
        self.expect("<")?;
        let name = self.name()?;
        self.open.push(name);
        let first = self.members.len();
        loop {
            let blanks = self.blanks();
            if self.stands(">") {
                self.at += 1;
                return Ok(());
            }
            if self.stands("/") {
                self.expect("/>")?;
                self.open.pop();
                return Ok(());
            }
            if blanks == 0 {
                return self.unexpected();
            }
            self.attribute(first)?;
        }
    }

    /// An attribute; those of this element begin at `first`, and no two have one name.
    fn attribute(&mut self, first: usize) -> Result<(), Stop> {
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
        let mut path = String::new();
        for &element in &self.open {
            path += &String::from_utf8_lossy(self.bytes(element));
            path.push('/');
        }
        path.push('@');
        path += &String::from_utf8_lossy(self.bytes(name));
        if self.members[first..]
            .iter()
            .any(|member| member.path == path)
        {
            return stop(Reason::Unexpected, name.0);
        }
        self.members.push(Member { path, start, end });
        Ok(())
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
