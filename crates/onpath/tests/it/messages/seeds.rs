//! Seeds of the mutations: messages captured from real clients, and hand-written ones that these do not send.

/// Returns the seeds of a schema.
pub(crate) fn of(name: &str) -> Vec<Vec<u8>> {
    match name {
        "dns" => vec![
            hex("1234 0100 0001 0000 0000 0000 03777777 076578616d706c65 03636f6d 00 0001 0001"),
            hex("1234 8180 0001 0003 0001 0001 03777777 076578616d706c65 03636f6d 00 0001 0001
                c00c 0005 0001 0000003c 0004 0163c010
                c02d 0001 0001 0000003c 0004 0a000001
                c010 000f 0001 0000003c 0007 000a 026d78c014
                c010 0002 0001 0000003c 0002 c02d
                00 0029 1000 00000000 0000"),
            hex("0001 0100 0001 0000 0000 0000 05612e5cff21 00 001c 0001"),
        ],
        "http" => vec![
            b"GET /shop/item?id=7&q=red+shoes&item HTTP/1.1\r\nHost: shop.example.com\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n".to_vec(),
            b"POST /api HTTP/1.1\r\nhost:\t127.0.0.1:41745 \r\nAccept: */*\r\nContent-Length: 18\r\n\r\n{\"user\":{\"id\":42}}".to_vec(),
            b"HTTP/1.1 404 Not Found\r\nServer: nginx\r\nContent-Length: 0\n\r\n".to_vec(),
            b"HTTP/1.0 200\r\n\r\n".to_vec(),
            b"\r\n\nPROPFIND http://a.example:80/x?q=1 HTTP/1.1\r\nHost: b\r\nhost: c\r\n\r\n".to_vec(),
            b"CONNECT a.example:443 HTTP/1.1\r\nHost: b\r\n folded\r\n\r\n".to_vec(),
            b"OPTIONS * HTTP/1.1\nHost: ab\n\nGET ftp://h?item=2 HTTP/1.1\r\n\r\n".to_vec(),
            b"HTTP/1.1 2000 OK\r\n\r\n".to_vec(),
            b"POST /a HTTP/1.1\r\nContent-Length: 12\r\nhost: a\r\ncontent-length: 12\r\n\r\nhello".to_vec(),
            b"POST /a HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\nHost: a\r\n\r\n".to_vec(),
            b"GET / HTTP/1.1\r\ntransfer-encoding: gzip\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n".to_vec(),
            b"GET / HTTP/1.1\r\nContent-Length: 5\r\nHost: b\r\nContent-Length: 6\r\nUser-Agent: x\r\n\r\n".to_vec(),
        ],
        "tls" => tls(),
        "gtpu" => vec![
            hex("34 ff 000c 00000001 0000 00 85 01 10 09 00 45000014"),
            hex("30 ff 0004 00000001 45000014"),
            hex("32 01 0004 00000000 0001 00 00"),
            hex("36 ff 0014 00000001 0001 00 c0 01 0000 85 02 10 09 00 00000000 00 45000014"),
        ],
        "pfcp" => vec![
            hex("21 32 002a 0000000000000001 000002 00 003c 0005 00 0a000001
                0001 0011 0038 0002 0001 0002 0007 0016 0003 616263"),
            hex("20 01 000c 000001 00 0060 0004 e5000000 24 05 0009 000002 00 0013 0001 01"),
            hex("20 32 0018 000002 00 0001 0010 0001 000c 0001 0008 0001 0004 0001 0000"),
        ],
        "memcached" => vec![
            b"get alpha beta\r\n".to_vec(),
            b"set k 0 60 5 noreply\r\nhello\r\n".to_vec(),
            b"cas key 1 2 3 77\r\nabc\r\n".to_vec(),
            b"incr visits 1\r\n".to_vec(),
            b"stats\r\n".to_vec(),
        ],
        "memcached-binary" => vec![
            hex("80 01 0003 08 00 0000 00000010 00000000 0000000000000000 0000000000000e10 666f6f 68656c6c6f"),
            hex("81 00 0000 04 00 0000 00000009 00000000 0000000000000001 deadbeef 576f726c64"),
        ],
        "postgresql" => vec![
            hex("00000038000300007573657200616c6963650064617461626173650073686f70006170706c69636174696f6e5f6e616d
                65007073716c0000"),
            hex("00000008 04d2162f"),
            b"Q\0\0\0\x0dSELECT 1\0".to_vec(),
            b"P\0\0\0\x10s1\0SELECT 2\0\0\0".to_vec(),
        ],
        "mqtt" => vec![
            hex("10 22 0004 4d515454 04 c2 003c 0008 6465766963652d37 0004 616e6e61 0006 736563726574"),
            hex("10 1c 0004 4d515454 05 06 003c 05 1100000e10 0001 63 00 0003 6c6173 0001 78"),
            hex("30 07 0003 612f62 3432 c0 00"),
        ],
        "redis" => redis(),
        "json" => json(),
        "xml" => xml(),
        _ => Vec::new(),
    }
}

/// Returns JSON texts with values of all kinds, names and strings with escapes and characters of all lengths, and
/// arrays of many elements. Their nesting reaches the maximum depth and beyond.
fn json() -> Vec<Vec<u8>> {
    let elements: Vec<String> = (0..1_200).map(|n| n.to_string()).collect();
    let deep = |levels: usize| {
        let open = "[{\"a\":".repeat(levels / 2) + if levels % 2 == 1 { "[" } else { "" };
        let close = if levels % 2 == 1 { "]" } else { "" }.to_string() + &"}]".repeat(levels / 2);
        format!("{open}{}{close}", if levels % 2 == 1 { "" } else { "1" })
    };
    let mut seeds: Vec<String> = [
        r#"{"user": {"id": 42, "name": "a\"b\\", "tags": ["x", "y\u00e9"]}, "id": -1.5e+7, "ok": true}"#,
        r#"{"id":null,"id":1,"user":{"name":{"first":"Ada Lovelace of Ockham Park"}},"tags":["red","green"]}"#,
        r#" [ [0, 1, [false]], ["a", "", "c and more"], {"x": [{}, []]} ] "#,
        r#"{"rows": [{"x": [1]}, {"x": ["second", 2]}], "": {"a": 1, "": 2}, "user.id": "with a dot"}"#,
        "{\"é\\n\": \"é€😀 \u{7f}\", \"😀\": 0, \"tags\": [0.5, -0, 1E2]}",
        "\r\n\t  \n{\"id\": [1], \"user\": {\"id\": 7}}\n",
        r#"{"tags[0]": "a name with brackets", "tags": [[1], 2], "a": "\/\b\f\r\t"}"#,
    ]
    .map(String::from)
    .to_vec();
    seeds.push(format!("{{\"tags\": [{}]}}", elements[..12].join(", ")));
    seeds.push(format!("[{}]", elements[..300].join(",")));
    seeds.extend([4, 62, 63, 64, 65, 66].map(deep));
    seeds.push(format!(
        "{{\"user\": {{\"name\": \"{}\"}}}}",
        "long ".repeat(300)
    ));
    let mut seeds: Vec<Vec<u8>> = seeds.into_iter().map(String::into_bytes).collect();
    // Invalid UTF-8: too short, too long, a surrogate, and beyond the last character.
    for wrong in [
        &b"\xc3("[..],
        b"\xe0\x9f\xbf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf0\x8f\xbf\xbf",
        b"\xc0\x80",
        b"\xff",
    ] {
        seeds.push([b"{\"id\": 1, \"user\": \"", wrong, b"\"}"].concat());
    }
    seeds
}

/// Returns XML documents with everything that may be between and inside of tags, names of several characters, and
/// many attributes. Their nesting reaches the maximum depth and beyond.
fn xml() -> Vec<Vec<u8>> {
    let attributes =
        |count: usize| -> String { (0..count).map(|n| format!(" a{n}='{n}'")).collect() };
    let deep = |elements: usize| {
        let inner = elements.saturating_sub(2);
        format!(
            "<a><b x='1'>{}{}</b></a>",
            "<b x=\"2\">".repeat(inner),
            "</b>".repeat(inner)
        )
    };
    let mut seeds: Vec<String> = [
        "<?xml version=\"1.0\"?><!-- a=\"1\" -- > --><order id='7'>\n <item sku=\"a&amp;b\" n = \"2\"/>text <![CDATA[<x y=\"z\">]]]]></order>\n",
        "<a x='one' y=\"two\"><b x='' xy='an attribute that is long'/><b x='3'><b x = 'in \"it\"'></b ></b></a>",
        "<é é='ü'><é.-1 é='2'/></é>",
        "<a:b c:d='e' _f='>'/><!----><?p ??>",
        "<a x='1' x='2'/>",
        "<a attribute_of_many_letters='1' attribute_of_many_lettert='2' attribute_of_many_letters='3'/>",
        "<order\n\tid = '1'\n><item n='1' sku='x'/><item n='2'/></order><order/>",
        "<!DOCTYPE a><a/>",
        "<a><element_of_many_letters></element_of_many_letterz></a>",
    ]
    .map(String::from)
    .to_vec();
    seeds.extend([8, 63, 64, 65].map(|count| format!("<a{} x='last'/>", attributes(count))));
    seeds.extend([3, 63, 64, 65].map(deep));
    seeds.push(format!(
        "<a><b y='{}' x='1'>{}</b></a>",
        "long ".repeat(100),
        "text ".repeat(100)
    ));
    seeds.into_iter().map(String::into_bytes).collect()
}

/// Returns commands, replies and nested arrays. Their nesting reaches the maximum depth and beyond.
fn redis() -> Vec<Vec<u8>> {
    let deep = |arrays: usize, innermost: &str| {
        format!("{}{innermost}", "*1\r\n".repeat(arrays)).into_bytes()
    };
    let mut seeds = vec![
        b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n".to_vec(),
        b"+OK\r\n$-1\r\n:1234567890\r\n-ERR unknown command\r\n".to_vec(),
        b"*2\r\n*3\r\n:1\r\n*-1\r\n$2\r\nab\r\n*2\r\n*0\r\n-wrong\r\n+OK\r\n".to_vec(),
        b"*4\r\n*2\r\n*1\r\n:5\r\n$0\r\n\r\n*1\r\n*1\r\n*2\r\n+a\r\n*0\r\n$1\r\nx\r\n:7\r\n"
            .to_vec(),
    ];
    seeds.extend([20, 21, 22, 23, 24, 25].map(|arrays| deep(arrays, ":1\r\n")));
    seeds.extend([21, 22, 23].map(|arrays| deep(arrays, "+a\r\n:2\r\n")));
    seeds.extend([22, 23, 24, 25].map(|arrays| deep(arrays, "")));
    seeds
}

/// Returns hellos of TLS: one of `openssl s_client` 3.0, in one record and in three, and a short one. The others are
/// an answer to a hello, and a record that ends before the type of its message.
fn tls() -> Vec<Vec<u8>> {
    let whole = hex("
        160301014e0100014a030377eb7b2f812f1075279d8db3b81f747d21f2f079da830e70b221011a7f9bbe2d20f416c73b
        8f17cf0aa8e69e4f3e1f692a6d9556e13c8cd2fd817f6ec4739da186003e130213031301c02cc030009fcca9cca8ccaa
        c02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d009c003d003c0035002f00ff010000c3
        00000014001200000f7777772e6578616d706c652e636f6d000b000403000102000a00160014001d0017001e00190018
        01000101010201030104002300000010000e000c02683208687474702f312e310016000000170000000d002a00280403
        05030603080708080809080a080b080408050806040105010601030303010302040205020602002b0009080304030303
        020301002d00020101003300260024001d00205641ae7656280f3015d51ee18d460c1e07cfaf684a766bf24fa0cf0f2f
        c6786f");
    let handshake = &whole[5..];
    let record = |part: &[u8]| {
        let mut record = vec![0x16, 3, 1];
        record.extend((part.len() as u16).to_be_bytes());
        record.extend(part);
        record
    };
    let parts = [&handshake[..100], &handshake[100..107], &handshake[107..]];
    let several = parts.map(record).concat();
    let short = hex(
        "16 0301 002d 01 000029 0303 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f 00 0002 1301 01 00",
    );
    let mut answer = short.clone();
    answer[5] = 2;
    vec![whole, several, answer, short[..5].to_vec(), short]
}

/// Parses hexadecimal digits, and ignores blanks.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let pair = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16);
    digits
        .chunks(2)
        .map(|two| pair(two).expect("hexadecimal digits"))
        .collect()
}
