//! Who may sign requests for others.

use crate::error::Error;
use crate::reader::Reader;
use crate::secret::Secret;
use crate::weak;

const KEYS: &str = "clients.keys";
/// Clients of one house. Each request of a client is compared with all their names.
const CLIENTS_MAX: usize = 64;
/// Characters of a name.
const NAME_LENGTH_MAX: usize = 64;

/// A backend that may sign requests for its users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// What it calls itself in `X-Client-Id`.
    pub name: String,
    /// What it signs with, 32 bytes or more.
    pub secret: Secret,
}

/// All of them.
pub(super) fn narrow(reader: &Reader<'_>) -> Vec<Client> {
    let mut clients: Vec<Client> = Vec::new();
    for key in reader.get::<Vec<Secret>>(KEYS) {
        match client(&key) {
            Ok(client) if clients.iter().any(|known| known.name == client.name) => {
                refuse(reader, "two of them have the same name");
            }
            Ok(client) if clients.iter().any(|known| known.secret == client.secret) => {
                refuse(reader, "two of them have the same secret");
            }
            Ok(client) => clients.push(client),
            Err(reason) => refuse(reader, reason),
        }
    }
    if CLIENTS_MAX < clients.len() {
        refuse(reader, "there are more than 64");
    }
    clients
}

/// Says what is wrong without a word of what was given.
fn refuse(reader: &Reader<'_>, reason: &'static str) {
    reader.refuse(Error::Weak {
        key: KEYS.to_owned(),
        origin: reader.origin(KEYS),
        reason,
    });
}

fn client(key: &Secret) -> Result<Client, &'static str> {
    let form = "each must be a name of 1 to 64 letters, digits, \".\", \"_\" or \"-\", a colon, and its secret";
    let (name, secret) = key.reveal().split_once(':').ok_or(form)?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if !(1..=NAME_LENGTH_MAX).contains(&name.len()) || !name.bytes().all(allowed) {
        return Err(form);
    }
    match weak::reason(secret) {
        Some(reason) => Err(reason),
        None => Ok(Client {
            name: name.to_owned(),
            secret: Secret::new(secret),
        }),
    }
}
