//! Responses to blocked requests of HTTP.

use url::Url;

/// Most bytes of a response. It goes in front of a packet, where some drivers leave 192 bytes, of which the kernel keeps 40.
const MOST_BYTES: usize = 152;

/// Response to a blocked request: status 403, or another address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page(Vec<u8>);

impl Page {
    /// Reads a flag's value: `403`, or an address of HTTP or HTTPS.
    ///
    /// # Errors
    ///
    /// The fault, as a phrase.
    pub fn parse(text: &str) -> Result<Page, String> {
        if text == "403" {
            let body = "Blocked by name.\n";
            let fields = format!("Content-Type: text/plain\r\nContent-Length: {}", body.len());
            return Page::of("403 Forbidden", &fields, body);
        }
        let url = Url::parse(text).map_err(|_| "write 403, or an address with its scheme")?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err("an address has the scheme `http` or `https`".to_owned());
        }
        // It is ASCII, without blanks and control characters.
        let fields = format!("Location: {url}\r\nContent-Length: 0");
        Page::of("302 Found", &fields, "")
    }

    fn of(status: &str, fields: &str, body: &str) -> Result<Page, String> {
        let write = |blank: &str| {
            format!("HTTP/1.1 {status}\r\n{fields}\r\nConnection:{blank}close\r\n\r\n{body}")
        };
        // A sum of words takes an even number of bytes.
        let [odd, even] = [write("  "), write(" ")];
        let text = if even.len() % 2 == 0 { even } else { odd };
        match text.len() {
            ..=MOST_BYTES => Ok(Page(text.into_bytes())),
            length => Err(format!(
                "the response has {length} bytes, and {MOST_BYTES} is the limit: choose a shorter address"
            )),
        }
    }

    /// Returns the macros of the program that have it.
    pub fn macros(&self) -> [(String, Option<String>); 3] {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        let words = self.0.chunks_exact(2);
        let sum: u32 = words
            .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
            .sum();
        [
            ("PAGE_BYTES", self.0.len().to_string()),
            ("PAGE_TEXT", format!("0x{digits}")),
            ("PAGE_SUM", sum.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), Some(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_a_status_or_an_address() {
        let text = |value: &str| {
            let Page(bytes) = Page::parse(value).expect("a page");
            assert_eq!(bytes.len() % 2, 0, "{value}");
            let mut fields = [httparse::EMPTY_HEADER; 8];
            let mut response = httparse::Response::new(&mut fields);
            let read = response.parse(&bytes).expect("a response").unwrap();
            let location = response
                .headers
                .iter()
                .find(|field| field.name == "Location");
            let location = location.map(|field| String::from_utf8_lossy(field.value).into_owned());
            (response.code, location, bytes.len() - read)
        };
        assert_eq!(text("403"), (Some(403), None, 17));
        for (address, shown) in [
            ("http://block.lan", "http://block.lan/"),
            ("http://block.lan/a", "http://block.lan/a"),
            (
                "https://block.lan/a b\r\nX: y",
                "https://block.lan/a%20bX:%20y",
            ),
        ] {
            assert_eq!(text(address), (Some(302), Some(shown.to_owned()), 0));
        }
    }

    #[test]
    fn other_values_are_refused() {
        for (value, fault) in [
            ("404", "write 403"),
            ("block.lan", "write 403"),
            ("ftp://block.lan", "the scheme"),
            (
                &format!("http://block.lan/{}", "a".repeat(100)),
                "152 is the limit",
            ),
        ] {
            let error = Page::parse(value).expect_err(value);
            assert!(error.contains(fault), "{error}");
        }
    }

    #[test]
    fn macros_have_its_bytes_and_their_sum() {
        let page = Page(b"ab\xff\xff".to_vec());
        let [bytes, text, sum] = page.macros().map(|(_, value)| value.unwrap());
        assert_eq!((bytes.as_str(), text.as_str()), ("4", "0x6162ffff"));
        assert_eq!(sum, (0x6162 + 0xffff).to_string());
    }
}
