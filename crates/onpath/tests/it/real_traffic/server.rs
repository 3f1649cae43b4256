//! nginx in a namespace, and its log.

use lab::{Space, Task};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Format of the log's line for each request, with its fields separated by vertical bars.
const FORM: &str = "$request_method|$http_host|$status|$request_uri|$ssl_server_name|$connection";

/// A running server; dropping it kills it.
pub(super) struct Server {
    _task: Task,
    folder: tempfile::TempDir,
}

/// A request that the server answered.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Logged {
    pub(super) method: String,
    pub(super) host: String,
    pub(super) status: u64,
    /// Path without the query after a question mark.
    pub(super) path: String,
    pub(super) server_name: String,
    /// The number of its connection.
    pub(super) connection: String,
}

impl Server {
    /// Starts it at ports 80 and 443 of the namespace.
    pub(super) fn start(space: &Space) -> Server {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        let at = |name: &str| path.join(name).display().to_string();
        let key = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "1",
            "-subj",
            "/CN=onpath",
            "-keyout",
            &at("key"),
            "-out",
            &at("certificate"),
        ];
        space.output(&key).expect("a certificate by openssl");
        fs::write(at("conf"), configuration(path)).expect("nginx's configuration");
        let words = [
            "nginx",
            "-p",
            &at(""),
            "-e",
            &at("errors"),
            "-c",
            &at("conf"),
        ];
        let task = space.start(&words);
        let task = task.expect("this test needs nginx: `make setup` installs it");
        let until = Instant::now() + Duration::from_secs(20);
        while !path.join("pid").exists() {
            let reported = || fs::read_to_string(at("errors")).unwrap_or_default();
            assert!(
                Instant::now() < until,
                "nginx does not start: {}",
                reported()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        Server {
            _task: task,
            folder,
        }
    }

    /// Waits until all requests that were made at a port are logged, and returns them.
    pub(super) fn log(&self, port: u16, made: usize) -> Vec<Logged> {
        let file = self.folder.path().join(format!("log-{port}"));
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let text = fs::read_to_string(&file).expect("nginx's log");
            let lines = text.lines().count();
            if lines >= made && text.ends_with('\n') {
                assert_eq!(lines, made, "requests in nginx's log for port {port}");
                return text.lines().map(logged).collect();
            }
            assert!(
                Instant::now() < until,
                "{lines} of {made} requests in nginx's log"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Counts the values that `of` takes from the lines of a log.
pub(super) fn counted<T: Eq + std::hash::Hash>(
    log: &[Logged],
    of: impl Fn(&Logged) -> T,
) -> HashMap<T, u64> {
    let mut counts = HashMap::new();
    for line in log {
        *counts.entry(of(line)).or_default() += 1;
    }
    counts
}

fn logged(line: &str) -> Logged {
    let parts: Vec<&str> = line.split('|').collect();
    let [method, host, status, target, server_name, connection] = parts[..] else {
        panic!("nginx's log has {line:?}");
    };
    Logged {
        method: method.into(),
        host: host.into(),
        status: status.parse().expect("a status"),
        path: target.split('?').next().unwrap_or_default().into(),
        server_name: server_name.into(),
        connection: connection.into(),
    }
}

fn configuration(folder: &Path) -> String {
    let at = folder.display();
    let answers = "
        location / { return 200 \"here it is\\n\"; }
        location /moved { return 301 /; }
        location /none { return 204; }
        location /gone { return 404 \"no\\n\"; }
        location /broken { return 503 \"later\\n\"; }";
    format!(
        "daemon off; master_process off; worker_processes 1; pid {at}/pid; error_log {at}/errors;
events {{ worker_connections 256; }}
http {{
    log_format parts '{FORM}';
    keepalive_requests 100000; keepalive_timeout 60s; server_tokens off;
    client_body_temp_path {at}/b; proxy_temp_path {at}/p; fastcgi_temp_path {at}/f; uwsgi_temp_path {at}/u; scgi_temp_path {at}/s;
    server {{ listen [::]:80; access_log {at}/log-80 parts;{answers} }}
    server {{ listen [::]:443 ssl; access_log {at}/log-443 parts; ssl_certificate {at}/certificate; ssl_certificate_key {at}/key;{answers} }}
}}
"
    )
}
