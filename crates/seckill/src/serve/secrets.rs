//! Secrets that the house makes for itself at the first start and keeps in the data folder, readable by its owner alone.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rand::Rng;
use seckill_settings::{JwtKey, Secret, Settings, StoreUrl};

use crate::exit::Failure;

/// Name of the file with the admin token.
pub(crate) const ADMIN_TOKEN_FILE: &str = "admin-token";
const PURCHASE_TOKEN_FILE: &str = "purchase-token-secret";
const NODE_FILE: &str = "node-id";
/// Digits of a node's name.
const NODE_DIGITS: usize = 16;

/// A secret of the data folder.
pub(crate) struct Kept {
    /// 64 hexadecimal digits.
    pub(crate) text: String,
    /// Whether it was made just now.
    pub(crate) made: bool,
}

/// The admin token.
pub(crate) fn admin_token(data_dir: &Path) -> Result<Kept, Failure> {
    keep(data_dir, ADMIN_TOKEN_FILE)
}

/// The name of the node that this folder belongs to: the same after every restart, and no other's.
pub(crate) fn node_name(data_dir: &Path) -> Result<String, Failure> {
    let kept = keep(data_dir, NODE_FILE)?;
    Ok(kept.text[..NODE_DIGITS].to_owned())
}

/// The secret of purchase tokens. Nodes that share a store have to have the same one, and share no folder: there it comes from the secret
/// of the users' tokens, or from the admin token.
pub(crate) fn purchase_token_secret(settings: &Settings) -> Result<[u8; 32], Failure> {
    if let StoreUrl::Remote(_) = settings.store.url
        && let Some(shared) = shared_secret(settings)
    {
        return Ok(seckill_gate::derived_secret(
            shared.reveal().as_bytes(),
            "purchase tokens",
        ));
    }
    let kept = keep(&settings.data_dir, PURCHASE_TOKEN_FILE)?;
    let mut secret = [0; 32];
    for (byte, pair) in secret.iter_mut().zip(kept.text.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(pair).unwrap_or_default();
        *byte = u8::from_str_radix(digits, 16).map_err(|_| Failure::failed("the purchase-token secret is damaged"))?;
    }
    Ok(secret)
}

/// A secret that all nodes of a house are given.
fn shared_secret(settings: &Settings) -> Option<&Secret> {
    match &settings.auth.key {
        Some(JwtKey::Secret(secret)) => Some(secret),
        _ => settings.admin.token.as_ref(),
    }
}

fn keep(data_dir: &Path, name: &str) -> Result<Kept, Failure> {
    let path = data_dir.join(name);
    let failed = |error: std::io::Error| Failure::failed(format!("{}: {error}", path.display()));
    match fs::read_to_string(&path) {
        Ok(text) if text.trim().len() == 64 => {
            return Ok(Kept {
                text: text.trim().to_owned(),
                made: false,
            });
        }
        Ok(_) => {
            return Err(Failure::failed(format!(
                "{} is damaged: 64 hexadecimal digits belong there",
                path.display()
            )));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let mut bytes = [0; 32];
    rand::rng().fill_bytes(&mut bytes);
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    // Written beside and renamed: a file that is there is whole.
    let beside = data_dir.join(format!("{name}.new"));
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside)
        .map_err(failed)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(failed)?;
    fs::rename(&beside, &path).map_err(failed)?;
    Ok(Kept { text, made: true })
}
