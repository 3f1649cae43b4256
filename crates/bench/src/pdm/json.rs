//! Readable JSON for thousands of numbers: each field on a line of its own, and a list of numbers on one line.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

#[derive(Default)]
struct Lines {
    depth: usize,
}

impl Lines {
    fn line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        write!(out, "\n{:1$}", "", 2 * self.depth)
    }
}

impl Formatter for Lines {
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        self.line(out)?;
        out.write_all(b"}")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if first {
            return Ok(());
        }
        out.write_all(b", ")
    }

    /// Writes four digits after the point, which exceed the precision of any measurement here.
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        let rounded = (value * 1e4).round() / 1e4;
        write!(out, "{rounded}")
    }
}

/// Returns the JSON text of a value, with a line end.
pub(crate) fn text(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let written = value.serialize(&mut Serializer::with_formatter(&mut out, Lines::default()));
    debug_assert!(written.is_ok(), "figures and names, into memory");
    out.push(b'\n');
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    #[test]
    fn lists_of_figures_are_in_a_line() {
        let value = json!({"a": [{"b": [1.00004, 2.5], "c": null}], "d": 3});
        let text = super::text(&value);
        let expected =
            "{\n  \"a\": [{\n    \"b\": [1, 2.5],\n    \"c\": null\n  }],\n  \"d\": 3\n}\n";
        assert_eq!(text, expected);
        serde_json::from_str::<Value>(&text).expect("is JSON");
    }
}
