//! How the program ends: exit codes and the one line that says why.

use std::fmt;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    /// The layer that a server could not use; none where it is another failure.
    layer: Option<String>,
}

/// Exit codes. One rule for all commands: what is wrong with what was typed is 2, whoever noticed it, this program or the server that it asked;
/// what is right as it stands and can't be done is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 1: it failed: what was named is not there, or its state does not allow it.
    Failed,
    /// 2: it was asked wrongly: arguments, settings, or values that are out of range or malformed.
    Usage,
    /// 3: a condition that was checked does not hold.
    Violated,
    /// 4: something it depends on can't be reached, or can't be used as it is set.
    Unreachable,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl fmt::Display) -> Self {
        Self {
            kind,
            message: message.to_string(),
            layer: None,
        }
    }

    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self::new(Kind::Failed, message)
    }

    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Kind::Usage, message)
    }

    pub(crate) fn violated(message: impl fmt::Display) -> Self {
        Self::new(Kind::Violated, message)
    }

    pub(crate) fn unreachable(message: impl fmt::Display) -> Self {
        Self::new(Kind::Unreachable, message)
    }

    /// The same, of a layer that the server could not use, by the API's word for it.
    pub(crate) fn of_layer(self, layer: Option<&str>) -> Self {
        let layer = layer.map(str::to_owned);
        Self { layer, ..self }
    }

    /// The layer that the server could not use.
    pub(crate) fn layer(&self) -> Option<&str> {
        self.layer.as_deref()
    }

    /// The same, with what else is to be known of it.
    pub(crate) fn and(self, more: impl fmt::Display) -> Self {
        let message = format!("{self}; {more}");
        Self { message, ..self }
    }

    pub(crate) const fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::Violated => 3,
            Kind::Unreachable => 4,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl From<seckill_settings::Error> for Failure {
    fn from(error: seckill_settings::Error) -> Self {
        Self::usage(error)
    }
}

/// What a command comes to.
pub(crate) type Outcome = Result<(), Failure>;

/// An error with all its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let said = next.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = next.source();
    }
    text
}
