//! The handle as a register of the nodes that share the store.

use async_trait::async_trait;
use redis::{FromRedisValue, from_redis_value};
use seckill_sale::{EpochMs, NotReady};
use seckill_stock::Error;
use seckill_stock::members::{FIGURES_BYTES_MAX, Fingerprints, LEASE_MS_MAX, Living, Member, Members};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::keys;
use crate::script::{LEASE, MEMBERS, Script};
use crate::time::Time;

/// A member that was not heard of for so long is forgotten.
const FORGET_AFTER_MS: i64 = 3_600_000;

fn written(member: &Member) -> String {
    json!({
        "id": member.id,
        "roles": member.roles,
        "version": member.version,
        "admin": member.admin,
        "started_at": member.started_at,
        "sent_at": member.sent_at,
        "fingerprints": {
            "database": member.fingerprints.database,
            "user_keys": member.fingerprints.user_keys,
            "purchase_tokens": member.fingerprints.purchase_tokens,
        },
        "figures": member.figures,
    })
    .to_string()
}

/// What is missing, as in what another version wrote, is as good as empty.
fn read(text: &str) -> Option<Member> {
    let said: Value = serde_json::from_str(text).ok()?;
    let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
    let moment = |name: &str| EpochMs(said[name].as_i64().unwrap_or_default());
    let fingerprint = |of: &str| said["fingerprints"][of].as_str().unwrap_or_default().to_owned();
    let roles = said["roles"].as_array().into_iter().flatten();
    Some(Member {
        id: said["id"].as_str()?.to_owned(),
        roles: roles.filter_map(Value::as_str).map(str::to_owned).collect(),
        version: text("version"),
        admin: text("admin"),
        started_at: moment("started_at"),
        sent_at: moment("sent_at"),
        fingerprints: Fingerprints {
            database: fingerprint("database"),
            user_keys: fingerprint("user_keys"),
            purchase_tokens: fingerprint("purchase_tokens"),
        },
        figures: text("figures"),
    })
}

/// Moment, then beat and text of each.
fn living(answer: &[String]) -> Vec<Living> {
    let moment = |text: &String| text.parse().ok().map(EpochMs);
    let Some((now, beats)) = answer.split_first() else {
        return Vec::new();
    };
    let now = moment(now).unwrap_or_default();
    let read = |beat: &[String]| {
        let beat_at = moment(&beat[0])?;
        let member = read(&beat[1])?;
        let age_ms = now.since(beat_at);
        Some(Living {
            member,
            beat_at,
            age_ms,
        })
    };
    let mut living: Vec<_> = beats.chunks_exact(2).filter_map(read).collect();
    living.sort_by(Living::order);
    living
}

impl Engine {
    async fn run<T: FromRedisValue>(&self, script: &Script, keys: &[String], own: &[&str]) -> Result<T, Error> {
        let mut arguments = vec![self.0.time.argument()];
        arguments.extend(own.iter().map(|text| text.as_bytes().to_vec()));
        let answer = self.0.link.script(script, keys, &arguments).await?;
        from_redis_value(answer).map_err(|_not_ours| Error::OutcomeUnknown)
    }

    /// A node beats from its start on, also where there is no sale that would tell it the store's time.
    async fn ask(&self, own: &[&str]) -> Result<Vec<String>, Error> {
        let asked_at = Time::local();
        let answer: Vec<String> = self.run(&MEMBERS, &keys::members(), own).await?;
        if let Some(decided_at) = answer.first().and_then(|moment| moment.parse().ok()) {
            self.0.time.learn(asked_at, EpochMs(decided_at));
        }
        Ok(answer)
    }

    async fn ask_for_lease(&self, name: &str, holder: &str, for_ms: &str) -> Result<Option<String>, Error> {
        let longest = LEASE_MS_MAX.to_string();
        self.run(&LEASE, &[keys::lease(name)], &[holder, for_ms, &longest])
            .await
    }
}

#[async_trait]
impl Members for Engine {
    async fn beat(&self, member: Member) -> Result<(), Error> {
        if FIGURES_BYTES_MAX < member.figures.len() {
            return Err(Error::NotReady(NotReady::StoreFull));
        }
        let forget_after = FORGET_AFTER_MS.to_string();
        let beat = ["beat", &member.id, &written(&member), &forget_after];
        self.ask(&beat).await.map(drop)
    }

    async fn members(&self, age_ms_max: i64) -> Result<Vec<Living>, Error> {
        Ok(living(&self.ask(&["list", &age_ms_max.to_string()]).await?))
    }

    async fn leave(&self, id: &str) -> Result<(), Error> {
        self.ask(&["leave", id]).await.map(drop)
    }

    async fn lease(&self, name: &str, holder: &str, for_ms: i64) -> Result<bool, Error> {
        let for_ms = for_ms.clamp(1, LEASE_MS_MAX).to_string();
        let has = self.ask_for_lease(name, holder, &for_ms).await?;
        Ok(has.as_deref() == Some(holder))
    }

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error> {
        self.ask_for_lease(name, holder, "0").await.map(drop)
    }

    async fn holder(&self, name: &str) -> Result<Option<String>, Error> {
        self.ask_for_lease(name, "", "").await
    }
}
