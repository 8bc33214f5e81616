//! What a buyer was told before a restart, and is told after it.

use serde_json::{Value, json};

use crate::http::{Answer, call, get};
use crate::jobs::Jobs;
use crate::outcome::LoadReport;
use crate::target::Target;
use crate::verdict::spread;
use crate::{Error, Result};

/// What one buyer was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) user: String,
    pub(super) ticket: String,
    /// Where his order was written already.
    pub(super) order_no: Option<String>,
}

impl Told {
    /// Up to `count` of those who got a ticket, evenly spread.
    pub(super) fn sample(jobs: &Jobs, load: &LoadReport, count: usize) -> Vec<Self> {
        let winners = spread(&load.winners, count).into_iter();
        let told = winners.map(|(index, ticket)| Self {
            user: jobs.user(index).to_owned(),
            ticket: ticket.into_string(),
            order_no: None,
        });
        told.collect()
    }

    /// Reads the result of a buyer whose order is written.
    ///
    /// # Errors
    /// [`Error::Answer`] where he has none.
    pub(super) fn read_order(&mut self, target: &Target, activity_id: u64) -> Result<()> {
        let answer = self.result(target, activity_id)?;
        self.order_no = order_no(&answer.json());
        match self.order_no {
            Some(_) => Ok(()),
            None => Err(Error::Answer {
                what: format!("the result of {}", self.user),
                status: answer.status,
                body: answer.json().to_string(),
            }),
        }
    }

    /// Asks again, as a buyer would: what he is told that differs.
    ///
    /// # Errors
    /// [`Error::Io`] when the server can't be reached.
    pub(super) fn compare(&self, target: &Target, activity_id: u64) -> Result<Vec<String>> {
        let Self {
            user,
            ticket,
            order_no: order,
        } = self;
        let path = format!("/api/seckill/{activity_id}");
        let again = call(
            target.public,
            "POST",
            &path,
            Some(&target.signer.token(user)),
            Some(&json!({})),
        )?;
        let again_says = again.json();
        let mut said = Vec::new();
        if again.status != 409 || again_says["code"] != 40004 || again_says["data"]["ticket"] != **ticket {
            said.push(format!(
                "{user} held {ticket} and is told: {} {again_says}",
                again.status
            ));
        }
        if order.is_some() {
            let result = self.result(target, activity_id)?.json();
            if order_no(&result) != *order {
                said.push(format!("{user} had order {order:?} and is told: {result}"));
            }
        }
        Ok(said)
    }

    fn result(&self, target: &Target, activity_id: u64) -> Result<Answer> {
        let path = format!("/api/seckill/result/{activity_id}");
        get(target.public, &path, Some(&target.signer.token(&self.user)))
    }
}

fn order_no(result: &Value) -> Option<String> {
    Some(result["data"]["order_no"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::Admin;
    use crate::testing::Stub;
    use crate::token::Signer;

    fn compared(status: u16, ticket: &'static str, order: &'static str) -> usize {
        let stub = Stub::answering(move |request, _| {
            if request.starts_with("POST") {
                Stub::closing(status, &format!(r#"{{"code":40004,"data":{{"ticket":"{ticket}"}}}}"#)).into()
            } else {
                Stub::closing(200, &format!(r#"{{"code":1,"data":{{"order_no":"{order}"}}}}"#)).into()
            }
        });
        let target = Target::of(stub.address, Admin::new(stub.address, "x"), Signer::new(b"k", 1));
        let mut told = Told {
            user: "u".to_owned(),
            ticket: "T1-1-1".to_owned(),
            order_no: None,
        };
        told.read_order(&target, 1).unwrap();
        told.order_no = Some("S1-1-1".to_owned());
        told.compare(&target, 1).unwrap().len()
    }

    #[test]
    fn another_ticket_another_order_and_a_second_admission_are_noticed() {
        assert_eq!(compared(409, "T1-1-1", "S1-1-1"), 0);
        assert_eq!(compared(409, "T1-1-2", "S1-1-1"), 1);
        assert_eq!(compared(409, "T1-1-1", "S1-1-2"), 1);
        assert_eq!(compared(202, "T1-1-1", "S1-1-1"), 1);
    }
}
