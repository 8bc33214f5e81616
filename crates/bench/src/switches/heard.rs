//! What buyers heard, when and where, and what that says of a switch. Pure but for the log's lock.

use std::time::Instant;

use super::switch::Switch;

/// Whom a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    Ip,
    User,
    Device,
    Activity,
    Node,
}

impl Scope {
    const ALL: [(Self, &'static [u8]); 5] = [
        (Self::Ip, b"\"scope\":\"ip\""),
        (Self::User, b"\"scope\":\"user\""),
        (Self::Device, b"\"scope\":\"device\""),
        (Self::Activity, b"\"scope\":\"activity\""),
        (Self::Node, b"\"scope\":\"node\""),
    ];

    fn of(body: &[u8]) -> Option<Self> {
        let stands = |text: &[u8]| body.windows(text.len()).any(|window| window == text);
        Self::ALL
            .into_iter()
            .find(|(_, text)| stands(text))
            .map(|(scope, _)| scope)
    }
}

/// What one answer said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said {
    /// Its code; -1 where it had none.
    pub(super) code: i32,
    /// Whom the limit counts that it tells of.
    pub(super) scope: Option<Scope>,
}

impl Said {
    /// Of an answer's code and body.
    pub(super) fn of(code: Option<i32>, body: &[u8]) -> Self {
        let code = code.unwrap_or(-1);
        let is_limited = code == TOO_OFTEN;
        Self {
            code,
            scope: is_limited.then(|| Scope::of(body)).flatten(),
        }
    }
}

const TOO_OFTEN: i32 = 40_003;
const HAS_TICKET: i32 = 40_004;
/// What a busy node may say before anything else.
const BUSY: i32 = 50_300;

/// Who came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// Somebody who was never here before, to the first sale.
    New,
    /// The marked buyer, who has a ticket of the other sale.
    Marked,
}

impl Who {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::New => "a new buyer",
            Self::Marked => "the marked buyer",
        }
    }
}

/// One answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard {
    pub(super) node: usize,
    pub(super) who: Who,
    pub(super) said: Said,
    pub(super) sent: Instant,
    pub(super) at: Instant,
}

/// A switch that is turned, on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) switch: Switch,
    pub(super) on: bool,
}

/// What an answer says of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is done.
    Shows,
    /// It is not, or not yet.
    Contradicts,
    /// Nothing: it was said to somebody whose answers do not show it.
    Unrelated,
    /// Nothing: the node was too busy to say more.
    Busy,
    /// Nobody should have heard that.
    Wrong,
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.switch.name(), if self.on { "on" } else { "off" })
    }
}

impl Turn {
    /// Requests that are let through at each node all the same.
    pub(super) const fn lets_through(self) -> usize {
        if self.on { self.switch.lets_through() } else { 0 }
    }

    pub(super) fn verdict(self, heard: &Heard) -> Verdict {
        let is_refused = heard.said == self.switch.says();
        let is_served = match heard.who {
            Who::New => heard.said.code == 0,
            Who::Marked => heard.said.code == 0 || heard.said.code == HAS_TICKET,
        };
        let counts = heard.who == self.switch.shown_by();
        match (is_refused, is_served) {
            (true, _) if !counts && !self.switch.hits_all() => Verdict::Wrong,
            (true, _) | (_, true) if !counts => Verdict::Unrelated,
            (true, _) | (_, true) if is_refused == self.on => Verdict::Shows,
            (true, _) | (_, true) => Verdict::Contradicts,
            _ if heard.said.code == BUSY => Verdict::Busy,
            _ => Verdict::Wrong,
        }
    }
}

/// What the answers of one node say of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct AtNode {
    /// When the first answer came that shows it.
    pub(super) shown: Option<Instant>,
    /// When the first answer that shows it came of those that were sent behind the last one that contradicts it.
    pub(super) settled: Option<Instant>,
    /// When the last request was sent whose answer contradicts it.
    pub(super) contradicted: Option<Instant>,
    /// How many contradict it.
    pub(super) contradictions: usize,
}

impl AtNode {
    /// Of answers in the order in which they came. What was sent before `since` contradicts nothing, and what came before it shows nothing.
    pub(super) fn of(heard: &[Heard], turn: Turn, node: usize, since: Instant) -> Self {
        let here = || heard.iter().filter(|one| one.node == node);
        let contrary = here().filter(|one| since <= one.sent && turn.verdict(one) == Verdict::Contradicts);
        let (contradicted, contradictions) =
            contrary.fold((None, 0), |(last, count), one| (last.max(Some(one.sent)), count + 1));
        let mut shows = here().filter(|one| since <= one.at && turn.verdict(one) == Verdict::Shows);
        let shown = shows.clone().next().map(|one| one.at);
        let settled = shows.find(|one| contradicted < Some(one.sent)).map(|one| one.at);
        Self {
            shown,
            settled,
            contradicted,
            contradictions,
        }
    }
}

#[cfg(test)]
#[path = "heard_tests.rs"]
mod tests;
