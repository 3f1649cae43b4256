//! Text of a URL as patterns are compared with it.

use domains::folded_name;

/// Most bytes of a host that are looked at: those at its end, with a port and a final dot.
const MOST_OF_HOST: usize = 264;

/// Text of a URL: the host as names are compared, and the path with the query. Both are in lower case, `%XX` is the byte that
/// it stands for, and dot segments of the path are resolved (RFC 3986, 5.2.4).
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct UrlText {
    /// Host, without a port and a final dot.
    pub host: Vec<u8>,
    /// Path and query; empty if the URL has no path.
    pub path: Vec<u8>,
}

impl UrlText {
    /// Returns the text of a host alone.
    pub fn of_host(host: &[u8]) -> UrlText {
        let from = host.len().saturating_sub(MOST_OF_HOST);
        UrlText {
            host: folded_name(&host[from..]),
            path: Vec::new(),
        }
    }

    /// Returns the text of a host and the target of a request, which begins with a path of `path` bytes. A fragment is no
    /// part of it.
    pub fn of_request(host: &[u8], target: &[u8], path: usize) -> UrlText {
        let end = target.iter().position(|byte| *byte == b'#');
        let target = &target[..end.unwrap_or(target.len())];
        let (path, query) = target.split_at(path.min(target.len()));
        let mut text = match path {
            b"" => b"/".to_vec(),
            path => resolved(&decoded(path)),
        };
        text.extend(decoded(query));
        UrlText {
            path: text,
            ..UrlText::of_host(host)
        }
    }

    /// Returns all of the text.
    pub fn bytes(&self) -> Vec<u8> {
        [&self.host[..], &self.path].concat()
    }
}

/// Returns bytes in lower case, with the byte that each `%XX` stands for. A `%` that is none stays.
pub(crate) fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| {
        let byte = char::from(*text.get(at)?);
        byte.to_digit(16).map(|digit| digit as u8)
    };
    let (mut bytes, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        let escaped = match text[at] {
            b'%' => digit(at + 1).zip(digit(at + 2)),
            _ => None,
        };
        let (byte, size) = match escaped {
            Some((high, low)) => (high << 4 | low, 3),
            None => (text[at], 1),
        };
        bytes.push(byte.to_ascii_lowercase());
        at += size;
    }
    bytes
}

/// Returns a path without dot segments.
pub(crate) fn resolved(path: &[u8]) -> Vec<u8> {
    let mut segments = path.split(|byte| *byte == b'/');
    let mut out = segments.next().unwrap_or_default().to_vec();
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = segments.peekable();
    while let Some(segment) = segments.next() {
        match segment {
            b"." => {}
            b".." => drop(kept.pop()),
            other => {
                kept.push(other);
                continue;
            }
        }
        if segments.peek().is_none() {
            kept.push(b"");
        }
    }
    for segment in kept {
        out.push(b'/');
        out.extend(segment);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_one_text_however_it_is_written() {
        let of = |host: &str, target: &str| {
            let path = target.find('?').unwrap_or(target.len());
            let text = UrlText::of_request(host.as_bytes(), target.as_bytes(), path);
            String::from_utf8_lossy(&text.bytes()).into_owned()
        };
        for (target, expected) in [
            ("/Ads/A.gif", "a.com/ads/a.gif"),
            ("/%61ds/%2E/x?q=%41/../B", "a.com/ads/x?q=a/../b"),
            ("/a/./b/../c", "a.com/a/c"),
            ("/a/b/..", "a.com/a/"),
            ("/a/.", "a.com/a/"),
            ("/../../x", "a.com/x"),
            ("/a//../b", "a.com/a/b"),
            ("/a/%2e%2E/b", "a.com/b"),
            ("/100%/%4/%zz", "a.com/100%/%4/%zz"),
            ("/a%2fb%3Fc", "a.com/a/b?c"),
            ("/a#b?c", "a.com/a"),
            ("/a?b#c", "a.com/a?b"),
            ("?q", "a.com/?q"),
            ("*", "a.com*"),
        ] {
            assert_eq!(of("A.com.:80", target), expected, "{target}");
        }
        assert_eq!(UrlText::of_host(b"WWW.A.com.").bytes(), b"www.a.com");
    }
}
