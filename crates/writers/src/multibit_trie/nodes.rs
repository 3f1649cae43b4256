//! Nodes of a multibit trie.
//!
//! A node has a slot for each value of the key's next byte, or of the next half-byte from the third byte on. A slot
//! holds two things:
//!
//! - its *cover*: the longest prefix that ends in this node and matches the slot;
//! - its child, for longer prefixes that match the slot: a node if there are several, the route itself if there is one.
//!
//! So each prefix belongs to one node, in which it covers at most 256 slots.
//!
//! A change of one slot is one store. For a change of several slots, the node is copied, and the slot that leads to it
//! is changed. The set of nodes depends on the prefixes alone, and not on their history.

use super::Routes;
use super::pool::{Pool, Take};
use super::slot::{Child, Node, Prefix, Slot, WIDE_BITS, kind};
use super::{encoding, unread, unwritten};
use crate::memory::Map;
use control::StoreError;
use host::words::Words;

/// Slots that lead to a node, from the root on.
type Path = Vec<(Node, u32)>;

/// Nodes of a trie, with the memory that they are made of.
pub(super) struct Nodes<'a> {
    pub wide: &'a Words,
    pub narrow: &'a Words,
    /// Memory and offset of the root's number.
    pub root: (&'a Words, u32),
    pub pool: &'a Pool<'a>,
    pub routes: Routes<'a>,
    pub index: &'a dyn Map,
}

impl Nodes<'_> {
    fn root(&self) -> Result<Node, StoreError> {
        let number = self.root.0.u32(self.root.1).map_err(unread)?;
        Ok(Node { depth: 0, number })
    }

    fn memory(&self, node: Node) -> &Words {
        match node.kind() {
            Take::Wide => self.wide,
            _ => self.narrow,
        }
    }

    fn read(&self, node: Node, slot: u32) -> Result<Slot, StoreError> {
        let word = self.memory(node).u64(node.at(slot));
        word.map(Slot).map_err(unread)
    }

    fn write(&self, node: Node, slot: u32, word: Slot) -> Result<(), StoreError> {
        let wrote = self.memory(node).set_u64(node.at(slot), word.0);
        wrote.map_err(unwritten)
    }

    fn slots(&self, node: Node) -> Result<Vec<Slot>, StoreError> {
        (0..node.width()).map(|at| self.read(node, at)).collect()
    }

    /// Creates a node that no packet finds yet.
    fn make(&self, depth: u32, slots: &[Slot]) -> Result<Node, StoreError> {
        let number = self.pool.take(kind(depth)).map_err(unwritten)?;
        let number = number.ok_or_else(|| StoreError::Unsupported {
            what: "the prefixes of the table have so many bits in common that its nodes are all in use; \
                   declare a larger `size`, or use `@layout(\"trie\")`"
                .into(),
        })?;
        let node = Node { depth, number };
        for (at, slot) in slots.iter().enumerate() {
            self.write(node, at as u32, *slot)?;
        }
        Ok(node)
    }

    /// Changes the slots of a node for packets, by one store.
    fn publish(
        &self,
        path: &Path,
        node: Node,
        old: &[Slot],
        new: &[Slot],
    ) -> Result<(), StoreError> {
        let mut differ = (0..new.len()).filter(|at| old[*at] != new[*at]);
        match (differ.next(), differ.next()) {
            (None, _) => Ok(()),
            (Some(at), None) => self.write(node, at as u32, new[at]),
            _ => {
                let copy = self.make(node.depth, new)?;
                match path.last() {
                    None => self
                        .root
                        .0
                        .set_u32(self.root.1, copy.number)
                        .map_err(unwritten)?,
                    Some((parent, at)) => {
                        let slot = self.read(*parent, *at)?;
                        self.write(*parent, *at, slot.with_child(Child::Node(copy.number)))?;
                    }
                }
                self.pool
                    .retire(node.kind(), node.number)
                    .map_err(unwritten)
            }
        }
    }

    /// Returns the slots of a node that a prefix matches. The prefix ends in this node.
    fn range(node: Node, prefix: &Prefix<'_>) -> std::ops::Range<usize> {
        let count = 1 << (node.end() - prefix.length).min(node.bits());
        let first = node.slot(prefix.key) as usize & !(count - 1);
        first..first + count
    }

    /// Sets a route as the cover of the slots that its prefix matches, except where a longer prefix covers the slot.
    fn cover(
        &self,
        node: Node,
        slots: &mut [Slot],
        prefix: &Prefix<'_>,
        route: u32,
    ) -> Result<(), StoreError> {
        for slot in &mut slots[Self::range(node, prefix)] {
            let is_longer = slot.cover() != 0
                && self.routes.length(slot.cover()).map_err(unread)? > prefix.length;
            if !is_longer {
                *slot = slot.with_cover(route);
            }
        }
        Ok(())
    }

    /// Inserts routes, or replaces the routes of their prefixes.
    ///
    /// # Errors
    /// An error comes with the index of the route that was not inserted.
    pub(super) fn insert_all(
        &self,
        routes: &[(Prefix<'_>, u32)],
    ) -> Result<(), (usize, StoreError)> {
        let mut short: Vec<usize> = Vec::new();
        for (at, (prefix, route)) in routes.iter().enumerate() {
            // Routes that end in one wide node are inserted together, since each would copy the node.
            if routes.len() > 1 && prefix.length <= WIDE_BITS {
                short.push(at);
            } else {
                self.insert(prefix, *route).map_err(|error| (at, error))?;
            }
        }
        let of = |at: usize| &routes[at].0;
        short.sort_by_key(|at| (of(*at).length > 8, of(*at).key[0]));
        let same = |a: &usize, b: &usize| {
            let [a, b] = [a, b].map(|at| of(*at));
            (a.length > 8) == (b.length > 8) && (a.length <= 8 || a.key[0] == b.key[0])
        };
        for group in short.chunk_by(same) {
            self.insert_short(group, routes)?;
        }
        Ok(())
    }

    /// Inserts routes that end in the same wide node.
    fn insert_short(
        &self,
        group: &[usize],
        routes: &[(Prefix<'_>, u32)],
    ) -> Result<(), (usize, StoreError)> {
        let mut rest = group;
        while let Some((first, others)) = rest.split_first() {
            let failed = |error| (*first, error);
            let (prefix, route) = &routes[*first];
            let Some((path, node)) = self.node_of(prefix).map_err(failed)? else {
                self.insert(prefix, *route).map_err(failed)?;
                rest = others;
                continue;
            };
            let old = self.slots(node).map_err(failed)?;
            let mut new = old.clone();
            for at in rest {
                let (prefix, route) = &routes[*at];
                let covered = self.cover(node, &mut new, prefix, *route);
                covered.map_err(|error| (*at, error))?;
            }
            return self.publish(&path, node, &old, &new).map_err(failed);
        }
        Ok(())
    }

    /// Finds the node that a prefix ends in, if it exists.
    fn node_of(&self, prefix: &Prefix<'_>) -> Result<Option<(Path, Node)>, StoreError> {
        let (mut path, mut node) = (Path::new(), self.root()?);
        while prefix.length > node.end() {
            let at = node.slot(prefix.key);
            let Child::Node(number) = self.read(node, at)?.child() else {
                return Ok(None);
            };
            path.push((node, at));
            node = Node {
                depth: node.end(),
                number,
            };
        }
        Ok(Some((path, node)))
    }

    fn insert(&self, prefix: &Prefix<'_>, route: u32) -> Result<(), StoreError> {
        let (mut path, mut node) = (Path::new(), self.root()?);
        while prefix.length > node.end() {
            let at = node.slot(prefix.key);
            let slot = self.read(node, at)?;
            let child = match slot.child() {
                Child::Node(number) => {
                    path.push((node, at));
                    let depth = node.end();
                    node = Node { depth, number };
                    continue;
                }
                Child::Nothing => Child::Route(route),
                Child::Route(other) if self.is(other, prefix)? => Child::Route(route),
                Child::Route(other) => Child::Node(self.grow(node.end(), other, route)?.number),
            };
            return self.write(node, at, slot.with_child(child));
        }
        let old = self.slots(node)?;
        let mut new = old.clone();
        self.cover(node, &mut new, prefix, route)?;
        self.publish(&path, node, &old, &new)
    }

    /// Returns true if a route has this prefix.
    fn is(&self, route: u32, prefix: &Prefix<'_>) -> Result<bool, StoreError> {
        let same = self.routes.length(route).map_err(unread)? == prefix.length;
        Ok(same && self.routes.key(route).map_err(unread)? == prefix.key)
    }

    /// Creates the node, and those below it, for two routes with different prefixes whose first `depth` bits are equal.
    fn grow(&self, depth: u32, one: u32, other: u32) -> Result<Node, StoreError> {
        let of = |route| -> Result<(u32, Vec<u8>), StoreError> {
            let length = self.routes.length(route).map_err(unread)?;
            Ok((length, self.routes.key(route).map_err(unread)?))
        };
        let node = Node { depth, number: 0 };
        let mut slots = vec![Slot(0); node.width() as usize];
        let (first, second) = (of(one)?, of(other)?);
        let at = |key: &[u8]| node.slot(key) as usize;
        let both_go_on = first.0 > node.end() && second.0 > node.end();
        if both_go_on && at(&first.1) == at(&second.1) {
            let below = self.grow(node.end(), one, other)?;
            slots[at(&first.1)] = Slot(0).with_child(Child::Node(below.number));
            return self.make(depth, &slots);
        }
        for (route, (length, key)) in [(one, first), (other, second)] {
            if length > node.end() {
                let slot = &mut slots[at(&key)];
                *slot = slot.with_child(Child::Route(route));
            } else {
                let prefix = Prefix { length, key: &key };
                self.cover(node, &mut slots, &prefix, route)?;
            }
        }
        self.make(depth, &slots)
    }

    /// Removes a prefix that the index does not have any more. It need not be in the nodes.
    pub(super) fn remove(&self, prefix: &Prefix<'_>) -> Result<(), StoreError> {
        let (mut path, mut node) = (Path::new(), self.root()?);
        while prefix.length > node.end() {
            let at = node.slot(prefix.key);
            let slot = self.read(node, at)?;
            match slot.child() {
                Child::Node(number) => {
                    path.push((node, at));
                    let depth = node.end();
                    node = Node { depth, number };
                }
                Child::Route(route) if self.is(route, prefix)? => {
                    let old = self.slots(node)?;
                    let mut new = old.clone();
                    new[at as usize] = slot.with_child(Child::Nothing);
                    return self.shrink(path, node, old, new);
                }
                Child::Route(_) | Child::Nothing => return Ok(()),
            }
        }
        let old = self.slots(node)?;
        let mut new = old.clone();
        let shorter = self.next_shorter(node, prefix)?;
        for slot in &mut new[Self::range(node, prefix)] {
            if slot.cover() != 0
                && self.routes.length(slot.cover()).map_err(unread)? == prefix.length
            {
                *slot = slot.with_cover(shorter);
            }
        }
        self.shrink(path, node, old, new)
    }

    /// Returns the route of the longest shorter prefix that ends in the same node, or 0.
    fn next_shorter(&self, node: Node, prefix: &Prefix<'_>) -> Result<u32, StoreError> {
        let least = if node.depth == 0 { 0 } else { node.depth + 1 };
        for length in (least..prefix.length).rev() {
            let mut key = [&length.to_ne_bytes()[..], prefix.key].concat();
            for (at, byte) in key[size_of::<u32>()..].iter_mut().enumerate() {
                let ones = (length as usize).saturating_sub(8 * at).min(8);
                *byte &= !(0xffu16 >> ones) as u8;
            }
            if let Some(found) = self.index.get(&key).map_err(unread)? {
                return Ok(encoding::get_u32(&found, 0));
            }
        }
        Ok(0)
    }

    /// Changes the slots of a node for packets, and removes the nodes that are no longer needed since slots became
    /// empty.
    fn shrink(
        &self,
        mut path: Path,
        mut node: Node,
        mut old: Vec<Slot>,
        mut new: Vec<Slot>,
    ) -> Result<(), StoreError> {
        let mut left = Vec::new();
        while let Some((parent, at)) = path.last().copied() {
            let Some(child) = instead(&new) else {
                break;
            };
            left.push(node);
            path.pop();
            node = parent;
            old = self.slots(node)?;
            new = old.clone();
            new[at as usize] = old[at as usize].with_child(child);
        }
        self.publish(&path, node, &old, &new)?;
        let retire = |node: Node| self.pool.retire(node.kind(), node.number);
        left.into_iter().try_for_each(retire).map_err(unwritten)
    }

    /// Returns all nodes and routes that packets find.
    pub(super) fn used(&self) -> Result<Vec<(Take, u32)>, StoreError> {
        let mut all = Vec::new();
        let mut open = vec![self.root()?];
        while let Some(node) = open.pop() {
            all.push((node.kind(), node.number));
            for slot in self.slots(node)? {
                if slot.cover() != 0 {
                    all.push((Take::Route, slot.cover()));
                }
                match slot.child() {
                    Child::Nothing => {}
                    Child::Route(route) => all.push((Take::Route, route)),
                    Child::Node(number) => open.push(Node {
                        depth: node.end(),
                        number,
                    }),
                }
            }
        }
        Ok(all)
    }
}

/// Returns the replacement of a node with these slots if at most one route is left in it. Two or more longer prefixes
/// that hide a shorter one completely count as several routes, so that the hidden one need not be considered.
fn instead(slots: &[Slot]) -> Option<Child> {
    let mut only = Child::Nothing;
    for slot in slots {
        let cover = match slot.cover() {
            0 => Child::Nothing,
            route => Child::Route(route),
        };
        for found in [cover, slot.child()] {
            match (found, only) {
                (Child::Nothing, _) => {}
                (Child::Route(_), Child::Nothing) => only = found,
                (Child::Route(_), _) if found == only => {}
                _ => return None,
            }
        }
    }
    Some(only)
}

#[cfg(test)]
mod tests;
