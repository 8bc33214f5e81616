//! Is the store fit for a sale? Every server that leads is examined: what would lose sales is refused at the start, the rest warned of.

mod rights;
mod rules;

use std::sync::Arc;

use redis::Value;
use seckill_sale::{Finding, Severity};

use crate::durability;
use crate::engine::ConnectError;
use crate::link::{Link, Node};
use crate::options::Options;
use rules::{Kind, RULES};

/// Connects as an engine with these options would, and examines every server that leads. Never empty; what failed keeps an engine from
/// starting. Writes nothing that stays.
pub async fn examine(options: &Options) -> Vec<Finding> {
    match Link::connect(options).await {
        Ok(link) => findings(&link, options).await,
        Err(error) => {
            let detail = error.to_string();
            let (area, sentence) = match ConnectError::from(error) {
                error @ ConnectError::Login(_) => ("login", error.to_string()),
                error => ("address", error.to_string()),
            };
            vec![Finding::new(area, Severity::Failed, format!("{sentence}: {detail}"))]
        }
    }
}

/// The findings on all servers; equal ones once.
pub(crate) async fn findings(link: &Arc<Link>, options: &Options) -> Vec<Finding> {
    let leaders = link.leaders();
    let mut all = vec![Finding::new("address", Severity::Passed, "the store answers")];
    for node in &leaders {
        let mut of_server = of_server(link, node, options).await;
        for finding in &mut of_server {
            if 1 < leaders.len() && finding.severity != Severity::Passed {
                finding.sentence = format!("{}: {}", node.spot, finding.sentence);
            }
        }
        for finding in of_server {
            if !all.contains(&finding) {
                all.push(finding);
            }
        }
    }
    if link.is_cluster() {
        all.push(match link.is_covered() {
            true => Finding::new("servers", Severity::Passed, "every slot of the cluster has a master"),
            false => Finding::new(
                "servers",
                Severity::Failed,
                "slots of the cluster have no master: its sales could not be run",
            ),
        });
    }
    all.extend(durability::finding(options, link).await);
    all
}

async fn of_server(link: &Arc<Link>, node: &Arc<Node>, options: &Options) -> Vec<Finding> {
    let mut info = redis::cmd("INFO");
    let said: redis::RedisResult<String> = node.query(info.arg("server")).await;
    let info = match said {
        Ok(info) => info,
        Err(error) if matches!(error.code(), Some("NOAUTH")) => {
            return vec![Finding::new(
                "login",
                Severity::Failed,
                "the store wants a password, and none was given",
            )];
        }
        Err(error) if error.code().is_none() => {
            let severity = if link.is_cluster() {
                Severity::Warning
            } else {
                Severity::Failed
            };
            return vec![Finding::new(
                "servers",
                severity,
                format!("a server does not answer: {error}"),
            )];
        }
        Err(_) => String::new(),
    };
    let mut found = rules::of_info(&info, link.is_cluster());
    found.push(role(node).await);
    found.extend(rights::examine(link, node).await);
    let kind = Kind {
        is_cluster: link.is_cluster(),
        is_sentinel: link.is_sentinel(),
        waits_for_copies: options.durability.copies_min() != 0,
    };
    for rule in RULES.iter().filter(|rule| rule.is_for(kind)) {
        let mut command = redis::cmd("CONFIG");
        let pair: redis::RedisResult<Vec<String>> = node.query(command.arg("GET").arg(rule.setting)).await;
        found.push(rule.judge(pair.ok().and_then(|pair| pair.into_iter().nth(1)).as_deref()));
    }
    found
}

async fn role(node: &Arc<Node>) -> Finding {
    let said: redis::RedisResult<Vec<Value>> = node.query(&redis::cmd("ROLE")).await;
    let role = said.map(|role| role.into_iter().next().map(redis::from_redis_value::<String>));
    match role {
        Ok(Some(Ok(role))) if role == "master" => Finding::new("role", Severity::Passed, "the server leads"),
        Ok(Some(Ok(role))) => Finding::new(
            "role",
            Severity::Failed,
            format!("the server is a {role}: the address must be the master's, or name its sentinels or cluster"),
        ),
        _ => Finding::new(
            "role",
            Severity::Warning,
            "the server does not say whether it leads (ROLE)",
        ),
    }
}
