//! What a command on a stopped server found and did: lines as they come, or with `--json` one document at the end.

use std::fmt::Display;

use serde_json::{Map, Value};

use super::Context;
use crate::exit::Outcome;
use crate::logging::print;

/// The lines, or the document.
pub(super) struct Report {
    document: Option<Map<String, Value>>,
}

impl Report {
    /// Nothing yet.
    pub(super) fn new(context: &Context) -> Self {
        Self {
            document: context.json.then(Map::new),
        }
    }

    /// Something for people.
    pub(super) fn line(&self, said: impl Display) -> Outcome {
        match self.document {
            Some(_) => Ok(()),
            None => print(&said.to_string()),
        }
    }

    /// Something for programs.
    pub(super) fn set(&mut self, member: &str, value: impl Into<Value>) {
        if let Some(document) = &mut self.document {
            document.insert(member.to_owned(), value.into());
        }
    }

    /// Prints the document, in which a failure stands besides what was found before it.
    pub(super) fn end(mut self, outcome: Outcome) -> Outcome {
        if let Err(failure) = &outcome {
            self.set("error", failure.to_string());
            self.set("exit_code", failure.exit_code());
        }
        if let Some(document) = self.document {
            print(&Value::from(document).to_string())?;
        }
        outcome
    }
}
