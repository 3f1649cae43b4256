//! The reference interpreter: what a program means, packet by packet.
