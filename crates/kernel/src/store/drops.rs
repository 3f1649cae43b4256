//! What the traffic manager lost: sums over processors.

use super::{KernelStore, refused};
use control::{DropReason, StoreError};

impl KernelStore {
    /// How many packets and copies were lost for each reason; nothing if the program has no traffic manager.
    pub(super) fn read_drops(&self) -> Result<Vec<(DropReason, u64)>, StoreError> {
        let Some(name) = &self.abi.traffic.drops else {
            return Ok(Vec::new());
        };
        let map = self.map(name)?;
        let count = |reason: DropReason| {
            let copies = map
                .get(&(reason as u32).to_ne_bytes())
                .map_err(refused("read what was dropped"))?
                .unwrap_or_default();
            let (words, _) = copies.as_chunks();
            let words = words.iter().map(|word| u64::from_ne_bytes(*word));
            Ok((reason, words.fold(0, u64::wrapping_add)))
        };
        DropReason::ALL.into_iter().map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use control::DropReason;

    #[test]
    fn generated_code_has_the_same_numbers() {
        assert_eq!(DropReason::ALL.len(), bpf::abi::DROP_REASONS as usize);
        let headers = bpf::headers().iter();
        let (_, text) = headers
            .clone()
            .find(|(name, _)| *name == "onpath/drops.h")
            .expect("the header");
        for reason in DropReason::ALL {
            let member = format!(
                "DROPPED_{} = {},",
                reason.name().to_uppercase(),
                reason as u32
            );
            assert!(text.contains(&member), "{member}");
        }
        assert_eq!(text.matches("DROPPED_").count(), DropReason::ALL.len());
    }
}
