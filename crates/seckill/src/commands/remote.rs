//! The admin API of a running server, for the commands that go through it.

mod keys;
mod wording;

use std::net::SocketAddr;

use seckill_bench::address::address_of;
use seckill_bench::http::{self, Content};
use seckill_sale::Code;
use seckill_settings::{Origin, Settings};
use serde_json::Value;

use super::Context;
use crate::cli::AdminArgs;
use crate::exit::{Failure, chain};
use crate::serve::secrets::ADMIN_TOKEN_FILE;

use keys::Keys;
use wording::{asked_for, is_elsewhere, said};

const JSON: &str = "application/json";

/// A server's admin port.
pub(super) struct Remote {
    address: SocketAddr,
    token: String,
    /// Where the token was found.
    token_of: String,
    keys: Keys,
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
            keys: Keys::of(args.idempotency_key.as_deref())?,
        })
    }

    /// A server whose address and token are known.
    pub(super) fn at(address: SocketAddr, token: String) -> Self {
        Self {
            address,
            token,
            token_of: String::new(),
            keys: Keys::made(),
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

    /// Changes; gives `data` of the answer.
    pub(super) fn patch(&self, path: &str, body: &Value) -> Result<Value, Failure> {
        self.call("PATCH", path, Some(body))
    }

    /// Removes; gives `data` of the answer.
    pub(super) fn delete(&self, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        self.call("DELETE", path, body)
    }

    /// Puts something that is no JSON of ours; gives `data` of the answer.
    pub(super) fn put(&self, path: &str, media_type: &str, bytes: &[u8]) -> Result<Value, Failure> {
        self.command("PUT", path, media_type, bytes)
    }

    /// All rows of a list, which `name`s them, page by page.
    pub(super) fn rows(&self, path: &str, name: &str) -> Result<Value, Failure> {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let mut page = self.get(&format!("{path}?limit=500{cursor}"))?;
            if let Value::Array(items) = page[name].take() {
                rows.extend(items);
            }
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(Value::Array(rows)),
            }
        }
    }

    /// Asks for something that is not to be done: none where the server would, but does not have what the body names. It has no key.
    pub(super) fn post_if_there(&self, path: &str, body: &Value) -> Result<Option<Value>, Failure> {
        let json = body.to_string();
        let content = Content {
            media_type: JSON,
            bytes: json.as_bytes(),
            idempotency_key: None,
        };
        match self.send("POST", path, content)? {
            (404, json) if !is_elsewhere(&json) => Ok(None),
            (status, json) => self.data(status, json, None).map(Some),
        }
    }

    fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let json = body.map(Value::to_string).unwrap_or_default();
        self.command(method, path, JSON, json.as_bytes())
    }

    fn command(&self, method: &str, path: &str, media_type: &str, bytes: &[u8]) -> Result<Value, Failure> {
        let key = self.keys.next(method);
        let content = Content {
            media_type,
            bytes,
            idempotency_key: key.as_deref(),
        };
        let (status, json) = self.send(method, path, content)?;
        let is_unknown = json["code"] == Code::OutcomeUnknown.number();
        let done = self.data(status, json, asked_for(path, bytes));
        match key {
            Some(_) if is_unknown => done.map_err(|failure| self.keys.name_in(failure)),
            _ => done,
        }
    }

    /// Status and document of the answer.
    fn send(&self, method: &str, path: &str, content: Content<'_>) -> Result<(u16, Value), Failure> {
        let answer = http::send(self.address, method, path, Some(&self.token), content);
        let answer = answer.map_err(|error| {
            let failure = self.unreached(&error);
            // Where nobody listens, nobody was told.
            let may_be_done = content.idempotency_key.is_some() && !error.is_refused();
            if may_be_done {
                self.keys.name_in(failure)
            } else {
                failure
            }
        })?;
        Ok((answer.status, answer.json()))
    }

    /// What the answer gives, or why it does not; `asked` is what was asked for, where that is one thing.
    fn data(&self, status: u16, mut json: Value, asked: Option<String>) -> Result<Value, Failure> {
        if (200..300).contains(&status) {
            return Ok(json["data"].take());
        }
        let said = said(status, &json);
        Err(match status {
            401 => Failure::failed(format!(
                "{said}. The admin token of {} is not the server's; pass another by SECKILL_ADMIN__TOKEN, or the folder that holds it by \
                 --data-dir",
                self.token_of
            )),
            404 if is_elsewhere(&json) => Failure::failed(format!(
                "{said}. {} is no admin port, but perhaps the public one (server.listen): --admin takes the address of the admin port (admin.listen)",
                self.address
            )),
            404 => Failure::failed(match asked {
                Some(asked) => format!("{said} ({asked})"),
                None => said,
            }),
            400 | 413 | 415 | 422 => Failure::usage(said),
            503 => Failure::unreachable(said).of_layer(json["data"]["layer"].as_str()),
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
