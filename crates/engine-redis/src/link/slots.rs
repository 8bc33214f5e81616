//! Hash slots: which part of a cluster has a key.

use std::ops::RangeInclusive;

/// Slots of a cluster.
pub(crate) const SLOTS: u16 = 16_384;

/// The slot of a key: of what stands between its first braces, where there is something.
pub(crate) fn slot(key: &[u8]) -> u16 {
    let tag = || {
        let open = key.iter().position(|&byte| byte == b'{')? + 1;
        let length = key[open..].iter().position(|&byte| byte == b'}')?;
        (0 < length).then(|| &key[open..open + length])
    };
    crc16(tag().unwrap_or(key)) % SLOTS
}

/// CRC-16/XMODEM, as the cluster's specification wants it.
fn crc16(bytes: &[u8]) -> u16 {
    const POLYNOMIAL: u16 = 0x1021;
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| {
            let shifted = crc << 1;
            if crc & 0x8000 == 0 {
                shifted
            } else {
                shifted ^ POLYNOMIAL
            }
        })
    })
}

/// Every slot.
pub(crate) const fn all() -> RangeInclusive<u16> {
    0..=SLOTS - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_one_tag_share_a_slot_and_known_keys_have_their_own() {
        assert_eq!(crc16(b"123456789"), 0x31c3, "the specification's example");
        assert_eq!(slot(b"foo"), 12_182);
        assert_eq!(slot(b"{foo}bar"), 12_182);
        assert_eq!(slot(b"a{foo}{bar}"), 12_182);
        assert_eq!(slot(b"{}foo"), crc16(b"{}foo") % SLOTS, "an empty tag is none");
        assert_eq!(slot(b"{a:7:0}:meta"), slot(b"{a:7:0}:buyers"));
    }
}
