//! The two cyclic redundancy checks, bit by bit: the oracle is plain rather than fast.

/// Computes CRC-32 as Ethernet has it.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

/// Computes CRC-16 with polynomial 0x8005, reflected ("ARC").
pub(super) fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte), |crc, _| {
            (crc >> 1) ^ (0xa001 & (crc & 1).wrapping_neg())
        })
    })
}
