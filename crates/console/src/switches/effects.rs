//! What a change of the switches means for people: who hears which code, and what he would hear without it.

use seckill_gate::{AutoAdmit, Limit, Limits, PerLimit, Switches};
use seckill_sale::{Challenge, Code};
use serde::Serialize;

/// Somebody hears something else.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Effect {
    who: String,
    /// The code of the answer; 0: what he asked for.
    hears: u32,
    instead_of: String,
    /// Until when; to be told where it ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

/// The answers to a purchase that is let in.
const LET_IN: &str = "0 while there are units, 40004, 40005";
const NEW_BUYERS: &str = "buyers without a ticket, in a sale that has units";

struct Effects(Vec<Effect>);

impl Effects {
    fn refused(&mut self, who: impl Into<String>, code: Code, instead_of: impl Into<String>) {
        self.add(who.into(), code.number(), instead_of.into());
    }

    /// He hears what he asked for, in the place of `code`.
    fn served(&mut self, who: impl Into<String>, code: Code) {
        self.add(who.into(), 0, code.number().to_string());
    }

    fn add(&mut self, who: String, hears: u32, instead_of: String) {
        let until = None;
        self.0.push(Effect {
            who,
            hears,
            instead_of,
            until,
        });
    }
}

/// What else a change is judged by.
pub(super) struct Circumstances<'a> {
    /// When the change goes back by itself; none: it stays.
    pub(super) until: Option<&'a str>,
    /// Tickets that wait for their order now.
    pub(super) waiting: u64,
    /// The limits that hold where no switch says otherwise.
    pub(super) settings: Limits,
}

/// What is different after the change, the earliest check first.
pub(super) fn effects(before: &Switches, after: &Switches, circumstances: &Circumstances<'_>) -> Vec<Effect> {
    let Circumstances {
        until,
        waiting,
        settings,
    } = *circumstances;
    let mut effects = Effects(Vec::new());
    limits(&mut effects, before, after, settings);
    entrance(&mut effects, before, after);
    // Where nobody is let in nobody comes as far as the rest.
    if after.is_open() {
        share(&mut effects, before, after);
        challenge(&mut effects, before, after);
        backlog(&mut effects, before, after, waiting);
    }
    for effect in &mut effects.0 {
        effect.until = until.map(str::to_owned);
    }
    effects.0
}

/// Whose purchases each limit counts.
const WHOSE: PerLimit<&str> = PerLimit {
    ip: "address",
    network: "network",
    user: "user, in one sale,",
    device: "device",
    activity: "sale",
    node: "node",
};

fn limits(effects: &mut Effects, before: &Switches, after: &Switches, settings: Limits) {
    let both = before.limits.zip(after.limits).zip(settings.buy);
    for (_, (whose, ((before, after), setting))) in WHOSE.zip(both).named() {
        let beyond = |limit: Option<Limit>| match limit {
            Some(limit) => limit.to_string(),
            None => format!("{setting}, the setting"),
        };
        let who = |limit| format!("whoever comes more often from one {whose} than {}", beyond(limit));
        match (before.unwrap_or(setting), after.unwrap_or(setting)) {
            (was, is) if was == is => {}
            (_, Limit::Off) => effects.served(who(before), Code::TooOften),
            (Limit::Off, _) => effects.refused(who(after), Code::TooOften, format!("{LET_IN}: this limit is off")),
            _ => effects.refused(
                who(after),
                Code::TooOften,
                format!("the same beyond {}", beyond(before)),
            ),
        }
    }
}

fn entrance(effects: &mut Effects, before: &Switches, after: &Switches) {
    match (before.is_open(), after.is_open()) {
        (true, false) => effects.refused("every buyer", Code::Paused, format!("{LET_IN}, 40001, 40002")),
        (false, true) => effects.served("every buyer of a running sale", Code::Paused),
        _ => {}
    }
    let owners = "whoever pays or cancels an order";
    match (before.read_only, after.read_only) {
        (false, true) => effects.refused(owners, Code::Paused, "0"),
        (true, false) => effects.served(owners, Code::Paused),
        _ => {}
    }
}

fn share(effects: &mut Effects, before: &Switches, after: &Switches) {
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    let (was, is) = (before.admit_ratio, after.admit_ratio);
    if is < was {
        let who = format!("{} of 100 buyers of a running sale", percent(1.0 - is));
        let instead_of = format!("{LET_IN} for {} of 100", percent(was));
        effects.refused(who, Code::Busy, instead_of);
    } else if was < is {
        let who = format!("{} of 100 buyers of a running sale", percent(is - was));
        effects.served(who, Code::Busy);
    }
    if before.auto_admit != after.auto_admit {
        match after.auto_admit {
            AutoAdmit::Off => effects.served("every buyer while the store is slow", Code::Busy),
            AutoAdmit::On { store_p99_ms, .. } => effects.refused(
                format!(
                    "up to 95 of 100 buyers while one in 100 steps of the store takes longer than {store_p99_ms} ms"
                ),
                Code::Busy,
                LET_IN,
            ),
        }
    }
}

fn challenge(effects: &mut Effects, before: &Switches, after: &Switches) {
    if before.challenge == after.challenge {
        return;
    }
    let who = "buyers without a ticket and without a valid purchase token";
    let asks_for_less = |was: Challenge, is: Challenge| was.covers(is);
    match (before.challenge, after.challenge) {
        (_, Some(Challenge::None)) => effects.served(who, Code::ChallengeFailed),
        (Some(was), Some(is)) if asks_for_less(was, is) => {
            effects.served(format!("{who} of the harder kind"), Code::ChallengeFailed);
        }
        (_, Some(_)) => effects.refused(who, Code::ChallengeFailed, LET_IN),
        // Each sale asks for its own again, whatever that is.
        (Some(was), None) if was != Challenge::None => {
            effects.served(format!("{who}, of sales that ask for less"), Code::ChallengeFailed);
            effects.refused(
                format!("{who}, of sales that ask for more"),
                Code::ChallengeFailed,
                LET_IN,
            );
        }
        (_, None) => effects.refused(
            format!("{who}, of sales that ask for one"),
            Code::ChallengeFailed,
            LET_IN,
        ),
    }
}

fn backlog(effects: &mut Effects, before: &Switches, after: &Switches, waiting: u64) {
    let (was, is) = (before.backlog_max, after.backlog_max);
    if was != is {
        let who = format!("{NEW_BUYERS}, once {is} tickets wait for their order ({waiting} do now)");
        effects.refused(who, Code::BacklogFull, format!("the same once {was} wait"));
    }
    let (was, is) = (before.backlog_resume(), after.backlog_resume());
    if was != is {
        let who = format!("{NEW_BUYERS}, after that until fewer than {is} wait");
        effects.refused(who, Code::BacklogFull, format!("the same until fewer than {was} wait"));
    }
    let (was, is) = (before.backlog_oldest_max_s, after.backlog_oldest_max_s);
    let who = |seconds| format!("{NEW_BUYERS}, while the oldest ticket waits for longer than {seconds} s");
    match is {
        _ if was == is => {}
        0 => effects.served(who(was), Code::BacklogFull),
        _ => effects.refused(who(is), Code::BacklogFull, LET_IN),
    }
}

#[cfg(test)]
#[path = "effects_tests.rs"]
mod tests;
