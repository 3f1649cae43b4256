//! Requests of clients: ClientHellos, HTTP requests and DNS queries. Each carries a tag with its number, by which
//! captures know it.

use memchr::memmem;

/// Text before the number in a tag.
const MARK: &[u8] = b"onpathfw";
/// Digits of the number.
const DIGITS: usize = 16;
/// Bytes of a payload in which a tag may be.
const SEARCHED: usize = 128;
/// Bytes of the headers before a payload: Ethernet, IPv4, TCP with time stamps.
const HEADERS: usize = 14 + 20 + 32;

/// Protocol of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// A TLS ClientHello.
    Tls,
    /// An HTTP GET.
    Http,
    /// A DNS query over UDP.
    Dns,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Tls, Kind::Http, Kind::Dns];

    /// Returns the name of the message.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Tls => "ClientHello",
            Kind::Http => "GET",
            Kind::Dns => "DNS query",
        }
    }

    /// Returns the server's port.
    pub(super) fn port(self) -> u16 {
        match self {
            Kind::Tls => 443,
            Kind::Http => 80,
            Kind::Dns => 53,
        }
    }

    /// Returns a request for a name. Its packet has at least `size` bytes; queries have no padding.
    pub(super) fn request(self, name: &str, number: u64, size: usize) -> Vec<u8> {
        let size = size.saturating_sub(HEADERS);
        match self {
            Kind::Tls => client_hello(name, number, size),
            Kind::Http => get(name, number, size),
            Kind::Dns => query(name, number),
        }
    }
}

fn tag(number: u64) -> String {
    format!("{}{number:016x}", String::from_utf8_lossy(MARK))
}

/// Returns a name on no list, another one for each number.
pub(super) fn unlisted(number: u64) -> String {
    format!("{}.not-on-any-list.example", tag(number))
}

/// Returns the number in the tag of a payload.
pub(super) fn number(payload: &[u8]) -> Option<u64> {
    let payload = payload.get(..SEARCHED).unwrap_or(payload);
    let at = memmem::find(payload, MARK)? + MARK.len();
    let digits = payload.get(at..at + DIGITS)?;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn extension(kind: u16, body: &[u8]) -> Vec<u8> {
    [
        &kind.to_be_bytes()[..],
        &(body.len() as u16).to_be_bytes(),
        body,
    ]
    .concat()
}

fn client_hello(name: &str, number: u64, size: usize) -> Vec<u8> {
    const SNI: u16 = 0;
    const GROUPS: u16 = 10;
    const ALGORITHMS: u16 = 13;
    const PADDING: u16 = 21;
    let length = name.len() as u16;
    let sni = [
        &(length + 3).to_be_bytes()[..],
        &[0],
        &length.to_be_bytes(),
        name.as_bytes(),
    ]
    .concat();
    let mut extensions = extension(SNI, &sni);
    extensions.extend(extension(GROUPS, &[0, 4, 0, 29, 0, 23]));
    extensions.extend(extension(ALGORITHMS, &[0, 4, 4, 3, 8, 4]));
    let random = format!("{:32}", tag(number));
    let mut body = vec![3, 3];
    body.extend(random.as_bytes());
    body.extend([0, 0, 4, 0xc0, 0x2b, 0xc0, 0x2f, 1, 0]);
    let bytes = 5 + 4 + body.len() + 2 + extensions.len();
    if size >= bytes + 4 {
        extensions.extend(extension(PADDING, &vec![0; size - bytes - 4]));
    }
    body.extend((extensions.len() as u16).to_be_bytes());
    body.extend(extensions);
    let mut hello = vec![22, 3, 1];
    hello.extend((body.len() as u16 + 4).to_be_bytes());
    hello.extend([1, 0]);
    hello.extend((body.len() as u16).to_be_bytes());
    hello.extend(body);
    hello
}

fn get(name: &str, number: u64, size: usize) -> Vec<u8> {
    let front = format!("GET /{} HTTP/1.1\r\nHost: {name}\r\n", tag(number));
    let rest = "Accept: */*\r\n\r\n";
    let padding = size.saturating_sub(front.len() + rest.len() + "X: \r\n".len());
    format!("{front}X: {}\r\n{rest}", "x".repeat(padding)).into_bytes()
}

fn query(name: &str, number: u64) -> Vec<u8> {
    let mut query = (number as u16).to_be_bytes().to_vec();
    query.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.') {
        query.push(label.len() as u8);
        query.extend(label.bytes());
    }
    query.extend([0, 0, 1, 0, 1]);
    query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_their_size_and_number() {
        for size in [250, 750, 1250] {
            for kind in [Kind::Tls, Kind::Http] {
                let request = kind.request("www.some.example", 77, size);
                assert_eq!(request.len() + HEADERS, size, "{kind:?}");
                assert_eq!(number(&request), Some(77));
            }
        }
        let name = unlisted(0xabc);
        assert_eq!(number(&Kind::Dns.request(&name, 1, 0)), Some(0xabc));
        assert_eq!(number(b"GET / HTTP/1.1\r\n"), None);
    }

    #[test]
    fn lengths_of_a_client_hello_add_up() {
        let hello = Kind::Tls.request("a.example", 1, 300);
        let at = |at: usize| usize::from(u16::from_be_bytes([hello[at], hello[at + 1]]));
        assert_eq!((at(3), at(7)), (hello.len() - 5, hello.len() - 9));
        assert_eq!(at(52), hello.len() - 54);
    }
}
