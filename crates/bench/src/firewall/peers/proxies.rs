//! Proxies by server name and host, behind a redirection.

use super::place::{Parts, Place};
use crate::error::Error;
use crate::firewall::messages::Kind;
use crate::firewall::network::SERVER;
use std::fs;

/// Ports of a proxy for TLS and HTTP.
const PORTS: [(Kind, u16); 2] = [(Kind::Tls, 8443), (Kind::Http, 8080)];

/// Returns true once both ports are listened at, in the list of sockets of the process's namespace.
fn is_listening(place: &Place) -> bool {
    let lists = ["tcp", "tcp6"].map(|list| {
        let read = || fs::read_to_string(format!("/proc/thread-self/net/{list}"));
        place.network.router.run(read).unwrap_or_default()
    });
    PORTS.iter().all(|(_, port)| {
        let socket = format!(":{port:04X} ");
        let lines = lists.iter().flat_map(|list| list.lines());
        lines
            .into_iter()
            .any(|line| line.contains(&socket) && line.contains(" 0A "))
    })
}

fn run(place: &Place, words: &[&str]) -> Result<Parts, Error> {
    for (kind, to) in PORTS {
        place.redirect("tcp", kind.port(), to)?;
    }
    let mut process = place.start(words)?;
    process.wait(|_| is_listening(place))?;
    Ok(Parts {
        process: Some(process),
        ..Parts::default()
    })
}

/// Starts HAProxy. It looks names up exactly, in a tree: suffixes would be tried one after the other.
pub(super) fn haproxy(place: &Place) -> Result<Parts, Error> {
    let list = place.list()?;
    let [(_, tls), (_, http)] = PORTS;
    let configuration = format!(
        "global\n maxconn 9500\n\
         defaults\n mode tcp\n timeout connect 60s\n timeout client 60s\n timeout server 60s\n\
         frontend tls\n bind :{tls} backlog 20000\n tcp-request inspect-delay 5s\n\
         \x20tcp-request content reject if {{ req.ssl_sni,lower -m str -f {list} }}\n\
         \x20tcp-request content accept if {{ req.ssl_hello_type 1 }}\n default_backend tls\n\
         backend tls\n server origin {SERVER}:443\n\
         frontend http\n mode http\n bind :{http} backlog 20000\n\
         \x20http-request reject if {{ req.hdr(host),host_only,lower -m str -f {list} }}\n default_backend http\n\
         backend http\n mode http\n server origin {SERVER}:80\n"
    );
    let file = place.write("haproxy.cfg", &configuration)?;
    run(place, &["haproxy", "-db", "-f", &file])
}

/// Starts Squid, which peeks at the ClientHello and then splices, or ends the connection.
pub(super) fn squid(place: &Place) -> Result<Parts, Error> {
    // A name with a dot before it covers those below it.
    let names: String = place
        .names
        .iter()
        .map(|name| format!(".{name}\n"))
        .collect();
    let list = place.write("names.squid", &names)?;
    let folder = place.folder.display().to_string();
    let certificate = format!("{folder}/certificate.pem");
    place.output(&[
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=bench",
        "-keyout",
        &certificate,
        "-out",
        &format!("{folder}/public.pem"),
    ])?;
    place.output(&[
        "sh",
        "-c",
        &format!("cat {folder}/public.pem >> {certificate}; chmod -R a+rwX {folder}"),
    ])?;
    let [(_, tls), (_, http)] = PORTS;
    let configuration = format!(
        "http_port 3128\nhttp_port {http} intercept\n\
         https_port {tls} intercept ssl-bump tls-cert={certificate} generate-host-certificates=off\n\
         acl hosts dstdomain \"{list}\"\nacl servers ssl::server_name \"{list}\"\nacl begins at_step SslBump1\n\
         http_access deny hosts\nhttp_access allow all\n\
         ssl_bump peek begins\nssl_bump terminate servers\nssl_bump splice all\n\
         on_unsupported_protocol tunnel all\n\
         dns_nameservers {SERVER}\nhost_verify_strict off\ncache deny all\nmax_filedescriptors 20000\n\
         access_log none\ncache_log {folder}/cache.log\npid_filename {folder}/pid\nvisible_hostname bench\n\
         pinger_enable off\nmemory_pools off\nshutdown_lifetime 0 seconds\n"
    );
    let file = place.write("squid.conf", &configuration)?;
    run(place, &["squid", "-N", "-f", &file])
}
