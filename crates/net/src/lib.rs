//! Network interfaces and namespaces, by the kernel's own interfaces: [`netlink`] sends requests, and [`link_events`]
//! receives events.
//!
//! A thread is in a [namespace](netns), in which it finds [interfaces](interface), makes and sets them up ([`link`],
//! [`veth`]). It changes settings that decide which packets programs see ([`link_settings`], [`offloads`]), also at
//! [the other end](peer) of a pair. Packets are captured through a [ring](packet_ring), and sent and received one by
//! one by a [socket](raw_socket).
//!
//! Nothing here knows programs in the kernel. Unsafe code is in the single system calls of [`link_events`],
//! [`offloads`], [`packet_ring`] and [`raw_socket`].

pub mod errors;
pub mod interface;
pub mod link;
pub mod link_events;
pub mod link_settings;
pub mod netlink;
pub mod netns;
pub mod offloads;
pub mod packet_ring;
pub mod peer;
pub mod raw_socket;
pub mod veth;
