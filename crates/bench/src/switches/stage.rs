//! Where switches are turned: the nodes, the buyers' log, and what was found wrong.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::random;

use super::commands::Scene;
use super::heard::{AtNode, Heard, Turn, Verdict};
use super::log::Log;
use super::switch::Switch;
use crate::admin::{Admin, Command, Told};
use crate::process::LOOK_EVERY;
use crate::{Error, Result};

/// A node that does not show a change after so long does not follow it.
const SHOWN_LIMIT: Duration = Duration::from_secs(10);
/// Before each change some time passes, up to this: nodes look at the switches at fixed times, and changes must not fall into step with them.
const APART_MAX: Duration = Duration::from_millis(500);
/// How much earlier than its moment something may happen: clocks are read over a socket.
const EARLY_MAX: Duration = Duration::from_millis(100);

/// The stage.
#[derive(Debug)]
pub(super) struct Stage {
    /// The nodes' admin ports.
    pub(super) admins: Vec<Admin>,
    /// Where the store's time is asked for.
    pub(super) public: SocketAddr,
    pub(super) log: Arc<Log>,
    pub(super) scene: Scene,
    /// How long a change is watched, once every node has shown it.
    pub(super) hold: Duration,
    /// What nobody should have heard, and how often it was.
    pub(super) wrong: BTreeMap<String, u64>,
    /// Answers in the place of which a busy node said 50300.
    pub(super) busy: u64,
}

/// A change, and how the nodes followed it.
#[derive(Debug)]
pub(super) struct Followed {
    /// When it was asked for.
    pub(super) asked: Instant,
    /// From when on it should hold: its command's answer, or its own moment.
    pub(super) since: Instant,
    pub(super) nodes: Vec<AtNode>,
    /// The node that was told, and how long behind its answer it still said otherwise.
    pub(super) own: Option<(usize, Duration)>,
}

impl Stage {
    /// Waits until every node serves both kinds of buyers: the marked one has his ticket then.
    pub(super) fn opens(&self) -> Result<()> {
        [Switch::Entrance, Switch::BlockUser]
            .into_iter()
            .try_for_each(|switch| {
                let turn = Turn { switch, on: false };
                self.watch(turn, Instant::now(), SHOWN_LIMIT)
            })
    }

    /// Has node `by` carry out `command`, which does `turn`, and watches all nodes follow.
    pub(super) fn turn(&mut self, turn: Turn, by: usize, command: &Command) -> Result<Followed> {
        std::thread::sleep(APART_MAX.mul_f64(random()));
        self.log.begin();
        let Told { asked, answered } = self.admins[by].tell(command)?;
        self.watch(turn, asked, SHOWN_LIMIT)?;
        let nodes = self.judge(turn, asked);
        let own = self.log.read(|heard| AtNode::of(heard, turn, by, answered));
        let late = own.contradicted.filter(|_| turn.lets_through() < own.contradictions);
        let late = late.map_or(Duration::ZERO, |last| last.saturating_duration_since(answered));
        if Duration::ZERO < late && !turn.switch.is_looked_at() {
            self.is_wrong(format!(
                "{turn}: the node that was told did not follow before it answered"
            ));
        }
        Ok(Followed {
            asked,
            since: answered,
            nodes,
            own: Some((by, late)),
        })
    }

    /// Watches all nodes do `turn` by themselves at a moment. The log must have begun before it.
    pub(super) fn turns_by_itself(&mut self, turn: Turn, begun: Instant, moment: Instant) -> Result<Followed> {
        let limit = moment.saturating_duration_since(Instant::now()) + SHOWN_LIMIT;
        self.watch(turn, moment, limit)?;
        let is_early = |one: &&Heard| begun <= one.sent && one.at + EARLY_MAX < moment;
        let early = |heard: &[Heard]| {
            let early = heard.iter().filter(is_early);
            early.filter(|one| turn.verdict(one) == Verdict::Shows).count()
        };
        if 0 < self.log.read(early) {
            self.is_wrong(format!("{turn}: before its moment"));
        }
        Ok(self.followed_by_itself(turn, moment))
    }

    /// Waits until every node has done `turn` once by itself, however soon it may undo it.
    pub(super) fn turns_once(&mut self, turn: Turn, begun: Instant, limit: Duration) -> Result<Followed> {
        self.wait(turn, begun, limit, |at| at.shown)?;
        Ok(self.followed_by_itself(turn, begun))
    }

    fn followed_by_itself(&mut self, turn: Turn, moment: Instant) -> Followed {
        Followed {
            asked: moment,
            since: moment,
            nodes: self.judge(turn, moment),
            own: None,
        }
    }

    /// Waits until every node shows it and none contradicts it, and goes on watching for a while.
    fn watch(&self, turn: Turn, since: Instant, limit: Duration) -> Result<()> {
        self.wait(turn, since, limit, |at| at.settled)?;
        std::thread::sleep(self.hold);
        Ok(())
    }

    fn wait(
        &self,
        turn: Turn,
        since: Instant,
        limit: Duration,
        done: impl Fn(&AtNode) -> Option<Instant>,
    ) -> Result<()> {
        let end = Instant::now() + limit;
        loop {
            let is_missing = |heard: &[Heard], node| done(&AtNode::of(heard, turn, node, since)).is_none();
            let nodes = 0..self.admins.len();
            let missing: Vec<_> = self
                .log
                .read(|heard| nodes.filter(|node| is_missing(heard, *node)).collect());
            if missing.is_empty() {
                return Ok(());
            }
            if end <= Instant::now() {
                return Err(Error::TooLate {
                    what: format!("{turn}: nodes {missing:?} have not followed"),
                    limit_s: limit.as_secs(),
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// How each node followed; what is wrong with the answers is noted.
    fn judge(&mut self, turn: Turn, since: Instant) -> Vec<AtNode> {
        let log = Arc::clone(&self.log);
        log.read(|heard| {
            for one in heard {
                match turn.verdict(one) {
                    Verdict::Wrong => {
                        let (who, code) = (one.who.words(), one.said.code);
                        let scope = one.said.scope.map_or(String::new(), |scope| format!(" {scope:?}"));
                        self.is_wrong(format!("{turn}: {who} heard {code}{scope}"));
                    }
                    Verdict::Busy => self.busy += 1,
                    _ => {}
                }
            }
            let nodes = 0..self.admins.len();
            nodes.map(|node| AtNode::of(heard, turn, node, since)).collect()
        })
    }

    pub(super) fn is_wrong(&mut self, said: String) {
        *self.wrong.entry(said).or_default() += 1;
    }

    /// What nobody should have heard, in words.
    pub(super) fn violations(&self) -> impl Iterator<Item = String> {
        self.wrong.iter().map(|(said, count)| format!("{said} ({count} times)"))
    }
}
