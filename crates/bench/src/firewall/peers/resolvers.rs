//! Resolvers behind a redirection of DNS over UDP. They ask the server about other names, and keep no answers.

use super::place::{Parts, Place};
use crate::error::Error;
use crate::firewall::messages::Kind;
use crate::firewall::network::SERVER;
use std::fs;

const PORT: u16 = 5300;

/// Starts dnsmasq, which looks names up by their suffixes.
pub(super) fn dnsmasq(place: &Place) -> Result<Parts, Error> {
    let names: String = place
        .names
        .iter()
        .map(|name| format!("address=/{name}/\n"))
        .collect();
    let configuration = format!(
        "port={PORT}\nno-resolv\nno-hosts\nserver={SERVER}\ncache-size=0\nuser=root\nno-daemon\n{names}"
    );
    let file = place.write("dnsmasq.conf", &configuration)?;
    run(place, &["dnsmasq", &format!("--conf-file={file}")])
}

/// Starts Unbound, with a local zone for each name.
pub(super) fn unbound(place: &Place) -> Result<Parts, Error> {
    let names: String = place
        .names
        .iter()
        .map(|name| format!(" local-zone: \"{name}\" always_nxdomain\n"))
        .collect();
    let configuration = format!(
        "server:\n interface: 0.0.0.0\n port: {PORT}\n access-control: 0.0.0.0/0 allow\n username: \"\"\n chroot: \"\"\n directory: \"{0}\"\n \
         pidfile: \"{0}/pid\"\n use-syslog: no\n module-config: \"iterator\"\n cache-max-ttl: 0\n cache-max-negative-ttl: 0\n num-threads: 1\n{names}\
         remote-control:\n control-enable: no\nforward-zone:\n name: \".\"\n forward-addr: {SERVER}\n",
        place.folder.display()
    );
    let file = place.write("unbound.conf", &configuration)?;
    run(place, &["unbound", "-d", "-c", &file])
}

/// Starts dnsdist, with a rule for a set of suffixes.
pub(super) fn dnsdist(place: &Place) -> Result<Parts, Error> {
    let list = place.list()?;
    let configuration = format!(
        "setLocal('0.0.0.0:{PORT}')\nsetACL({{'0.0.0.0/0'}})\nnewServer({{address='{SERVER}'}})\ngetServer(0):setUp()\n\
         local names = newSuffixMatchNode()\nfor name in io.lines('{list}') do names:add(newDNSName(name)) end\n\
         addAction(SuffixMatchNodeRule(names), RCodeAction(DNSRCode.NXDOMAIN))\n"
    );
    let file = place.write("dnsdist.conf", &configuration)?;
    run(
        place,
        &["dnsdist", "--supervised", "--disable-syslog", "-C", &file],
    )
}

fn run(place: &Place, words: &[&str]) -> Result<Parts, Error> {
    place.redirect("udp", Kind::Dns.port(), PORT)?;
    let mut process = place.start(words)?;
    process.wait(|_| is_bound(place))?;
    Ok(Parts {
        process: Some(process),
        ..Parts::default()
    })
}

/// Returns true once there is a socket at the port.
fn is_bound(place: &Place) -> bool {
    let read = || fs::read_to_string("/proc/thread-self/net/udp");
    let list = place.network.router.run(read).unwrap_or_default();
    list.contains(&format!(":{PORT:04X} "))
}
