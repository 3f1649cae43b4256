//! First messages of real clients, captured by a listener on the loopback interface.

use crate::common::{hex, reading, texts};

/// `curl` 7.88, a GET with a cookie.
const CURL_REQUEST: &str = "
    474554202f73686f702f6974656d3f69643d37266c616e673d646520485454502f312e310d0a486f73743a2073686f70
    2e6578616d706c652e636f6d0d0a557365722d4167656e743a206375726c2f372e38382e310d0a4163636570743a202a
    2f2a0d0a436f6f6b69653a2073657373696f6e3d6162630d0a0d0a
";

/// `curl` 7.88, a POST of JSON.
const CURL_POST: &str = "
    504f5354202f61706920485454502f312e310d0a486f73743a203132372e302e302e313a34313734350d0a557365722d
    4167656e743a206375726c2f372e38382e310d0a4163636570743a202a2f2a0d0a436f6e74656e742d547970653a2061
    70706c69636174696f6e2f6a736f6e0d0a436f6e74656e742d4c656e6774683a2031380d0a0d0a7b2275736572223a7b
    226964223a34327d7d
";

/// `openssl s_client` 3.0 with a server name and two protocols.
const OPENSSL_HELLO: &str = "
    160301014e0100014a030377eb7b2f812f1075279d8db3b81f747d21f2f079da830e70b221011a7f9bbe2d20f416c73b
    8f17cf0aa8e69e4f3e1f692a6d9556e13c8cd2fd817f6ec4739da186003e130213031301c02cc030009fcca9cca8ccaa
    c02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d009c003d003c0035002f00ff010000c3
    00000014001200000f7777772e6578616d706c652e636f6d000b000403000102000a00160014001d0017001e00190018
    01000101010201030104002300000010000e000c02683208687474702f312e310016000000170000000d002a00280403
    05030603080708080809080a080b080408050806040105010601030303010302040205020602002b0009080304030303
    020301002d00020101003300260024001d00205641ae7656280f3015d51ee18d460c1e07cfaf684a766bf24fa0cf0f2f
    c6786f
";

/// `curl` 7.88 with OpenSSL, whose hello is padded.
const CURL_HELLO: &str = "
    1603010200010001fc0303acb546cd2d28b61864becbc2ef88fe47ae9b65a4baa57b6d171aafd25186e3bf2082fd97fb
    d3b1f0c8f2302aa3c389587dd6bcd8d6f18ffa92e0c35973e3155930003e130213031301c02cc030009fcca9cca8ccaa
    c02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d009c003d003c0035002f00ff01000175
    00000014001200000f6170692e6578616d706c652e6f7267000b000403000102000a00160014001d0017001e00190018
    010001010102010301040010000e000c02683208687474702f312e31001600000017000000310000000d002a00280403
    05030603080708080809080a080b080408050806040105010601030303010302040205020602002b0009080304030303
    020301002d00020101003300260024001d002025d91b400d3f0d433129ee4300b6fcbe9f3063e2f0e14ba7c6910e96d0
    a22c0d001500ae0000000000000000000000000000000000000000000000000000000000000000000000000000000000
    000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
    000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
    00000000000000000000000000000000000000000000000000000000000000000000000000
";

/// `psql` 15 with a user and a database.
const PSQL_STARTUP: &str = "
    00000038000300007573657200616c6963650064617461626173650073686f70006170706c69636174696f6e5f6e616d
    65007073716c0000
";

/// `redis-cli` 7.0, a SET.
const REDIS_SET: &str = "
    2a330d0a24330d0a5345540d0a24380d0a6772656574696e670d0a2431310d0a68656c6c6f20776f726c640d0a
";

/// `mosquitto_pub` 2.0 with a user and a password.
const MOSQUITTO_CONNECT: &str = "
    102200044d51545404c2003c00086465766963652d370004616e6e610006736563726574
";

/// `mosquitto_pub` 2.0: the message after that one.
const MOSQUITTO_PUBLISH: &str = "
    300f0009686f6d652f74656d7032312e35
";

/// `mosquitto_pub` 2.0 by MQTT 5.0, with a will.
const MOSQUITTO_CONNECT_5: &str = "
    102200044d5154540506003c0321001400086465766963652d38000004676f6e65000178
";

/// `dig` 9.18 with EDNS.
const DIG_QUERY: &str = "
    73d101200001000000000001046d61696c076578616d706c6503636f6d00000f000100002904d000000000000c000a00
    0818591a37137534e1
";

/// Returns the values of an attribute in a message.
fn of(message: &str, bytes: &str, name: &str) -> Vec<String> {
    let found = reading(message, &hex(bytes)).unwrap_or_else(|e| panic!("{message}: {e}"));
    texts(&found, name)
}

#[test]
fn requests_of_curl() {
    assert_eq!(of("http", CURL_REQUEST, "path"), ["/shop/item"]);
    assert_eq!(of("http", CURL_REQUEST, "query.lang"), ["de"]);
    assert_eq!(of("http", CURL_REQUEST, "host"), ["shop.example.com"]);
    assert_eq!(of("http", CURL_REQUEST, "header.cookie"), ["session=abc"]);
    assert_eq!(of("http", CURL_POST, "content_length"), ["18"]);
    let body = of("http", CURL_POST, "body").concat();
    let found = reading("json", body.as_bytes()).unwrap();
    assert_eq!(texts(&found, "user.id"), ["42"]);
}

#[test]
fn hellos_of_openssl_and_curl() {
    assert_eq!(of("tls", OPENSSL_HELLO, "sni"), ["www.example.com"]);
    assert_eq!(of("tls", CURL_HELLO, "sni"), ["api.example.org"]);
    for hello in [OPENSSL_HELLO, CURL_HELLO] {
        assert_eq!(of("tls", hello, "alpn"), ["h2", "http/1.1"]);
        assert_eq!(of("tls", hello, "supported_version")[0], 0x304.to_string());
    }
}

#[test]
fn the_query_of_dig() {
    assert_eq!(of("dns", DIG_QUERY, "qname"), ["mail.example.com"]);
    assert_eq!(of("dns", DIG_QUERY, "qtype"), ["15"]);
}

#[test]
fn the_startup_of_psql() {
    assert_eq!(of("postgresql", PSQL_STARTUP, "user"), ["alice"]);
    assert_eq!(of("postgresql", PSQL_STARTUP, "database"), ["shop"]);
    assert_eq!(
        of("postgresql", PSQL_STARTUP, "parameter.application_name"),
        ["psql"]
    );
}

#[test]
fn a_command_of_redis_cli() {
    assert_eq!(of("redis", REDIS_SET, "command"), ["SET"]);
    assert_eq!(of("redis", REDIS_SET, "key"), ["greeting"]);
    assert_eq!(of("redis", REDIS_SET, "value"), ["hello world"]);
}

#[test]
fn packets_of_mosquitto() {
    assert_eq!(of("mqtt", MOSQUITTO_CONNECT, "client_id"), ["device-7"]);
    assert_eq!(of("mqtt", MOSQUITTO_CONNECT, "user"), ["anna"]);
    assert_eq!(of("mqtt", MOSQUITTO_CONNECT_5, "client_id"), ["device-8"]);
    assert_eq!(of("mqtt", MOSQUITTO_CONNECT_5, "will_topic"), ["gone"]);
    assert_eq!(of("mqtt", MOSQUITTO_PUBLISH, "topic"), ["home/temp"]);
}
