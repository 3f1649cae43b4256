//! Multicast groups and clone sessions as the program's maps have them.

use super::{KernelStore, system, unopened};
use crate::sys::Map;
use bpf::abi::{Abi, GROUP_BYTES, MOST_PORTS_OF_A_GROUP, SESSION_BYTES};
use control::{CloneSession, Replica, StoreError};
use std::collections::BTreeMap;

/// How a map has the copies of a multicast group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GroupForm {
    /// Ports alone: the program's copies are equal.
    Ports,
    /// Ports with replication ids.
    Replicas,
}

/// The program's map of multicast groups; `None` if it never sends to one.
pub(super) fn group_map(abi: &Abi) -> Option<(&str, GroupForm)> {
    let differ = abi.traffic.groups.as_deref();
    let differ = differ.map(|map| (map, GroupForm::Replicas));
    let equal = || abi.ports.groups.as_deref();
    differ.or_else(|| equal().map(|map| (map, GroupForm::Ports)))
}

/// The program's map of clone sessions; `None` if it never clones.
pub(super) fn session_map(abi: &Abi) -> Option<&str> {
    abi.traffic.sessions.as_deref()
}

/// Fails for copies that a form of groups has no room for.
pub(super) fn check_form(form: GroupForm, replicas: &[Replica]) -> Result<(), StoreError> {
    if form == GroupForm::Replicas {
        return Ok(());
    }
    if replicas.iter().any(|replica| replica.rid != 0) {
        let what = "this program cannot read a replication id; name ports without one";
        return Err(super::unsupported(what));
    }
    if replicas.len() > MOST_PORTS_OF_A_GROUP as usize {
        let what = format!(
            "this program makes equal copies, and a multicast group has {MOST_PORTS_OF_A_GROUP} ports at most then; this one \
             has {}",
            replicas.len()
        );
        return Err(StoreError::Invalid { what });
    }
    Ok(())
}

/// What a map has for a multicast group.
pub(super) fn group_value(form: GroupForm, replicas: &[Replica]) -> Vec<u8> {
    let mut words = vec![replicas.len() as u32];
    let size = match form {
        GroupForm::Ports => {
            words.extend(replicas.iter().map(|replica| replica.port));
            4 + 4 * MOST_PORTS_OF_A_GROUP
        }
        GroupForm::Replicas => {
            words.extend(replicas.iter().flat_map(|r| [r.port, r.rid.into()]));
            GROUP_BYTES
        }
    };
    bytes(&words, size)
}

/// What a map has for a clone session.
pub(super) fn session_value(session: &CloneSession) -> Vec<u8> {
    let truncate = session.truncate.unwrap_or(0);
    let mut value = bytes(&[truncate, session.group.unwrap_or(0).into()], 8);
    value.extend(group_value(GroupForm::Replicas, &session.replicas));
    value.resize(SESSION_BYTES as usize, 0);
    value
}

fn bytes(words: &[u32], size: u32) -> Vec<u8> {
    let mut value: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    value.resize(size as usize, 0);
    value
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_ne_bytes(*word)).collect()
}

/// The copies that a value has, by its words.
fn replicas(form: GroupForm, value: &[u32]) -> Vec<Replica> {
    let [count, copies @ ..] = value else {
        return Vec::new();
    };
    let count = *count as usize;
    match form {
        GroupForm::Ports => Replica::to_ports(copies.iter().copied().take(count)),
        GroupForm::Replicas => {
            let (pairs, _) = copies.as_chunks();
            let replica = |&[port, rid]: &[u32; 2]| Replica {
                port,
                rid: rid as u16,
            };
            pairs.iter().take(count).map(replica).collect()
        }
    }
}

/// The clone session that a value has, by its words.
fn session(value: &[u32]) -> CloneSession {
    let [truncate, group, to @ ..] = value else {
        return CloneSession::default();
    };
    CloneSession {
        replicas: replicas(GroupForm::Replicas, to),
        group: Some(*group as u16).filter(|group| *group != 0),
        truncate: Some(*truncate).filter(|bytes| *bytes != 0),
    }
}

impl KernelStore {
    /// The multicast groups by number.
    pub(crate) fn read_groups(&self) -> Result<Vec<(u16, Vec<Replica>)>, StoreError> {
        let Some((map, form)) = group_map(&self.abi) else {
            return Ok(Vec::new());
        };
        let read = self.each_of(map, "read the multicast groups", |value| {
            replicas(form, value)
        })?;
        let number = |(group, to)| (group as u16, to);
        Ok(read.into_iter().map(number).collect())
    }

    /// The clone sessions by number.
    pub(crate) fn read_sessions(&self) -> Result<Vec<(u32, CloneSession)>, StoreError> {
        match session_map(&self.abi) {
            Some(map) => self.each_of(map, "read the clone sessions", session),
            None => Ok(Vec::new()),
        }
    }

    /// Every element of a map by its number, in order.
    fn each_of<T>(
        &self,
        map: &str,
        what: &'static str,
        read: impl Fn(&[u32]) -> T,
    ) -> Result<Vec<(u32, T)>, StoreError> {
        let map: Option<&Map> = self.maps.get(map).map_err(unopened)?;
        let mut all = BTreeMap::new();
        if let Some(map) = map {
            map.each(|key, value| {
                if let [number] = words(key)[..] {
                    all.insert(number, read(&words(value)));
                }
            })
            .map_err(system(what))?;
        }
        Ok(all.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(count: u16) -> Vec<Replica> {
        let replica = |n| Replica {
            port: u32::from(n) * 3,
            rid: u16::MAX - n,
        };
        (0..count).map(replica).collect()
    }

    #[test]
    fn a_group_is_a_count_and_its_copies() {
        let value = group_value(GroupForm::Replicas, &some(2));
        assert_eq!(value.len(), 4 + 8 * 64);
        assert_eq!(words(&value)[..6], [2, 0, 65535, 3, 65534, 0]);
        let ports = Replica::to_ports([7, 9]);
        let value = group_value(GroupForm::Ports, &ports);
        assert_eq!(value.len(), 4 + 4 * 32);
        assert_eq!(words(&value)[..4], [2, 7, 9, 0]);
    }

    #[test]
    fn a_session_is_its_length_its_group_and_its_copies() {
        let to = CloneSession {
            replicas: some(1),
            group: Some(5),
            truncate: Some(64),
        };
        let value = session_value(&to);
        assert_eq!(value.len(), 8 + 4 + 8 * 64);
        assert_eq!(words(&value)[..6], [64, 5, 1, 0, 65535, 0]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        for count in [0, 1, 63, 64] {
            let all = some(count);
            let value = words(&group_value(GroupForm::Replicas, &all));
            assert_eq!(replicas(GroupForm::Replicas, &value), all);
            for (group, truncate) in [(None, None), (Some(9), Some(1)), (Some(65535), None)] {
                let to = CloneSession {
                    replicas: all.clone(),
                    group,
                    truncate,
                };
                assert_eq!(session(&words(&session_value(&to))), to);
            }
        }
        let ports = Replica::to_ports(0..32);
        let value = words(&group_value(GroupForm::Ports, &ports));
        assert_eq!(replicas(GroupForm::Ports, &value), ports);
    }

    #[test]
    fn a_form_has_limits() {
        let many = Replica::to_ports(0..33);
        assert_eq!(check_form(GroupForm::Replicas, &some(64)), Ok(()));
        assert_eq!(check_form(GroupForm::Ports, &many[..32]), Ok(()));
        let refused = check_form(GroupForm::Ports, &many).unwrap_err();
        assert!(
            refused.to_string().contains("32 ports at most"),
            "{refused}"
        );
        let refused = check_form(GroupForm::Ports, &some(1)).unwrap_err();
        assert!(refused.to_string().contains("replication id"), "{refused}");
    }
}
