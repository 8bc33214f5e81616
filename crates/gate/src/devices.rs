//! Which devices count: every one that a client names, or only those that this house has given a name itself.
//!
//! A signed name is `<22 characters of base64url>.<22 of them>`: 128 random bits, and half of HMAC-SHA256 over them with a key that all nodes
//! share. No node remembers names. A client hears his at first sight, on the token route, and sends it from then on in
//! [`crate::DEVICE_HEADER`]; it proves that he came this way once, not which machine he sits at.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::derived::derived_secret;
use crate::device::Device;
use crate::headers::Sent;
use crate::{Gate, Identified};

/// Characters of the random bits, and of the signature.
const PART: usize = 22;
const TAG_BYTES: usize = 16;

/// Which devices count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceRule {
    /// Whatever a client names; a hint.
    #[default]
    Named,
    /// Only what this house has signed. Whoever buys has to have one.
    Signed,
}

/// Makes and checks names of devices.
#[derive(Clone)]
pub(crate) struct Devices {
    /// None where any name counts.
    keyed: Option<Hmac<Sha256>>,
}

impl std::fmt::Debug for Devices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Devices")
            .field("signed", &self.keyed.is_some())
            .finish()
    }
}

impl Devices {
    pub(crate) fn new(rule: DeviceRule, secret: &[u8; 32]) -> Self {
        let keyed = (rule == DeviceRule::Signed).then(|| {
            let key = derived_secret(secret, "devices");
            Hmac::new_from_slice(&key).expect("HMAC takes keys of every length")
        });
        Self { keyed }
    }

    /// The device of a request, where it is signed; none where it need not be.
    pub(crate) fn proven<'a>(&self, header: Sent<'a>) -> Option<Option<Device<'a>>> {
        let keyed = self.keyed.as_ref()?;
        Some(Device::named(header).filter(|device| is_signed(keyed, device.as_str())))
    }

    /// Whether a purchase from `device` may go on as far as the rule says.
    pub(crate) const fn allow(&self, device: Option<Device<'_>>) -> bool {
        self.keyed.is_none() || device.is_some()
    }

    fn signed(&self, random: u128) -> Option<String> {
        let keyed = self.keyed.as_ref()?;
        let id = URL_SAFE_NO_PAD.encode(random.to_be_bytes());
        let tag = URL_SAFE_NO_PAD.encode(tag(keyed, &id));
        Some(format!("{id}.{tag}"))
    }
}

fn tag(keyed: &Hmac<Sha256>, id: &str) -> [u8; TAG_BYTES] {
    let whole = keyed.clone().chain_update(id.as_bytes()).finalize().into_bytes();
    *whole.first_chunk().expect("thirty-two bytes")
}

fn is_signed(keyed: &Hmac<Sha256>, name: &str) -> bool {
    let Some((id, signature)) = name
        .split_once('.')
        .filter(|(id, tag)| (id.len(), tag.len()) == (PART, PART))
    else {
        return false;
    };
    let mut bytes = [0; TAG_BYTES + 2];
    URL_SAFE_NO_PAD.decode_slice(signature, &mut bytes) == Ok(TAG_BYTES)
        && keyed
            .clone()
            .chain_update(id.as_bytes())
            .verify_truncated_left(&bytes[..TAG_BYTES])
            .is_ok()
}

impl Gate {
    /// A name for the device of somebody who has none that counts; none where he has one, or any counts. `random`: numbers that nobody
    /// can foresee.
    #[must_use]
    pub fn new_device(&self, identified: &Identified<'_>, random: u128) -> Option<String> {
        match identified.device() {
            Some(_) => None,
            None => self.devices.signed(random),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn counts(devices: &Devices, name: &str) -> bool {
        let value = HeaderValue::from_str(name).expect("a header value");
        devices.proven(Sent::Once(&value)).flatten().is_some()
    }

    #[test]
    fn only_names_that_were_signed_with_this_key_count() {
        let devices = Devices::new(DeviceRule::Signed, &[7; 32]);
        let name = devices.signed(9).expect("names are signed");
        assert!(counts(&devices, &name));
        assert!(!counts(&Devices::new(DeviceRule::Signed, &[8; 32]), &name));
        for at in 0..name.len() {
            for other in "Aa0.-_".chars() {
                let mut altered = name.clone();
                altered.replace_range(at..=at, &other.to_string());
                assert!(altered == name || !counts(&devices, &altered), "{altered}");
            }
        }
        for other in ["phone", "", &name[1..], &format!("{name}A"), &name.replace('.', "")] {
            assert!(!counts(&devices, other), "{other}");
        }
    }

    #[test]
    fn every_name_counts_where_none_is_signed() {
        let devices = Devices::new(DeviceRule::Named, &[7; 32]);
        let value = HeaderValue::from_static("phone");
        assert_eq!(devices.proven(Sent::Once(&value)), None);
        assert!(devices.allow(None));
        assert_eq!(devices.signed(9), None);
    }
}
