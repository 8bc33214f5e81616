//! May the user do what the engine does? It is tried out: on keys named like those of a sale, which are gone in the end.

use std::sync::Arc;

use redis::{RedisError, Value};

use crate::keys::probes;
use crate::link::{Asked, Failure, Link, Node, slot};
use crate::script::PROBE;
use seckill_sale::{Finding, Severity};

const AREA: &str = "rights";
/// Names that are tried for a key which this server has: three servers need a handful.
const NAMES_MAX: u32 = 10_000;

pub(super) async fn examine(link: &Arc<Link>, node: &Arc<Node>) -> Vec<Finding> {
    let of_sale = (0..NAMES_MAX)
        .map(|n| format!("{{a:0:p{n}}}"))
        .find(|tag| is_at(link, node, tag));
    let of_permit = (0..NAMES_MAX)
        .map(|n| format!("{{p:{n}}}"))
        .find(|tag| is_at(link, node, tag));
    let of_all = Some("{seckill}".to_owned()).filter(|tag| is_at(link, node, tag));
    let mut missing = Vec::new();
    // Permits and keys of all sales have no channel.
    let channel = of_sale.as_ref().map(|tag| format!("{tag}:changed")).unwrap_or_default();
    let places = of_sale.iter().map(|tag| (tag, channel.as_str()));
    let others = of_permit.iter().chain(&of_all).map(|tag| (tag, ""));
    for (tag, channel) in places.chain(others) {
        match probe(node, tag, channel).await {
            Ok(refused) => missing.extend(refused),
            Err(error) => return vec![refused(&error)],
        }
    }
    if let Some(tag) = of_sale
        && let Err(error) = listen(node, &tag).await
    {
        missing.push(match error.code() {
            Some("NOPERM") => format!("ssubscribe ({error})"),
            _ => return vec![refused(&error)],
        });
    }
    missing.sort();
    missing.dedup();
    vec![match missing.is_empty() {
        true => Finding::new(AREA, Severity::Passed, "the user may run every command that is needed"),
        false => Finding::new(
            AREA,
            Severity::Failed,
            format!("the user may not run what is needed: {}", missing.join(", ")),
        ),
    }]
}

fn is_at(link: &Link, node: &Arc<Node>, tag: &str) -> bool {
    let leader = link.leader(slot(tag.as_bytes()));
    leader.is_some_and(|leader| Arc::ptr_eq(&leader, node))
}

/// The commands that were refused, by name.
async fn probe(node: &Arc<Node>, tag: &str, channel: &str) -> Result<Vec<String>, RedisError> {
    let keys = probes(tag);
    let arguments = [channel.as_bytes().to_vec()];
    let asked = Asked::Script {
        script: &PROBE,
        keys: &keys,
        arguments: &arguments,
    };
    let answer = node.ask(&asked, false).await.map_err(Failure::into_error)?;
    let refused: Vec<String> = redis::from_redis_value(answer)?;
    Ok(refused.iter().map(|words| named(words)).collect())
}

/// "set NOPERM …" names a command; where keys or channels are what was refused, the server's words follow.
fn named(words: &str) -> String {
    let (command, said) = words.split_once(' ').unwrap_or((words, ""));
    match ["key", "channel"].iter().any(|what| said.contains(what)) {
        true => format!("{command} ({said})"),
        false => command.to_owned(),
    }
}

/// Whether messages can be listened to.
async fn listen(node: &Arc<Node>, tag: &str) -> Result<(), RedisError> {
    let mut connection = node.connector.connect_told(&node.spot, |_| {}).await?;
    let mut subscribe = redis::cmd("SSUBSCRIBE");
    subscribe.arg(format!("{tag}:changed"));
    let _confirmed: Value = subscribe.query_async(&mut connection).await?;
    Ok(())
}

fn refused(error: &RedisError) -> Finding {
    match error.code() {
        Some("NOPERM") => Finding::new(
            AREA,
            Severity::Failed,
            format!("the user may not run scripts or use the keys {{a:*, {{p:*, {{seckill}}*: {error}"),
        ),
        _ => Finding::new(
            AREA,
            Severity::Warning,
            format!("what the user may do could not be tried: {error}"),
        ),
    }
}
