//! Ports that running programs get, by commands in a namespace where they can be used.

use crate::bundles::{BpfFs, members};
use crate::hand_written_tc::{FLOWS, object};
use kernel::attachment::TcMethod;
use kernel::bundle;
use kernel::pins::{Pins, PortUse};
use kernel::port::Port;
use net::netns::{self, NetNs};
use net::{interface, veth};
use std::process::Command;

/// Interface `one` of this namespace, as port 3.
fn port() -> Port {
    Port {
        number: 3,
        name: "one".into(),
        index: interface::index("one").expect("there"),
    }
}

/// Returns the ports of the first program, and the number of entries that its maps have for them.
fn ports(pins: &Pins) -> (Vec<u32>, usize) {
    let (record, store) = pins.open("both", Some("in")).expect("opens");
    let mut known = 0;
    for map in ["inputs", "outputs"] {
        let map = store.memory.maps.get(map).expect("opens").expect("there");
        map.each(|_, _| known += 1).expect("reads");
    }
    (record.ports().map(|(port, ..)| port).collect(), known)
}

#[test]
fn a_port_is_an_interface_of_the_namespace_of_the_others() {
    let fs = BpfFs::new("namespaces");
    let [here, there] = [(); 2].map(|()| NetNs::new().expect("this test needs root"));
    let pair = || veth::make_pairs(&[("one".into(), "two".into())]);
    there.run(pair).expect("a pair of devices");
    let start = || {
        veth::make_pairs(&[("zero".into(), "other".into())])?;
        pair()?;
        let mut members = members(&object(false, FLOWS));
        for member in &mut members {
            member.ports[0].name = "zero".into();
            member.ports[0].index = interface::index("zero").expect("there");
        }
        bundle::connect(&members).expect("connects");
        let begun = fs.pins.begin("both").expect("free");
        let attached = bundle::attach(&members, TcMethod::Best).expect("attaches");
        begun.commit(&members, attached).expect("pins");
        Command::new("sleep").arg("60").spawn()
    };
    let mut inside = here.run(start).expect("runs");
    let before = ports(&fs.pins);
    assert_eq!(before, (vec![0], 2));
    let add = |usage| fs.pins.add_port("both", Some("in"), &port(), usage);
    for usage in [PortUse::Reached, PortUse::Attached] {
        let refused = there.run(|| Ok(add(usage).expect_err("its index means another one")));
        let refused = refused.expect("runs");
        assert_eq!(refused.code.0, "E0778");
        let number = here.number().expect("it has one").to_string();
        assert!(refused.message.contains(&number), "{}", refused.message);
        let help = format!("`onpath --netns /proc/{}/ns/net ", inside.id());
        let found = refused.help.unwrap_or_default();
        assert!(found.contains(&help), "{help}: {found}");
        assert_eq!(ports(&fs.pins), before, "nothing is changed");
    }
    for usage in [PortUse::Reached, PortUse::Attached] {
        let added = here.run(|| Ok(add(usage))).expect("runs");
        added.expect("it is where the others are");
        assert_eq!(ports(&fs.pins), (vec![0, 3], 4));
        // The namespace does not matter to a port that is known.
        assert_ne!(
            netns::current().expect("here"),
            here.number().expect("there")
        );
        let removed = fs.pins.remove_port("both", Some("in"), 3);
        removed.expect("it is in no group");
        assert_eq!(ports(&fs.pins), before);
    }
    inside.kill().expect("it runs");
    inside.wait().expect("it ends");
}
