//! Escaping of text from outside, before it is shown: names of files, interfaces and tables, messages of other
//! programs.
//!
//! Whoever chose a name may have put control sequences of a terminal into it, or characters that make one line look
//! like two. All output goes through [`shown_lines`] at the end. A name goes through [`shown`] when it becomes part of
//! a line. The escapes are those of JSON's strings, so that JSON text keeps its meaning.

use std::borrow::Cow;

/// Escapes a name as part of a line: each character for which [`is_seen`] is false becomes an escape of JSON, such as
/// `\u001b` or `\n`.
pub fn shown(name: &str) -> Cow<'_, str> {
    escaped(name, |_| false)
}

/// Escapes a text of several lines as [`shown`] does, but keeps ends of lines and tabs.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_fine = |c: char| stays(c) || is_seen(c);
    if text.chars().all(is_fine) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if is_fine(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    Cow::Owned(out)
}

/// Returns true for a character that is visible where it is shown. Control characters are not. Nor are those of
/// Unicode's categories Cf (some of which turn the direction of writing), Zl and Zp, and variation selectors.
pub fn is_seen(c: char) -> bool {
    const UNSEEN: [(char, char); 20] = [
        ('\u{ad}', '\u{ad}'),
        ('\u{600}', '\u{605}'),
        ('\u{61c}', '\u{61c}'),
        ('\u{6dd}', '\u{6dd}'),
        ('\u{70f}', '\u{70f}'),
        ('\u{890}', '\u{891}'),
        ('\u{8e2}', '\u{8e2}'),
        ('\u{180b}', '\u{180f}'),
        ('\u{200b}', '\u{200f}'),
        ('\u{2028}', '\u{202e}'),
        ('\u{2060}', '\u{206f}'),
        ('\u{fe00}', '\u{fe0f}'),
        ('\u{feff}', '\u{feff}'),
        ('\u{fff9}', '\u{fffb}'),
        ('\u{110bd}', '\u{110bd}'),
        ('\u{110cd}', '\u{110cd}'),
        ('\u{13430}', '\u{1343f}'),
        ('\u{1bca0}', '\u{1bca3}'),
        ('\u{1d173}', '\u{1d17a}'),
        ('\u{e0000}', '\u{e0fff}'),
    ];
    let is_in = |&(first, last): &(char, char)| (first..=last).contains(&c);
    !c.is_control() && !UNSEEN.iter().any(is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(
            shown("a\x1b[2J\u{9b}31m\u{7f}"),
            r"a\u001b[2J\u009b31m\u007f"
        );
        assert_eq!(shown("a\u{202e}b\u{e0001}"), r"a\u202eb\udb40\udc01");
        assert_eq!(shown("a\nerror: \r\tb"), r"a\nerror: \r\tb");
        assert_eq!(shown_lines("a\n\tb\r\x07"), "a\n\tb\\r\\u0007");
    }

    #[test]
    fn what_is_seen_stays() {
        for text in ["grün 漢字 \u{1f600} e\u{301}", r"C:\new", ""] {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let name = "a\u{9b}\u{202e}\u{e0001}\u{7f}\n";
        let json = serde_json::json!({ "name": name }).to_string();
        let printed = shown_lines(&json);
        assert!(printed.chars().all(is_seen));
        let read: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(read["name"], name);
    }
}
