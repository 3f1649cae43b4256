//! Program of DeeP4R for `v1model`, with the settings and entries of an automaton.

use crate::automaton::{Automaton, Form, Reset, SliceBytes};
use crate::errors;
use diag::Diagnostic;
use std::fmt::Write;

/// Text of the program. It is the same for all automata.
pub const PROGRAM: &str = include_str!("../../../programs/deep4r/deep4r.p4");
/// Name of the program's file.
pub const PROGRAM_FILE: &str = "deep4r.p4";

/// Greatest number of slices that a clone may lose in a pass. Their headers are kept on the stack, which has no room
/// for more.
pub const MOST_LOOK_UPS: u32 = 32;
/// Greatest number of ids.
const MOST_IDS: u32 = 1 << 20;
/// Passes of a clone in the kernel in which it may lose slices: of 32 rounds, one clones it, and one ends it.
const KERNEL_PASSES: usize = 30;

/// Settings of the program besides those of the automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Number of slices that a clone may lose in a pass.
    pub look_ups: u32,
    /// Number of ids.
    pub ids: u32,
    /// True if a packet gets an id that no other packet has; false for the next number, as published.
    pub are_ids_free: bool,
}

impl Settings {
    /// Refuses numbers that the program cannot have.
    pub fn check(&self) -> Result<(), Box<Diagnostic>> {
        if !(1..=MOST_LOOK_UPS).contains(&self.look_ups) {
            return Err(errors::look_ups(self.look_ups, MOST_LOOK_UPS));
        }
        if !self.ids.is_power_of_two() || self.ids > MOST_IDS {
            return Err(errors::ids(self.ids, MOST_IDS));
        }
        Ok(())
    }

    /// Returns the longest payload that the kernel searches to its end in any case, in bytes. It drops longer ones.
    pub fn longest_payload(&self, slice: SliceBytes, reset: Reset) -> usize {
        let look_ups = KERNEL_PASSES * self.look_ups as usize;
        // With links, a slice may be looked up again for each byte by which a match becomes shorter. A match becomes
        // longer by a slice at the most.
        let of_slice = match reset {
            Reset::Start => 1,
            Reset::Links => 1 + slice.count(),
        };
        look_ups / of_slice * slice.count()
    }
}

/// Returns the text that sets the program up and includes it.
pub fn settings(automaton: &Automaton, settings: Settings) -> String {
    let mut text = String::from(
        "// Made by onpath firewall --emit v1model: the settings of deep4r.p4 for a list.\n\n",
    );
    let mut define = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "#define {name}{value}");
    };
    let mut number = |name: &str, value: usize| define(name, &format!(" {value}"));
    number("SLICE_BYTES", automaton.slice.count());
    number("LOOK_UPS", settings.look_ups as usize);
    number("ENTRIES", automaton.entries.len().max(1));
    if automaton.reset == Reset::Links {
        number("LINKS", automaton.links.len().max(1));
    }
    number("IDS", settings.ids as usize);
    if settings.are_ids_free {
        define("FREE_IDS", "");
    }
    let _ = writeln!(text, "#include \"{PROGRAM_FILE}\"");
    text
}

/// Returns the entries file: the clone session of all clones, and the automaton's tables.
pub fn entries(automaton: &Automaton) -> String {
    let slice = automaton.slice;
    let digits = 2 * slice.count();
    let mut text = String::from("clone_session 1 0\n");
    for entry in &automaton.entries {
        let (value, mask) = entry.slice(slice);
        let decides = u32::from(entry.decides);
        // Writing to a string does not fail.
        let _ = match slice {
            SliceBytes::One => write!(
                text,
                "add dfa state:{} slice:{value:#04x}",
                entry.state.unwrap_or(entry.form.start())
            ),
            _ => {
                let (state, state_mask) = match entry.state {
                    Some(state) => (state, u32::MAX),
                    None => (entry.form.start(), Form::MASK),
                };
                write!(
                    text,
                    "add dfa {} state:{state}&&&{state_mask:#x} slice:0x{value:0digits$x}&&&0x{mask:0digits$x}",
                    entry.priority(slice)
                )
            }
        };
        let _ = writeln!(text, " update_state(next:{}, decide:{decides})", entry.next);
    }
    for (from, to) in &automaton.links {
        let _ = writeln!(text, "add links state:{from} fall_back(next:{to})");
    }
    text
}

/// Returns the number of bits of a state, of all forms.
pub fn state_bits(automaton: &Automaton) -> u32 {
    let most = automaton.states.iter().map(|(_, count)| *count).max();
    let of_one = usize::BITS - most.unwrap_or_default().saturating_sub(1).leading_zeros();
    of_one.max(1) + u32::from(automaton.states.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings = Settings {
        look_ups: 1,
        ids: 1024,
        are_ids_free: false,
    };

    fn automaton(slice: SliceBytes, reset: Reset) -> Automaton {
        Automaton::new(["ab"].into_iter(), &Form::ALL, slice, reset)
    }

    #[test]
    fn entries_are_lines_of_an_entries_file() {
        let one = automaton(SliceBytes::One, Reset::Start);
        let expected = "clone_session 1 0\n\
             add dfa state:0 slice:0x61 update_state(next:1, decide:0)\n\
             add dfa state:1 slice:0x62 update_state(next:2, decide:1)\n\
             add dfa state:2147483648 slice:0x02 update_state(next:2147483649, decide:0)\n\
             add dfa state:2147483649 slice:0x61 update_state(next:2147483650, decide:0)\n\
             add dfa state:2147483650 slice:0x62 update_state(next:2147483651, decide:1)\n";
        assert_eq!(entries(&one), expected);
        let two = entries(&automaton(SliceBytes::Two, Reset::Start));
        for line in [
            "add dfa 2 state:0&&&0xffffffff slice:0x6162&&&0xffff update_state(next:2, decide:1)\n",
            "add dfa 1 state:0&&&0x80000000 slice:0x0061&&&0x00ff update_state(next:1, decide:0)\n",
            "add dfa 2 state:1&&&0xffffffff slice:0x6200&&&0xff00 update_state(next:2, decide:1)\n",
        ] {
            assert!(two.contains(line), "{two}");
        }
    }

    #[test]
    fn settings_are_macros_before_the_program() {
        let links = automaton(SliceBytes::One, Reset::Links);
        let free = Settings {
            are_ids_free: true,
            ..SETTINGS
        };
        let text = settings(&links, free);
        for line in [
            "#define SLICE_BYTES 1\n",
            "#define LINKS 1\n",
            "#define FREE_IDS\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(text.ends_with("#include \"deep4r.p4\"\n"));
        assert!(!settings(&automaton(SliceBytes::One, Reset::Start), SETTINGS).contains("LINKS"));
    }

    #[test]
    fn wrong_numbers_are_refused() {
        let with = |look_ups, ids| {
            Settings {
                look_ups,
                ids,
                ..SETTINGS
            }
            .check()
            .is_ok()
        };
        assert!(with(1, 1) && with(MOST_LOOK_UPS, MOST_IDS));
        assert!(!with(0, 2) && !with(33, 2) && !with(1, 0) && !with(1, 3) && !with(1, 1 << 21));
    }

    #[test]
    fn links_take_more_look_ups_for_a_slice() {
        let longest = |look_ups, slice, reset| {
            let settings = Settings {
                look_ups,
                ..SETTINGS
            };
            settings.longest_payload(slice, reset)
        };
        assert_eq!(longest(1, SliceBytes::One, Reset::Start), 30);
        assert_eq!(longest(13, SliceBytes::Four, Reset::Start), 1560);
        assert_eq!(longest(1, SliceBytes::One, Reset::Links), 15);
        assert_eq!(longest(32, SliceBytes::Four, Reset::Links), 768);
    }

    #[test]
    fn states_have_as_many_bits_as_they_need() {
        assert_eq!(state_bits(&automaton(SliceBytes::One, Reset::Start)), 3);
        let text = Automaton::new(
            ["ab"].into_iter(),
            &[Form::Text],
            SliceBytes::One,
            Reset::Start,
        );
        assert_eq!(state_bits(&text), 2);
    }
}
