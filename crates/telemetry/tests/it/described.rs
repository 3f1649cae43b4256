//! Descriptions of attributes.

use crate::program::on_path;
use crate::schemas::{SCHEMAS, asked};
use std::collections::BTreeSet;
use telemetry::{Catalogue, OnPath, Type, describe, meant};

#[test]
fn every_attribute_is_described_and_nothing_else_is() {
    let all = describe(&Catalogue::new(&*SCHEMAS));
    let named: BTreeSet<&str> = all.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(named.len(), all.len());
    for name in Catalogue::new(&*SCHEMAS).names() {
        assert!(named.contains(name.as_str()), "{name}");
    }
    for attribute in &all {
        assert!(!attribute.text.is_empty(), "{}", attribute.name);
        assert_eq!(
            attribute.ty == Type::Time,
            attribute.name.ends_with("response_time")
        );
    }
    for kind in explain::kinds() {
        for about in &kind.attributes {
            let name = match kind.name {
                explain::HEADERS => about.name.to_owned(),
                kind => format!("{kind}.{}", about.name),
            };
            assert!(named.contains(name.as_str()), "{name}");
        }
    }
}

#[test]
fn what_runs_on_the_path_is_reported() {
    let all = describe(&Catalogue::new(&*SCHEMAS));
    let on_path_of = |name: &str| all.iter().find(|a| a.name == name).map(|a| a.on_path);
    assert_eq!(on_path_of("ip.src"), Some(OnPath::Yes));
    assert_eq!(on_path_of("http.header.NAME"), Some(OnPath::Yes));
    assert_eq!(on_path_of("dns.answer.ttl"), Some(OnPath::First));
    // The first value may be noise.
    assert_eq!(on_path_of("tls.cipher"), Some(OnPath::No));
    let request = [asked(80, b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")];
    let report = on_path("count by http.host", &*SCHEMAS, &request, 1.0);
    assert_eq!(report.rows.len(), 1);
}

#[test]
fn a_name_stands_for_what_it_means() {
    let of = |name: &str| meant(&Catalogue::new(&*SCHEMAS), name);
    let ports = [
        "tcp.src_port",
        "tcp.dst_port",
        "udp.src_port",
        "udp.dst_port",
    ];
    assert_eq!(of("port"), ports);
    assert_eq!(of("dst_port"), ["tcp.dst_port", "udp.dst_port"]);
    assert_eq!(of("host"), ["http.host", "tls.sni"]);
    assert_eq!(of("tls.server_name"), ["tls.sni"]);
    assert_eq!(of("http.cookie"), ["http.header.NAME"]);
    assert!(of("latency").contains(&"dns.response_time".to_owned()));
    for nothing in ["", "zebra", "sctp.src_port", "http.zebra"] {
        assert_eq!(of(nothing), [""; 0], "{nothing}");
    }
}
