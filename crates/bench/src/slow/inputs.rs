//! Payloads of messages: usual ones, and some that were once slow.

/// Returns usual messages of a schema.
pub(super) fn usual(schema: &str) -> Vec<Vec<u8>> {
    match schema {
        "http" => texts(&[
            "GET /shop/item?id=7&q=red+shoes HTTP/1.1\r\nHost: shop.example.com\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n",
            "POST /api/orders HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept: */*\r\nContent-Length: 18\r\n\r\n{\"user\":{\"id\":42}}",
            "HTTP/1.1 404 Not Found\r\nServer: example\r\nContent-Length: 0\r\n\r\n",
            "GET /static/app.js?v=3&lang=en HTTP/1.1\r\nHost: www.example.com\r\nConnection: keep-alive\r\n\
             User-Agent: Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0\r\nAccept: text/html,*/*;q=0.8\r\n\
             Referer: https://www.example.com/\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: en-US,en;q=0.9\r\n\
             Cookie: session=0123456789abcdef0123456789abcdef; theme=dark\r\n\r\n",
        ]),
        "json" => texts(&[
            r#"{"user": {"id": 42, "name": "Ada Lovelace", "tags": ["x", "y"]}, "id": -1.5e+7, "ok": true}"#,
            r#"{"time":"2026-01-01T12:00:00Z","level":"info","service":"shop","text":"order placed","user":{"id":48213,"name":"Ada"},"items":[{"sku":"A-1","n":2},{"sku":"B-7","n":1}],"total":44.48,"tags":["web","new"]}"#,
        ]),
        "xml" => texts(&[
            r#"<?xml version="1.0"?><order id="1001" date="2026-01-01"><item sku="A-1" n="2">Pencil, soft</item><item sku="B-7" n="1">Notebook with lines</item></order>"#,
            r#"<a x='one' y="two"><b x='3' xy='an attribute'/>text<b x='4'><b x='5'/></b></a>"#,
        ]),
        "dns" => vec![
            hex("1234 0100 0001 0000 0000 0000 03777777 076578616d706c65 03636f6d 00 0001 0001"),
            hex("1234 8180 0001 0003 0000 0000 03777777 076578616d706c65 03636f6d 00 0001 0001
                 c00c 0005 0001 0000003c 0004 0163c010 c02d 0001 0001 0000003c 0004 0a000001 c02d 0001 0001 0000003c 0004 0a000002"),
        ],
        "tls" => vec![hello(&[
            extension(0, &hex("0012 00 000f 7777772e6578616d706c652e636f6d")),
            extension(11, &hex("03 00 01 02")),
            extension(10, &hex("000c 001d 0017 001e 0019 0018 0100")),
            extension(16, &hex("000c 02 6832 08 687474702f312e31")),
            extension(13, &[[0, 28].to_vec(), [4, 3].repeat(14)].concat()),
            extension(43, &hex("04 0304 0303")),
            extension(51, &[hex("0024 001d 0020"), vec![7; 32]].concat()),
        ])],
        "gtpu" => vec![
            hex("34 ff 000c 00000001 0000 00 85 01 10 09 00 45000014"),
            hex("36 ff 0014 00000001 0001 00 c0 01 0000 85 02 10 09 00 00000000 00 45000014"),
        ],
        "pfcp" => vec![
            hex("21 32 002a 0000000000000001 000002 00 003c 0005 00 0a000001 0001 0011 0038 0002 0001 0002 0007 0016 0003 616263"),
            hex("20 01 000c 000001 00 0060 0004 e5000000"),
        ],
        "memcached" => texts(&["get alpha beta\r\n", "set k 0 60 5\r\nhello\r\n", "incr visits 1\r\n"]),
        "memcached-binary" => vec![
            hex("80 01 0003 08 00 0000 00000010 00000000 0000000000000000 0000000000000e10 666f6f 68656c6c6f"),
            hex("81 00 0000 04 00 0000 00000009 00000000 0000000000000001 deadbeef 576f726c64"),
        ],
        "postgresql" => vec![
            b"\0\0\0\x22\0\x03\0\0user\0alice\0database\0shop\0\0".to_vec(),
            b"Q\0\0\0\x1bSELECT * FROM products\0".to_vec(),
        ],
        "mqtt" => vec![
            hex("10 14 0004 4d515454 04 02 003c 0008 6465766963652d37"),
            hex("30 12 000c 686f6d652f6b69746368656e 32312e35"),
        ],
        "redis" => texts(&[
            "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n",
            "*2\r\n$3\r\nGET\r\n$8\r\nuser:321\r\n",
            "+OK\r\n$5\r\nvalue\r\n:1234567890\r\n",
        ]),
        _ => Vec::new(),
    }
}

/// Returns payloads that were slow or may be: bytes that readers search for, repeated, and elements of minimal size.
pub(super) fn slow(schema: &str) -> Vec<Vec<u8>> {
    let text = |front: &str, piece: &str, behind: &str| {
        let times = (super::BYTES - front.len() - behind.len()) / piece.len();
        [front, &piece.repeat(times), behind].concat().into_bytes()
    };
    let bytes = |front: &str, piece: &[u8]| {
        let mut all = hex(front);
        all.extend(piece.repeat(super::BYTES / piece.len()));
        all
    };
    let line = "GET / HTTP/1.1\r\n";
    match schema {
        "http" => vec![
            text("GET /?", "\r", ""),
            text(&format!("{line}a: b"), "\r", ""),
            text(&format!("{line}a: b"), "\t", ""),
            text(&format!("{line}a: b"), "\t", "c\r\n\r\n"),
            text(line, "\u{c3}", ""),
            text(line, "a:\n", "\n"),
            text(line, "Host:a\n", "\n"),
            text("GET /?", "&", " HTTP/1.1\r\n\r\n"),
            text("GET /?", "a&", " HTTP/1.1\r\n\r\n"),
            text("GET ", ":/", " HTTP/1.1\r\n\r\n"),
            text("", "\n", "GET / HTTP/1.1\n\n"),
            text("", "\r\n", "GET / HTTP/1.1\n\n"),
            text(&format!("{line}a:"), " ", "\n\n"),
        ],
        "json" => vec![
            text("{\"tags\":[", "1,", "1]}"),
            text("[", "[],", "1]"),
            text("[\"", "\\n", "\"]"),
            text("[\"", "\u{e9}", "\"]"),
            text("{", "\"\":1,", "\"\":1}"),
            text("{", "\"tags\":[0],", "\"\":1}"),
        ],
        "xml" => {
            let names = (b'A'..=b'Z').chain(b'a'..=b'z').map(char::from).take(50);
            let short: String = names.map(|name| format!(" {name}=''")).collect();
            let alike = |bytes: usize| -> String {
                let name =
                    |n: usize| format!(" {}{:02}{}=''", "a".repeat(bytes), n, "a".repeat(bytes));
                (0..64).map(name).collect()
            };
            vec![
                text("<a>", &format!("<a{short}/>"), "</a>"),
                text("<a>", &format!("<a{}/>", alike(3)), "</a>"),
                text("<a>", &format!("<a{}/>", alike(8)), "</a>"),
                text("<a>", "<b></b>", "</a>"),
                text("<a>", "<b x=''/>", "</a>"),
                text("<a>", "<!---->", "</a>"),
            ]
        }
        "dns" => {
            // Each name is a pointer to the one before it.
            let mut chain = hex("1234 0100 00ff 0000 0000 0000 00 0001 0001");
            let mut last = 12;
            while chain.len() + 6 <= super::BYTES {
                let here = chain.len();
                chain.extend([0xc0 | (last >> 8) as u8, last as u8, 0, 1, 0, 1]);
                last = here;
            }
            // Each name is a pointer to one with the greatest number of labels.
            let labels = [
                hex("1234 0100 00ff 0000 0000 0000"),
                b"\x01a".repeat(126),
                hex("00 0001 0001"),
                hex("c00c 0001 0001").repeat(200),
            ];
            vec![
                chain,
                labels.concat(),
                bytes("1234 0100 01ff 0000 0000 0000", &hex("00 0001 0001")),
                bytes(
                    "1234 8100 0000 01ff 0000 0000",
                    &hex("00 0001 0001 00000000 0000"),
                ),
            ]
        }
        "tls" => vec![
            hello(&vec![extension(99, &[]); 350]),
            hello(&[extension(
                16,
                &[hex("0578"), hex("01 61").repeat(700)].concat(),
            )]),
            hello(&[extension(
                16,
                &[hex("0578"), hex("00").repeat(1400)].concat(),
            )]),
            hello(&[extension(
                0,
                &[hex("0576"), hex("01 0000").repeat(466)].concat(),
            )]),
            hello(&[extension(
                43,
                &[hex("fe"), hex("0304").repeat(127)].concat(),
            )]),
            hello(&vec![extension(99, &[]); 350])[5..]
                .iter()
                .flat_map(|&byte| [0x16, 3, 1, 0, 1, byte])
                .collect(),
        ],
        "gtpu" => vec![bytes("34 ff 05c0 00000001 0000 00 85", &hex("01 0000 85"))],
        "pfcp" => vec![
            bytes("20 32 05c8 000002 00", &hex("0038 0000")),
            bytes("20 32 05c8 000002 00", &hex("0001 0000")),
            bytes("", &hex("2001 0004 000001 00")),
        ],
        "memcached" => vec![
            text("get", " a", "\r\n"),
            text("get", " ", "\r\n"),
            text("get ", "\r", ""),
        ],
        "postgresql" => vec![
            bytes("000005c0 00030000", b"a\0\0"),
            bytes("", b"H\0\0\0\x04"),
        ],
        "mqtt" => vec![bytes("", &hex("c000")), bytes("", &hex("30 02 0000"))],
        "redis" => vec![
            text("*999\r\n", ":1\r\n", ""),
            text("*999\r\n", "+\r\n", ""),
            text("*999\r\n", "*0\r\n", ""),
            text("*999\r\n", "$0\r\n\r\n", ""),
            text("", "*1\r\n", ""),
            text("+", "\r", ""),
        ],
        _ => Vec::new(),
    }
}

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Returns a ClientHello with these extensions.
fn hello(extensions: &[Vec<u8>]) -> Vec<u8> {
    let with_length = |bytes: Vec<u8>, size: usize| {
        let length = (bytes.len() as u32).to_be_bytes();
        [&length[4 - size..], &bytes].concat()
    };
    let body = [
        hex("0303"),
        (0..32).collect(),
        hex("00 0008 1301 1302 1303 c02b 01 00"),
        with_length(extensions.concat(), 2),
    ];
    let handshake = [vec![1], with_length(body.concat(), 3)].concat();
    [hex("16 0301"), with_length(handshake, 2)].concat()
}

fn extension(number: u16, bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u16).to_be_bytes();
    [&number.to_be_bytes()[..], &length, bytes].concat()
}

/// Parses bytes from hexadecimal digits, ignoring blanks.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|c| !c.is_ascii_whitespace()).collect();
    let value = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
    let pairs = digits.chunks_exact(2);
    pairs
        .map(|pair| value(pair[0]) << 4 | value(pair[1]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::payload::builtin::ALL;

    #[test]
    fn usual_messages_are_whole() {
        for builtin in ALL {
            let schema = builtin.schema().expect("its schema");
            let usual = usual(&schema.name);
            assert!(!usual.is_empty(), "{}", schema.name);
            for message in usual {
                let read = ::payload::read(&schema, &message);
                assert!(
                    read.is_ok_and(|found| !found.is_empty()),
                    "{}",
                    message.escape_ascii()
                );
            }
        }
    }
}
