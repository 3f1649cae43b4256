//! Clients, and what becomes of their requests.

use super::net::{Net, SERVER_V4, SERVER_V6};
use std::path::Path;
use std::process::{Command, Output};

/// Program that asks for a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Client {
    /// curl, over HTTP and IPv4.
    CurlHttp,
    /// curl, over HTTPS and IPv6.
    CurlHttps,
    /// `openssl s_client`, over IPv4.
    Openssl,
    /// dig, over UDP and IPv6, for an address.
    DigUdp,
    /// dig, over TCP and IPv4, for a long text.
    DigTcp,
    /// Go's TLS over IPv4, with a ClientHello that is longer than a segment.
    GoTls,
    /// aioquic, over HTTP/3 and IPv4.
    Aioquic,
    /// quic-go, over HTTP/3 and IPv6.
    QuicGo,
    /// Chromium without a window, over HTTP/3 alone and IPv4.
    ChromiumQuic,
    /// Chromium without a window, over TLS and IPv4.
    ChromiumTls,
}

use Client::*;

/// Clients that `scripts/setup` installs.
pub(super) const COMMON: &[Client] = &[CurlHttp, CurlHttps, Openssl, DigUdp, DigTcp];

/// The rest, which `scripts/setup-clients` installs.
pub(super) const INSTALLED: &[Client] = &[GoTls, Aioquic, QuicGo, ChromiumQuic, ChromiumTls];

/// Fate of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// The content came, and all of it.
    Whole,
    /// No answer came in time.
    TimedOut,
    /// The connection was reset.
    Reset,
    /// The name does not exist.
    NoName,
    /// All else, as the client tells it.
    Other(String),
}

impl Client {
    /// Returns the message in which it tells the name, as the firewall's counts call it.
    pub(super) fn message(self) -> &'static str {
        match self {
            DigUdp | DigTcp => "dns",
            CurlHttp => "http",
            CurlHttps | Openssl | GoTls | ChromiumTls => "tls",
            Aioquic | QuicGo | ChromiumQuic => "quic",
        }
    }

    /// Returns the seconds for which it waits for an answer that does not come. Some programs need a few until they
    /// ask.
    pub(super) fn in_vain(self) -> u32 {
        match self {
            Aioquic | ChromiumQuic | ChromiumTls => 15,
            _ => 3,
        }
    }

    /// Asks for a name and waits for some seconds. `folder` has the server's certificate.
    pub(super) fn ask(
        self,
        net: &Net,
        folder: &Path,
        name: &str,
        content: &str,
        seconds: u32,
    ) -> Fate {
        let words = self.words(folder, name, &seconds.to_string());
        let (program, arguments) = words.split_first().expect("a program");
        let run = || Command::new(program).args(arguments).output();
        let output = net.client.run(run);
        let output = output
            .unwrap_or_else(|why| panic!("{program}: {why}: `make test-clients` installs clients"));
        self.fate(&output, content)
    }

    fn words(self, folder: &Path, name: &str, seconds: &str) -> Vec<String> {
        let curl = |scheme: &str, port: u16, address: &str| {
            let (to, url) = (
                format!("{name}:{port}:{address}"),
                format!("{scheme}://{name}/whole"),
            );
            words(&[
                "curl",
                "-sSk",
                "-m",
                seconds,
                "--noproxy",
                "*",
                "--resolve",
                &to,
                &url,
            ])
        };
        let dig = |address: &str, more: [&str; 2]| {
            let (at, time) = (format!("@{address}"), format!("+time={seconds}"));
            let fixed = ["+tries=1", "+noedns", "+noall", "+comments", "+answer"];
            let mut all = words(&["dig", &at, name, &time]);
            all.extend(words(&fixed).into_iter().chain(words(&more)));
            all
        };
        match self {
            CurlHttp => curl("http", 80, SERVER_V4),
            CurlHttps => curl("https", 443, &format!("[{SERVER_V6}]")),
            Openssl => {
                let ask = format!(
                    "printf 'GET /whole HTTP/1.1\\r\\nHost: {name}\\r\\nConnection: close\\r\\n\\r\\n' | timeout {seconds} \
                     openssl s_client -connect {SERVER_V4}:443 -servername {name} -quiet -ign_eof"
                );
                words(&["sh", "-c", &ask])
            }
            DigUdp => dig(SERVER_V6, ["+notcp", "AAAA"]),
            DigTcp => dig(SERVER_V4, ["+tcp", "TXT"]),
            GoTls => words(&[&installed("clients"), "tls", SERVER_V4, name, seconds]),
            QuicGo => words(&[&installed("clients"), "h3", SERVER_V6, name, seconds]),
            Aioquic => {
                let script = own("aioquic_get.py");
                words(&[
                    &installed("python/bin/python"),
                    &script,
                    SERVER_V4,
                    name,
                    seconds,
                ])
            }
            ChromiumQuic => {
                let quic = format!("--origin-to-force-quic-on={name}:443");
                chromium(folder, name, seconds, &quic)
            }
            ChromiumTls => chromium(folder, name, seconds, "--disable-quic"),
        }
    }

    fn fate(self, output: &Output, content: &str) -> Fate {
        let [out, error] =
            [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
        let code = output.status.code();
        let is_whole = match self {
            CurlHttp | CurlHttps | GoTls | Aioquic | QuicGo => out == content,
            Openssl => out
                .split_once("\r\n\r\n")
                .is_some_and(|(_, body)| body == content),
            DigUdp => out.contains(&format!("AAAA\t{SERVER_V6}")),
            DigTcp => {
                let digits = out.split('"').skip(1).step_by(2).collect::<String>();
                !digits.is_empty() && digits == content[..digits.len()] && digits.len() == 50_000
            }
            ChromiumQuic | ChromiumTls => out.contains(content),
        };
        // curl and Go's clients end with 28 and 56, and `timeout` with 124. Chromium names the
        // reason; QUIC that nobody answers is an error of the protocol for it.
        let all = format!("{out}{error}");
        let tells = |texts: &[&str]| texts.iter().any(|text| all.contains(text));
        if is_whole {
            Fate::Whole
        } else if tells(&["status: NXDOMAIN"]) {
            Fate::NoName
        } else if code == Some(56)
            || tells(&[
                "reset by peer",
                "errno=104",
                "connection reset",
                "ERR_CONNECTION_RESET",
            ])
        {
            Fate::Reset
        } else if matches!(code, Some(28 | 124)) || tells(&["timed out", "ERR_QUIC_PROTOCOL_ERROR"])
        {
            Fate::TimedOut
        } else {
            let beginning: String = all.chars().take(2000).collect();
            Fate::Other(format!("{code:?} {beginning}"))
        }
    }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|&word| word.to_owned()).collect()
}

/// Returns Chromium's command. It trusts the server's certificate for the sake of QUIC, which takes no other permission.
fn chromium(folder: &Path, name: &str, seconds: &str, protocol: &str) -> Vec<String> {
    let folder = folder.display();
    let script = format!(
        "key=$(openssl pkey -in {folder}/key.pem -pubout -outform der | openssl dgst -sha256 -binary | base64) \
         && profile=$(mktemp -d -p {folder}) && exec timeout -k 2 {seconds} chromium --headless --no-sandbox --disable-gpu \
         --no-first-run --user-data-dir=$profile --host-resolver-rules='MAP {name} {SERVER_V4}' {protocol} \
         --ignore-certificate-errors-spki-list=$key --dump-dom https://{name}/whole"
    );
    words(&["sh", "-c", &script])
}

/// Returns the path of a program of these tests.
pub(super) fn own(file: &str) -> String {
    let folder = env!("CARGO_MANIFEST_DIR");
    format!("{folder}/tests/it/firewall_clients/{file}")
}

/// Returns the path of a program that `scripts/setup-clients` makes.
pub(super) fn installed(file: &str) -> String {
    let path = testkit::files::root().join("target/clients").join(file);
    assert!(
        path.exists(),
        "{file} is missing: `scripts/setup-clients` makes it"
    );
    path.to_string_lossy().into_owned()
}
