//! Comparison of a program's state on the interpreter and on a target.

use control::{Group, Groups, Store};
use schema::{Object, ObjectKind};

/// Number of elements that are compared.
const MOST: u64 = 256;

/// Compares counters, registers and metrics. A target has no register that no packet depends on.
pub fn compare(reference: &dyn Store, target: &dyn Store) -> Result<(), String> {
    for (object, data) in reference.schema().objects.iter() {
        let compared = match data.kind {
            ObjectKind::Counter { .. } => elements(|index| {
                let [a, b] = [reference, target].map(|store| store.counter(object, index).ok());
                (a.is_some() || b.is_some()).then_some((a, b))
            }),
            ObjectKind::Register { .. } => elements(|index| {
                let [a, b] = [reference, target].map(|store| store.register(object, index));
                Some((a.ok()?, b.ok()?))
            }),
            ObjectKind::Metrics { .. } => metrics(reference, target, object),
            _ => continue,
        };
        compared.map_err(|differs| format!("{}{differs}", data.name))?;
    }
    Ok(())
}

/// Compares elements that both sides have.
fn elements<T: PartialEq + std::fmt::Debug>(
    both: impl Fn(u64) -> Option<(T, T)>,
) -> Result<(), String> {
    for (index, (a, b)) in (0..MOST).map_while(|index| Some((index, both(index)?))) {
        if a != b {
            return Err(format!("[{index}]: interpreter {a:?}, target {b:?}"));
        }
    }
    Ok(())
}

fn metrics(reference: &dyn Store, target: &dyn Store, object: Object) -> Result<(), String> {
    let read = |store: &dyn Store| -> Result<Groups, String> {
        let mut groups = store.metrics(object).map_err(|e| format!(": {e}"))?;
        let number = |group: &Group| -> Vec<_> {
            group.key.iter().map(|bits| bits.value().clone()).collect()
        };
        groups.groups.sort_by_key(number);
        Ok(groups)
    };
    let (a, b) = (read(reference)?, read(target)?);
    let differs = a.groups.iter().zip(&b.groups).find(|(a, b)| a != b);
    let counts = |groups: &Groups| (groups.groups.len(), groups.lost, groups.unseen);
    match (counts(&a) == counts(&b), differs) {
        (true, None) => Ok(()),
        (_, differs) => Err(format!(
            ": interpreter {:?}, target {:?}; the first groups that differ: {differs:?}",
            counts(&a),
            counts(&b)
        )),
    }
}
