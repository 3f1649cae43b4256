//! Servers for all names, and what they saw.

use super::clients;
use super::net::Net;
use lab::Task;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of the content.
const LENGTH: usize = 200_000;

/// Running servers; dropping them ends them.
pub(super) struct Servers {
    _tasks: Vec<Task>,
    folder: PathBuf,
    /// Content that they have for all names: digits in one line.
    pub content: String,
}

impl Servers {
    /// Starts HTTP, HTTPS and DNS.
    pub(super) fn start(net: &Net, folder: &Path) -> Servers {
        let mut random = ChaCha8Rng::seed_from_u64(12);
        let digit = |_| char::from(random.random_range(b'0'..=b'9'));
        let content: String = (0..LENGTH).map(digit).collect();
        std::fs::write(folder.join("content"), &content).expect("written");
        certificate(folder);
        let mut servers = Servers {
            _tasks: Vec::new(),
            folder: folder.to_path_buf(),
            content,
        };
        servers.run(net, &["python3", &clients::own("server.py")]);
        servers
    }

    /// Starts HTTP/3 too.
    pub(super) fn with_quic(net: &Net, folder: &Path) -> Servers {
        let mut servers = Servers::start(net, folder);
        servers.run(net, &[&clients::installed("clients"), "serve"]);
        servers
    }

    fn run(&mut self, net: &Net, words: &[&str]) {
        let files = ["content", "both.pem", "seen"].map(|name| self.folder.join(name));
        let files = files.each_ref().map(|file| file.to_string_lossy());
        let words = words.iter().copied();
        let words: Vec<&str> = words.chain(files.iter().map(|file| &**file)).collect();
        let mut task = net.server.start(&words).expect("a server");
        task.wait_for("ready").expect("the server starts");
        self._tasks.push(task);
    }

    /// Returns the names that they saw so far, each with the protocol.
    pub(super) fn seen(&self) -> BTreeSet<String> {
        let text = std::fs::read_to_string(self.folder.join("seen")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Forgets what they saw.
    pub(super) fn forget(&self) {
        std::fs::write(self.folder.join("seen"), "").expect("written");
    }
}

/// Makes `both.pem`, a key with a certificate of its own.
fn certificate(folder: &Path) {
    let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=example \
        -keyout key.pem -out own.pem && cat key.pem own.pem > both.pem";
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "a certificate by openssl");
}
