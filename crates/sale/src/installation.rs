//! What a store and a database have in common.

use std::fmt;
use std::str::FromStr;

/// What ties a store and a database together: made once, when they are first used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct InstallationId(pub [u8; 16]);

impl fmt::Display for InstallationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The text is no installation id: 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an installation id is 32 hexadecimal digits")]
pub struct InstallationIdError;

impl FromStr for InstallationId {
    type Err = InstallationIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(InstallationIdError);
        }
        let bytes = u128::from_str_radix(text, 16).map_err(|_| InstallationIdError)?;
        Ok(Self(bytes.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installation_id_reads_as_it_is_written() {
        let id = InstallationId([0, 1, 0xab, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0xff]);
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in [
            "",
            "0",
            "+0000000000000000000000000000001",
            &"g".repeat(32),
            &"0".repeat(33),
        ] {
            assert_eq!(bad.parse::<InstallationId>(), Err(InstallationIdError), "{bad:?}");
        }
    }
}
