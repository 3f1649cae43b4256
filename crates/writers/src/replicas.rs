//! Multicast groups and clone sessions in the program's maps.

use crate::errors::{system, unopened, unsupported};
use crate::state::ProgramState;
use control::{CloneSession, Replica, StoreError};
use std::collections::BTreeMap;

/// Names of the traffic manager's maps: multicast groups, clone sessions and losses.
#[derive(Clone, Copy, Debug)]
pub struct Traffic<'a> {
    /// Multicast groups by number. `None` if the program never sends to a group.
    pub groups: Option<&'a str>,
    /// Layout of groups in the map. It is set even if the program sends to no group, to check the groups that users
    /// set.
    pub form: GroupForm,
    /// Clone sessions by number. `None` if the program never clones.
    pub sessions: Option<&'a str>,
    /// Losses by reason, on each core. `None` if the program has no traffic manager.
    pub drops: Option<&'a str>,
}

/// Layout of a multicast group's replicas in a map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupForm {
    /// A count and at most this many ports. All copies that the program sends are equal.
    Ports(usize),
    /// A count, and ports with replication ids.
    Replicas,
}

/// Fails for replicas that the layout of groups cannot hold.
pub(super) fn check_form(form: GroupForm, replicas: &[Replica]) -> Result<(), StoreError> {
    let GroupForm::Ports(most) = form else {
        return Ok(());
    };
    if replicas.iter().any(|replica| replica.rid != 0) {
        let what = "this program cannot read a replication id; name ports without one";
        return Err(unsupported(what));
    }
    if replicas.len() > most {
        let what = format!(
            "this program makes equal copies, and a multicast group has {most} ports at most then; this one \
             has {}",
            replicas.len()
        );
        return Err(StoreError::Invalid { what });
    }
    Ok(())
}

/// Encodes a multicast group as a value of `size` bytes.
pub(super) fn group_value(form: GroupForm, replicas: &[Replica], size: usize) -> Vec<u8> {
    let mut words = vec![replicas.len() as u32];
    match form {
        GroupForm::Ports(_) => words.extend(replicas.iter().map(|replica| replica.port)),
        GroupForm::Replicas => words.extend(replicas.iter().flat_map(|r| [r.port, r.rid.into()])),
    }
    bytes(&words, size)
}

/// Encodes a clone session: `{u32 truncate, u32 group}`, where 0 means none, followed by its own replicas in the layout
/// of a group.
pub(super) fn session_value(session: &CloneSession, size: usize) -> Vec<u8> {
    let truncate = session.truncate.unwrap_or(0);
    let mut value = bytes(&[truncate, session.group.unwrap_or(0).into()], 8);
    value.extend(group_value(
        GroupForm::Replicas,
        &session.replicas,
        size.saturating_sub(8),
    ));
    value
}

fn bytes(words: &[u32], size: usize) -> Vec<u8> {
    let mut value: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    value.resize(size, 0);
    value
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u32::from_ne_bytes(*word)).collect()
}

/// Decodes the replicas in a value, given as words.
fn replicas(form: GroupForm, value: &[u32]) -> Vec<Replica> {
    let [count, copies @ ..] = value else {
        return Vec::new();
    };
    let count = *count as usize;
    match form {
        GroupForm::Ports(_) => Replica::to_ports(copies.iter().copied().take(count)),
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

/// Decodes the clone session in a value, given as words.
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

impl ProgramState<'_> {
    /// Reads the multicast groups by number.
    pub(crate) fn read_groups(&self) -> Result<Vec<(u16, Vec<Replica>)>, StoreError> {
        let Traffic { groups, form, .. } = self.memory.traffic();
        let Some(map) = groups else {
            return Ok(Vec::new());
        };
        let read = self.each_of(map, "read the multicast groups", |value| {
            replicas(form, value)
        })?;
        let number = |(group, to)| (group as u16, to);
        Ok(read.into_iter().map(number).collect())
    }

    /// Reads the clone sessions by number.
    pub(crate) fn read_sessions(&self) -> Result<Vec<(u32, CloneSession)>, StoreError> {
        match self.memory.traffic().sessions {
            Some(map) => self.each_of(map, "read the clone sessions", session),
            None => Ok(Vec::new()),
        }
    }

    /// Reads every element of a map by its number, in order.
    fn each_of<T>(
        &self,
        map: &str,
        what: &'static str,
        read: impl Fn(&[u32]) -> T,
    ) -> Result<Vec<(u32, T)>, StoreError> {
        let map = self.memory.map(map).map_err(unopened)?;
        let mut all = BTreeMap::new();
        if let Some(map) = map {
            map.each(&mut |key, value| {
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

    /// Size of a group whose replicas have ids, in bytes.
    const GROUP: usize = 4 + 8 * 64;

    fn some(count: u16) -> Vec<Replica> {
        let replica = |n| Replica {
            port: u32::from(n) * 3,
            rid: u16::MAX - n,
        };
        (0..count).map(replica).collect()
    }

    #[test]
    fn a_group_is_a_count_and_its_copies() {
        let value = group_value(GroupForm::Replicas, &some(2), GROUP);
        assert_eq!(value.len(), 4 + 8 * 64);
        assert_eq!(words(&value)[..6], [2, 0, 65535, 3, 65534, 0]);
        let ports = Replica::to_ports([7, 9]);
        let value = group_value(GroupForm::Ports(32), &ports, 4 + 4 * 32);
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
        let value = session_value(&to, 8 + GROUP);
        assert_eq!(value.len(), 8 + 4 + 8 * 64);
        assert_eq!(words(&value)[..6], [64, 5, 1, 0, 65535, 0]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        for count in [0, 1, 63, 64] {
            let all = some(count);
            let value = words(&group_value(GroupForm::Replicas, &all, GROUP));
            assert_eq!(replicas(GroupForm::Replicas, &value), all);
            for (group, truncate) in [(None, None), (Some(9), Some(1)), (Some(65535), None)] {
                let to = CloneSession {
                    replicas: all.clone(),
                    group,
                    truncate,
                };
                assert_eq!(session(&words(&session_value(&to, 8 + GROUP))), to);
            }
        }
        let ports = Replica::to_ports(0..32);
        let value = words(&group_value(GroupForm::Ports(32), &ports, 4 + 4 * 32));
        assert_eq!(replicas(GroupForm::Ports(32), &value), ports);
    }

    #[test]
    fn a_form_has_limits() {
        let many = Replica::to_ports(0..33);
        assert_eq!(check_form(GroupForm::Replicas, &some(64)), Ok(()));
        assert_eq!(check_form(GroupForm::Ports(32), &many[..32]), Ok(()));
        let refused = check_form(GroupForm::Ports(32), &many).unwrap_err();
        assert!(
            refused.to_string().contains("32 ports at most"),
            "{refused}"
        );
        let refused = check_form(GroupForm::Ports(32), &some(1)).unwrap_err();
        assert!(refused.to_string().contains("replication id"), "{refused}");
    }
}
