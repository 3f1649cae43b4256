//! Test cases: the programs, each with its position in a network and its entries.

use super::carried;

/// A chain of routers between a client and a server.
pub(super) struct Case {
    pub routers: &'static [Router],
    /// True if the hosts have each other's link addresses, not a router's.
    pub switched: bool,
    pub tags: &'static [Tag],
    /// Address that the client connects to. `listener` is the server's own, which may be the same.
    pub service: &'static str,
    pub listener: &'static str,
    /// True if hosts send packets of one segment, as the kernel cannot segment packets with the headers that the
    /// programs add.
    pub one_segment: bool,
    pub hooks: &'static [&'static str],
}

pub(super) struct Router {
    /// Path of a P4 program or a bundle, from the repository's root.
    pub program: &'static str,
    /// Path of a file of entries, from the repository's root; empty if there are none.
    pub entries: &'static str,
    pub stands: Stands,
    /// Kinds of warnings without `--adjust`.
    at_xdp: &'static [&'static str],
    at_tc: &'static [&'static str],
}

impl Router {
    /// Returns the kinds of warnings that are expected at a hook.
    pub(super) fn warned(&self, hook: &str) -> &'static [&'static str] {
        match hook {
            "xdp" => self.at_xdp,
            _ => self.at_tc,
        }
    }

    /// Sets the expected warnings at XDP.
    const fn loses(self, kinds: &'static [&'static str]) -> Router {
        Router {
            at_xdp: kinds,
            ..self
        }
    }

    /// Marks a program that adds headers which the kernel cannot segment after.
    const fn unsegmented(self) -> Router {
        Router {
            at_tc: &["segments"],
            ..self
        }
    }
}

/// A program's position in the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stands {
    /// As the only router.
    Alone,
    /// At both ports of an ordinary Linux router, which forwards packets that the program passes.
    AtALinuxRouter,
    /// At the right port only of such a router.
    AtOnePortOfALinuxRouter,
    /// Behind two ports of a Linux router. The program sends packets back to it: those for the server at one port,
    /// and those for the client at the other.
    AtSticks,
}

/// Positions at which packets get or lose the VLAN tag that programs need and hosts do not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tag {
    ClientSends,
    ClientGets,
    /// Packets that come back from the first stick.
    FromStick,
    /// Packets that go to the second one.
    ToStick,
}

/// Losses of a program that changes packets which the network stack forwards.
const CHANGED: &[&str] = &["checksums"];
/// Losses of a program that forwards packets itself.
const FORWARDED: &[&str] = &["checksums", "sent", "vlan_tags"];

const BOTH: &[&str] = &["tc-ingress", "xdp"];
const TC: &[&str] = &["tc-ingress"];

const ROUTED: Case = Case {
    routers: &[],
    switched: false,
    tags: &[],
    service: "10.0.2.2:8080",
    listener: "10.0.2.2:8080",
    one_segment: false,
    hooks: BOTH,
};
const SWITCHED: Case = Case {
    switched: true,
    ..ROUTED
};

const fn alone(program: &'static str, entries: &'static str) -> Router {
    Router {
        program,
        entries,
        stands: Stands::Alone,
        at_xdp: &[],
        at_tc: &[],
    }
    .loses(FORWARDED)
}

const fn at_linux(program: &'static str, entries: &'static str) -> Router {
    Router {
        program,
        entries,
        stands: Stands::AtALinuxRouter,
        at_xdp: &[],
        at_tc: &[],
    }
}

const fn at_sticks(program: &'static str, entries: &'static str) -> Router {
    Router {
        program,
        entries,
        stands: Stands::AtSticks,
        at_xdp: &[],
        at_tc: &[],
    }
    .loses(&["checksums", "vlan_tags"])
}

macro_rules! cases {
    ($($name:ident: $base:ident { $($field:ident: $value:expr),+ $(,)? })*) => {
        pub(super) const ALL: &[Case] = &[$(Case { $($field: $value,)+ ..$base }),*];
        $(
            #[test]
            fn $name() {
                const CASE: &Case = &Case { $($field: $value,)+ ..$base };
                carried::at_all_hooks(stringify!($name), CASE);
            }
        )*
    };
}

cases! {
    block: ROUTED {
        routers: &[at_linux("programs/block/block.p4", "").loses(&["vlan_tags"])],
    }
    firewall: ROUTED {
        routers: &[at_linux("programs/firewall/firewall.p4", "tests/offloads/firewall.txt")],
    }
    firewall_router: ROUTED {
        routers: &[alone("programs/firewall_router/firewall_router.p4", "programs/firewall_router/entries.txt")],
    }
    guard: ROUTED {
        routers: &[Router {
            program: "programs/guard/guard.toml",
            entries: "",
            stands: Stands::AtOnePortOfALinuxRouter,
            at_xdp: &[],
            at_tc: &[],
        }],
        hooks: TC,
    }
    ipv4_counter: ROUTED {
        routers: &[at_linux("programs/ipv4_counter/ipv4_counter.p4", "")],
    }
    l2_switch: SWITCHED {
        routers: &[alone("programs/l2_switch/l2_switch.p4", "tests/offloads/l2_switch.txt")],
    }
    mpls: ROUTED {
        routers: &[
            alone("tests/scale/router.p4", "tests/offloads/mpls.1.txt").unsegmented(),
            alone("programs/mpls/mpls.p4", "tests/offloads/mpls.2.txt").unsegmented(),
            alone("tests/scale/router.p4", "tests/offloads/mpls.3.txt").unsegmented(),
        ],
        one_segment: true,
    }
    nat: ROUTED {
        routers: &[at_linux("programs/nat/nat.p4", "tests/offloads/nat.txt").loses(CHANGED)],
        service: "203.0.113.1:40000",
        listener: "10.0.2.2:1000",
    }
    payload_automaton: ROUTED {
        routers: &[at_linux("programs/payload/automaton.p4", "")],
    }
    payload_byte_by_byte: ROUTED {
        routers: &[at_linux("programs/payload/byte_by_byte.p4", "")],
    }
    payload_direct_jump: ROUTED {
        routers: &[at_linux("programs/payload/direct_jump.p4", "")],
    }
    payload_names: ROUTED {
        routers: &[at_linux("programs/payload/names/names.p4", "")],
        service: "10.0.2.2:80",
        listener: "10.0.2.2:80",
    }
    payload_recirculation: SWITCHED {
        routers: &[alone("programs/payload/recirculation/recirculation.p4", "")],
        hooks: TC,
    }
    payload_skip_ahead: ROUTED {
        routers: &[at_linux("programs/payload/skip_ahead.p4", "")],
    }
    requests: ROUTED {
        routers: &[at_linux("programs/requests/requests.p4", "").loses(&["vlan_tags"])],
    }
    router: ROUTED {
        routers: &[alone("programs/router/router.p4", "programs/router/entries.txt")],
    }
    talkers: ROUTED {
        routers: &[at_linux("programs/talkers/talkers.p4", "")],
    }
    tunnel: ROUTED {
        routers: &[
            alone("programs/tunnel/tunnel.p4", "tests/offloads/tunnel.1.txt"),
            alone("programs/tunnel/tunnel.p4", "tests/offloads/tunnel.2.txt"),
        ],
    }
    url_firewall: ROUTED {
        routers: &[at_linux("programs/url_firewall/url_firewall.p4", "").loses(&["vlan_tags"])],
        service: "10.0.2.2:80",
        listener: "10.0.2.2:80",
    }
    vlan_stack: ROUTED {
        routers: &[at_sticks("programs/vlan_stack/vlan_stack.p4", "programs/vlan_stack/entries.txt")],
        tags: &[Tag::FromStick, Tag::ToStick],
    }
    xdp1: ROUTED {
        routers: &[at_linux("programs/xdp1/xdp1.p4", "")],
    }
    xdp3: ROUTED {
        routers: &[at_linux("programs/xdp3/xdp3.p4", "tests/offloads/xdp3.txt")],
    }
    xdp6: ROUTED {
        routers: &[at_linux("programs/xdp6/xdp6.p4", "tests/offloads/xdp6.txt")],
    }
    xdp7: ROUTED {
        routers: &[
            at_linux("programs/xdp7/xdp7.p4", "tests/offloads/xdp7.txt").loses(CHANGED),
            at_linux("programs/nat/nat.p4", "tests/offloads/xdp7.nat.txt").loses(CHANGED),
        ],
        service: "10.0.0.2:80",
    }
    xdp11: ROUTED {
        routers: &[at_sticks("programs/xdp11/xdp11.p4", "")],
    }
    v1model_bloom_firewall: SWITCHED {
        routers: &[alone(
            "programs/v1model/bloom_firewall/bloom_firewall.p4",
            "programs/v1model/bloom_firewall/entries.txt",
        )],
    }
    v1model_learning_switch: SWITCHED {
        routers: &[alone(
            "programs/v1model/learning_switch/learning_switch.p4",
            "tests/offloads/learning_switch.txt",
        )],
        hooks: TC,
    }
    v1model_marking: SWITCHED {
        routers: &[
            alone("programs/v1model/marking/marking.p4", "tests/offloads/marking.1.txt"),
            alone("programs/v1model/marking/marking.p4", "tests/offloads/marking.2.txt"),
        ],
        one_segment: true,
    }
    v1model_router: ROUTED {
        routers: &[alone("programs/v1model/router/router.p4", "programs/v1model/router/entries.txt")],
    }
    scale_campus: SWITCHED {
        routers: &[
            alone("tests/scale/campus.p4", "tests/offloads/campus.1.txt").unsegmented(),
            alone("tests/scale/campus.p4", "tests/offloads/campus.2.txt").unsegmented(),
        ],
        hooks: TC,
    }
    scale_cgnat: ROUTED {
        routers: &[alone("tests/scale/cgnat.p4", "tests/offloads/cgnat.txt")],
    }
    scale_classifier: ROUTED {
        routers: &[at_linux("tests/scale/classifier.p4", "tests/offloads/classifier.txt").loses(&["checksums", "vlan_tags"])],
    }
    scale_fabric: SWITCHED {
        routers: &[
            alone("tests/scale/fabric.p4", "tests/offloads/fabric.1.txt"),
            alone("tests/scale/fabric.p4", "tests/offloads/fabric.2.txt"),
        ],
    }
    scale_gtp_user_plane: ROUTED {
        routers: &[
            alone("tests/scale/gtp_user_plane.p4", "tests/offloads/gtp_user_plane.1.txt").unsegmented(),
            alone("tests/scale/gtp_user_plane.p4", "tests/offloads/gtp_user_plane.2.txt").unsegmented(),
        ],
        one_segment: true,
    }
    scale_load_balancer: ROUTED {
        routers: &[
            at_linux("tests/scale/load_balancer.p4", "tests/offloads/load_balancer.1.txt").loses(FORWARDED),
            at_linux("tests/scale/srv6.p4", "tests/offloads/load_balancer.2.txt").loses(FORWARDED).unsegmented(),
        ],
        service: "192.0.2.80:80",
        listener: "192.0.2.80:80",
    }
    scale_router: ROUTED {
        routers: &[alone("tests/scale/router.p4", "tests/offloads/router.txt").unsegmented()],
        tags: &[Tag::ClientSends, Tag::ClientGets],
    }
    scale_srv6: ROUTED {
        routers: &[
            alone("tests/scale/srv6.p4", "tests/offloads/srv6.1.txt").unsegmented(),
            alone("tests/scale/srv6.p4", "tests/offloads/srv6.2.txt").unsegmented(),
            alone("tests/scale/srv6.p4", "tests/offloads/srv6.3.txt").unsegmented(),
        ],
        one_segment: true,
    }
    scale_tcp_options: ROUTED {
        routers: &[at_linux("tests/scale/tcp_options.p4", "tests/offloads/tcp_options.txt").loses(CHANGED)],
    }
    scale_telemetry: ROUTED {
        routers: &[at_linux("tests/scale/telemetry.p4", "tests/offloads/telemetry.txt")],
        hooks: TC,
    }
    scale_vxlan_gateway: SWITCHED {
        routers: &[
            alone("tests/scale/vxlan_gateway.p4", "tests/offloads/vxlan_gateway.1.txt"),
            alone("tests/scale/vxlan_gateway.p4", "tests/offloads/vxlan_gateway.2.txt"),
        ],
    }
}
