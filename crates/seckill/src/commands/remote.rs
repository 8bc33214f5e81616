//! The admin API of a running server, for the commands that go through it.

use std::net::SocketAddr;

use seckill_bench::address::address_of;
use seckill_bench::http;
use serde_json::Value;

use super::Context;
use crate::cli::AdminArgs;
use crate::exit::{Failure, chain};
use crate::serve::secrets::ADMIN_TOKEN_FILE;

/// A server's admin port.
pub(super) struct Remote {
    address: SocketAddr,
    token: String,
}

impl Remote {
    /// The server that `--admin` or the settings name, with the token of the environment, the settings or the data folder.
    pub(super) fn new(context: &Context, args: &AdminArgs) -> Result<Self, Failure> {
        let settings = context.settings(args.data.flags())?;
        let address = match &args.admin {
            Some(url) => address_of(url).map_err(Failure::usage)?,
            None => settings.admin.listen,
        };
        let token = match &settings.admin.token {
            Some(token) => token.reveal().to_owned(),
            None => kept_token(&settings.data_dir.join(ADMIN_TOKEN_FILE))?,
        };
        Ok(Self { address, token })
    }

    /// A server whose address and token are known.
    pub(super) const fn at(address: SocketAddr, token: String) -> Self {
        Self { address, token }
    }

    /// Address and token.
    pub(super) fn into_parts(self) -> (SocketAddr, String) {
        (self.address, self.token)
    }

    /// Reads; gives `data` of the answer.
    pub(super) fn get(&self, path: &str) -> Result<Value, Failure> {
        self.call("GET", path, None)
    }

    /// Writes; gives `data` of the answer.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.call("POST", path, Some(body))
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let answer = http::call(self.address, method, path, Some(&self.token), body);
        let answer = answer.map_err(|error| Failure::unreachable(chain(&error)))?;
        let mut json = answer.json();
        if (200..300).contains(&answer.status) {
            return Ok(json["data"].take());
        }
        let text = |member: &str| json[member].as_str().unwrap_or_default().to_owned();
        let (message, detail) = (text("message"), text("detail"));
        // Where there is nothing more to say, the detail is the message itself.
        let more = if detail == message { String::new() } else { detail };
        let said = format!("{} {}: {message} {more}", answer.status, json["code"]);
        Err(match answer.status {
            503 => Failure::unreachable(said.trim_end()),
            _ => Failure::failed(said.trim_end()),
        })
    }
}

fn kept_token(path: &std::path::Path) -> Result<String, Failure> {
    let kept = std::fs::read_to_string(path).map(|text| text.trim().to_owned());
    kept.map_err(|error| {
        let path = path.display();
        Failure::usage(format!(
            "the admin token is neither in SECKILL_ADMIN__TOKEN nor in {path}: {error}"
        ))
    })
}
