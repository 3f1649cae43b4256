//! `onpath firewall` at both interfaces of a router.

use super::net::Net;
use lab::{Space, Task};
use serde_json::Value;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// A firewall that runs, pinned, in a BPF file system of its own. Dropping it ends it.
pub(super) struct Firewall<'n> {
    router: &'n Space,
    holder: Task,
    list: PathBuf,
}

impl<'n> Firewall<'n> {
    /// Starts one with a list's lines and some flags.
    pub(super) fn start(net: &'n Net, folder: &Path, lines: &str, flags: &[&str]) -> Firewall<'n> {
        let script = "mount -t bpf bpf /sys/fs/bpf && echo ready && exec sleep infinity";
        let words = ["unshare", "--mount", "--kill-child", "sh", "-c", script];
        let mut holder = net.router.start(&words).expect("a namespace");
        holder.wait_for("ready").expect("a BPF file system");
        let firewall = Firewall {
            router: &net.router,
            holder,
            list: folder.join("list.txt"),
        };
        firewall.write(lines);
        let list = firewall.list.to_string_lossy();
        let mut words = vec!["firewall", "--dev", "inside,outside", "--block", &list];
        words.extend(["--strict", "--detach"]);
        words.extend(flags);
        firewall.onpath(&words).expect("the firewall starts");
        firewall
    }

    /// Replaces the list at once, as the firewall's page recommends.
    pub(super) fn write(&self, lines: &str) {
        let new = self.list.with_extension("new");
        std::fs::write(&new, lines).expect("written");
        std::fs::rename(new, &self.list).expect("renamed");
    }

    /// Makes it read its list again.
    pub(super) fn reload(&self) -> io::Result<String> {
        self.onpath(&["firewall", "reload", "--strict"])
    }

    /// Returns the numbers of blocked requests by message.
    pub(super) fn blocked(&self) -> HashMap<String, u64> {
        let counts = self.onpath(&["firewall", "stats", "--json"]);
        let counts: Value = serde_json::from_str(&counts.expect("counts")).expect("JSON");
        let messages = counts["messages"].as_array().expect("messages").iter();
        let blocked = |of: &Value| {
            let message = of["message"].as_str().expect("a name").to_owned();
            (message, of["blocked"].as_u64().expect("a number"))
        };
        messages.map(blocked).collect()
    }

    /// Runs a command, and returns what it prints.
    pub(super) fn onpath(&self, words: &[&str]) -> io::Result<String> {
        let id = self.holder.id().to_string();
        let mut all = vec!["nsenter", "--target", &id, "--mount"];
        all.push(env!("CARGO_BIN_EXE_onpath"));
        all.extend(words);
        let output = self.router.output(&all)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Firewall<'_> {
    fn drop(&mut self) {
        // It has not started if the test failed so.
        let _ = self.onpath(&["unload", "--all"]);
    }
}
