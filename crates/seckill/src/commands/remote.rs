//! The admin API of a running server, for the commands that go through it.

use std::net::SocketAddr;

use seckill_bench::address::address_of;
use seckill_bench::http;
use seckill_settings::{Origin, Settings};
use serde_json::Value;

use super::Context;
use crate::cli::AdminArgs;
use crate::exit::{Failure, chain};
use crate::serve::secrets::ADMIN_TOKEN_FILE;

/// A server's admin port.
pub(super) struct Remote {
    address: SocketAddr,
    token: String,
    /// Where the token was found.
    token_of: String,
}

impl Remote {
    /// The server that `--admin` or the settings name, with the token of the environment, the settings or the data folder.
    pub(super) fn new(context: &Context, args: &AdminArgs) -> Result<Self, Failure> {
        let settings = context.settings(args.data.flags())?;
        let address = match &args.admin {
            Some(url) => address_of(url).map_err(Failure::usage)?,
            None => settings.admin.listen,
        };
        let (token, token_of) = match &settings.admin.token {
            Some(token) => (token.reveal().to_owned(), origin(&settings)),
            None => {
                let path = settings.data_dir.join(ADMIN_TOKEN_FILE);
                (kept_token(&path)?, path.display().to_string())
            }
        };
        Ok(Self {
            address,
            token,
            token_of,
        })
    }

    /// A server whose address and token are known.
    pub(super) const fn at(address: SocketAddr, token: String) -> Self {
        Self {
            address,
            token,
            token_of: String::new(),
        }
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
        let answer = answer.map_err(|error| self.unreached(&error))?;
        let mut json = answer.json();
        if (200..300).contains(&answer.status) {
            return Ok(json["data"].take());
        }
        let said = said(answer.status, &json);
        Err(match answer.status {
            401 => Failure::failed(format!(
                "{said}. The admin token of {} is not the server's; pass another by SECKILL_ADMIN__TOKEN, or the folder that holds it by \
                 --data-dir",
                self.token_of
            )),
            503 => Failure::unreachable(said),
            _ => Failure::failed(said),
        })
    }

    fn unreached(&self, error: &seckill_bench::Error) -> Failure {
        let text = chain(error);
        if error.is_refused() {
            return Failure::unreachable(format!(
                "{text}; does `seckill serve` run, with its admin port at {}? --admin names another address",
                self.address
            ));
        }
        Failure::unreachable(text)
    }
}

/// An answer that is no success, in one line: status, code, sentence and, where it says more, the detail.
fn said(status: u16, json: &Value) -> String {
    let text = |member: &str| json[member].as_str().unwrap_or_default();
    let (message, detail) = (text("message"), text("detail"));
    let parts = [message, if detail == message { "" } else { detail }];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{status} {}: {}", json["code"], parts.join(": "))
}

/// The source of `admin.token`, in words.
fn origin(settings: &Settings) -> String {
    match settings.effective.origin("admin.token") {
        Some(Origin::Environment(name)) => format!("the environment ({name})"),
        Some(origin) => origin.to_string(),
        None => "the settings".to_owned(),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sentence_and_detail_of_an_answer_are_told_apart() {
        let json = json!({"code": 40000, "message": "Out of range", "detail": "ends_at: must lie after starts_at"});
        assert_eq!(
            said(400, &json),
            "400 40000: Out of range: ends_at: must lie after starts_at"
        );
        let same = json!({"code": 50300, "message": "Busy", "detail": "Busy"});
        assert_eq!(said(503, &same), "503 50300: Busy");
    }
}
