//! C names for P4 names: readable, valid, unique.

use crate::target::Reserved;
use smol_str::SmolStr;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The names taken so far.
#[derive(Clone, Debug)]
pub struct Names {
    taken: Taken,
    /// Next suffix for each name that was requested again. Names with lower suffixes are taken.
    numbers: HashMap<SmolStr, u32>,
    target: &'static [Reserved],
}

/// C's keywords, the names of this crate's headers, and the names of the variables and labels that every
/// function may have.
const RESERVED: Reserved = Reserved {
    names: "
        auto break case char const continue default do double else enum extern float for goto if inline int
        long register restrict return short signed sizeof static struct switch typedef union unsigned void
        volatile while asm typeof bool true false new linux unix _Alignas _Alignof _Atomic _Bool _Complex _Generic
        _Imaginary _Noreturn _Static_assert _Thread_local
        NULL INLINE INLINE_DESCRIBED BE16 BE32 BE64 EACH_LIMB u8 u16 u32 u64 s32 s64 any16 any32 any64
        divide modulo shift_left shift_right shift_right_signed sat_add sat_sub sat_limit sat_add_signed
        LE32 LE64 load_le64 group_hash zero_bytes nonzero_bytes bytes_below bytes_from name_escapes first_byte offsets_with
        sat_sub_signed sign_extend low_bits nibble_of crc32_nibble crc16_nibble crc32_of crc16_of csum_of csum_bytes csum_fold csum_replace2 csum_replace4 ebpf_ipv4_checksum
        GATHERED GATHERED_FRONT GATHERED_TURN gathered run_turns
        barrier_var forget_bounds forget_wide_bounds forget_constant paths_meet masked_by zero_after
        high_product limb_at top_limb
        goto_if_short packet_length packet_resize packet_load_bytes packet_store_bytes
        ctx data data_end off cur keep touched whole reject accept
    ",
    prefixes: &["ONPATH_", "gathered_", "load_be", "store_be", "wide_", "__builtin"],
};

#[derive(Clone, Debug)]
struct Taken {
    reserved: Rc<HashSet<SmolStr>>,
    others: HashSet<SmolStr>,
}

impl Taken {
    fn contains(&self, name: &str) -> bool {
        self.reserved.contains(name) || self.others.contains(name)
    }

    /// Takes a name. Returns false if it is taken already.
    fn insert(&mut self, name: &SmolStr) -> bool {
        !self.reserved.contains(name) && self.others.insert(name.clone())
    }
}

/// Returns the reserved names: those of every target, and those of this one.
fn all(target: &'static [Reserved]) -> impl Iterator<Item = &'static Reserved> {
    std::iter::once(&RESERVED).chain(target)
}

/// Returns the set of reserved names. Each table's key has a name space of its own, so the set is made only once.
fn reserved(target: &'static [Reserved]) -> Rc<HashSet<SmolStr>> {
    thread_local! {
        static READ: RefCell<HashMap<&'static [Reserved], Rc<HashSet<SmolStr>>>> = RefCell::default();
    }
    let words = |all: &Reserved| all.names.split_whitespace().map(SmolStr::from);
    let read = || Rc::new(all(target).flat_map(words).collect());
    READ.with_borrow_mut(|known| Rc::clone(known.entry(target).or_insert_with(read)))
}

impl Names {
    /// Creates a name space in which only the reserved names are taken: those of every target, and those of this
    /// one.
    pub fn new(target: &'static [Reserved]) -> Names {
        Names {
            taken: Taken {
                reserved: reserved(target),
                others: HashSet::new(),
            },
            numbers: HashMap::new(),
            target,
        }
    }

    /// Returns true if no name of a program can become this one.
    pub fn is_reserved(&self, name: &str) -> bool {
        // No name begins with two underscores, see `identifier`.
        name.starts_with("__") || self.taken.contains(name) || self.is_prefixed(name)
    }

    fn is_prefixed(&self, name: &str) -> bool {
        let mut prefixes = all(self.target).flat_map(|reserved| reserved.prefixes);
        prefixes.any(|p| name.starts_with(p))
    }

    /// Reserves a name that C text from elsewhere defines.
    pub fn reserve(&mut self, name: &str) {
        self.taken.insert(&name.into());
    }

    /// Returns a unique name similar to `wish`.
    pub fn fresh(&mut self, wish: &str) -> SmolStr {
        let base = self.identifier(wish);
        if self.taken.insert(&base) {
            return base;
        }
        let number = self.numbers.entry(base.clone()).or_insert(2);
        loop {
            let name: SmolStr = format!("{base}_{number}").into();
            *number += 1;
            if self.taken.insert(&name) {
                return name;
            }
        }
    }

    /// Returns a name for an item with a dotted path: the path's last part if that is free, else more of it.
    pub fn fresh_path(&mut self, path: &str) -> SmolStr {
        let parts: Vec<&str> = path.split('.').collect();
        for from in (0..parts.len()).rev() {
            let name = self.identifier(&parts[from..].join("_"));
            if self.taken.insert(&name) {
                return name;
            }
        }
        self.fresh(path)
    }

    /// Returns a name of at most `most` characters that ends with `suffix`, for an item with a dotted path.
    pub fn fresh_short(&mut self, path: &str, suffix: &str, most: usize) -> SmolStr {
        let room = most - suffix.len();
        let last = self.identifier(path.rsplit('.').next().unwrap_or(path));
        let first: String = last.chars().take(room).collect();
        let first: SmolStr = format!("{first}{suffix}").into();
        if self.taken.insert(&first) {
            return first;
        }
        // Key of the counter for all such names; no name contains a dot.
        let wish = format!("{last}.{suffix}.{most}").into();
        let next = self.numbers.entry(wish).or_insert(2);
        loop {
            let number = next.to_string();
            *next += 1;
            let base: String = last.chars().take(room - number.len()).collect();
            let name: SmolStr = format!("{base}{number}{suffix}").into();
            if self.taken.insert(&name) {
                return name;
            }
        }
    }

    /// Returns `text` as a C identifier: other characters become underscores.
    fn identifier(&self, text: &str) -> SmolStr {
        let mut out = String::new();
        for c in text.chars() {
            match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => out.push(c),
                ']' => {}
                _ => out.push('_'),
            }
        }
        while out.starts_with("__") {
            out.remove(0);
        }
        if out.is_empty() || out.starts_with(|c: char| c.is_ascii_digit()) {
            out.insert(0, 'v');
        }
        if self.is_prefixed(&out) {
            out.push('_');
        }
        out.into()
    }
}

/// Returns the names that the text of a C header declares at file level: macros, types, enumerators, variables and
/// functions. Tests use it to check that a target reserves what its headers declare.
pub fn declared(header: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut in_enum = false;
    let mut comment = false;
    let mut continued = false;
    for line in header.lines() {
        let starts_comment = line.trim_start().starts_with("/*");
        let skip = comment || starts_comment || continued;
        comment = (comment || starts_comment) && !line.contains("*/");
        continued = line.ends_with('\\');
        if skip {
            continue;
        }
        if let Some(rest) = line.strip_prefix("#define ") {
            names.extend(words(rest).next());
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        if depth == 0 {
            in_enum = line.starts_with("enum");
            names.extend(declared_by(line));
        } else if in_enum {
            names.extend(words(line).next());
        }
        depth += line.matches('{').count();
        depth -= line.matches('}').count();
    }
    names
}

/// Returns the name that a line at file level declares.
fn declared_by(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix("struct ")
        && line.ends_with('{')
    {
        return words(rest).next();
    }
    // The name of a pointer to a function is in parentheses of its own.
    if let Some((_, rest)) = line.split_once("(*const ") {
        return words(rest).next();
    }
    let head = line.split(['(', '[', '=', ';']).next()?;
    let is_continued = line.starts_with([' ', '\t', '}', '{', ')']);
    (!is_continued && line.contains(['(', '=', ';']))
        .then(|| words(head.split("__attribute__").next()?).last())?
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [Reserved; 1] = [Reserved {
        names: "own",
        prefixes: &["own_"],
    }];

    #[test]
    fn every_name_in_the_headers_is_reserved() {
        let names = Names::new(&OWN);
        for (file, text) in crate::HEADERS {
            for name in crate::names::declared(text) {
                assert!(names.is_reserved(name), "{file}: {name}");
            }
        }
    }

    #[test]
    fn names_are_short_unique_and_valid() {
        let mut names = Names::new(&OWN);
        assert_eq!(names.fresh_path("hdr.ipv4"), "ipv4");
        assert_eq!(names.fresh_path("inner.ipv4"), "inner_ipv4");
        assert_eq!(names.fresh_path("hdr.vlan[1]"), "vlan_1");
        assert_eq!(names.fresh("int"), "int_2");
        assert_eq!(names.fresh("own"), "own_2");
        assert_eq!(names.fresh("own_x"), "own_x_");
        assert_eq!(names.fresh("3x"), "v3x");
        assert_eq!(names.fresh("\u{fc}"), "_");
    }

    #[test]
    fn short_names_are_short_enough() {
        let mut names = Names::new(&OWN);
        let long = "ingress.a_very_long_table_name";
        assert_eq!(names.fresh_short(long, "", 15), "a_very_long_tab");
        assert_eq!(names.fresh_short(long, "", 15), "a_very_long_ta2");
        assert_eq!(names.fresh_short(long, "_masks", 15), "a_very_lo_masks");
    }
}
