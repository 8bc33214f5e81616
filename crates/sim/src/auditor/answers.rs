//! Answers to buyers, each judged when it is heard against all that was asked and answered before.

use super::history::{Answer, End, Holding, Progress, Request, SoldOut, Span, Status, possible};
use super::{Auditor, TicketNumber};

impl Auditor {
    /// A buyer asks; gives the number of his request.
    pub(crate) fn asked(&mut self, activity: i64, user: &str, key: &[u8], quantity: i64) -> usize {
        self.requests.push(Request {
            activity,
            user: user.to_owned(),
            key: key.to_vec(),
            quantity,
            span: Span::from(self.weather.step()),
        });
        self.requests.len() - 1
    }

    /// He hears.
    pub(crate) fn answered(&mut self, number: usize, answer: Answer) {
        let step = self.weather.step();
        self.requests[number].span.ended = Some(step);
        let request = self.requests[number].clone();
        let holder = (request.activity, request.user.clone());
        // What he had been told before he asked.
        let told = self
            .holdings
            .get(&holder)
            .filter(|held| held.accepted.1 < request.span.began);
        let told = told.cloned();
        self.refused_last = !matches!(answer, Answer::Queued { .. });
        match answer {
            Answer::Queued { ticket, replayed } => self.queued(&request, ticket, replayed, told.as_ref()),
            Answer::AlreadyTook {
                ticket,
                user,
                key,
                quantity,
            } => {
                let own = user == request.user && ticket.activity == request.activity;
                self.check(own, "a buyer is told his own ticket only", || {
                    format!("{request:?}: {ticket:?} of {user}")
                });
                let same = key == request.key && quantity == request.quantity;
                self.check(!same, "the same request gets the same ticket", || {
                    format!("{request:?}: 40004")
                });
                self.hold(&request, ticket, &key, quantity);
            }
            Answer::KeyReused => {
                let mut others = self.requests.iter();
                let known = others.any(|other| {
                    let same_key = other.user == request.user && other.key == request.key;
                    same_key && other.activity == request.activity && other.quantity != request.quantity
                });
                self.check(known, "a key is called used only where it was", || {
                    format!("{request:?}")
                });
            }
            Answer::SoldOut => {
                self.check(told.is_none(), "a holder is never told that it is sold out", || {
                    format!("{request:?} holds {told:?}")
                });
                self.sold_out.push(SoldOut {
                    activity: request.activity,
                    quantity: request.quantity,
                    span: request.span,
                });
            }
            Answer::NotStarted | Answer::Ended | Answer::Paused | Answer::AboveLimit => {
                self.refused(&request, &answer, told.as_ref());
            }
            Answer::Nothing(_) => {}
        }
    }

    fn queued(&mut self, request: &Request, ticket: TicketNumber, replayed: bool, told: Option<&Holding>) {
        let own = ticket.activity == request.activity;
        self.check(own, "a ticket belongs to the sale that was asked", || {
            format!("{request:?}: {ticket:?}")
        });
        self.check(replayed || told.is_none(), "a buyer is admitted once", || {
            format!("{request:?} is admitted as {ticket:?} and holds {told:?}")
        });
        self.hold(request, ticket, &request.key.clone(), request.quantity);
    }

    /// The buyer of `request` learns that he holds a ticket.
    pub(super) fn hold(&mut self, request: &Request, ticket: TicketNumber, key: &[u8], quantity: i64) {
        let holder = (request.activity, request.user.clone());
        if let Some(held) = self.holdings.get(&holder) {
            let same = held.ticket == ticket && held.key == key && held.quantity == quantity;
            let detail = format!("{holder:?} was told {held:?}, now {ticket:?} x{quantity} by {key:?}");
            self.check(same, "a buyer's ticket is the same for ever", || detail);
            return;
        }
        let owner = self
            .owners
            .entry(ticket)
            .or_insert_with(|| request.user.clone())
            .clone();
        self.check(owner == request.user, "a ticket has one owner", || {
            format!("{ticket:?} of {owner} and {}", request.user)
        });
        let asked = self.requests.iter().filter(|other| {
            let same = other.user == request.user && other.key == key;
            same && other.activity == request.activity && other.quantity == quantity
        });
        let Some(began) = asked.map(|other| other.span.began).min() else {
            let detail = format!("{holder:?} holds {ticket:?} x{quantity} by {key:?}");
            self.fail("no ticket without a request", detail);
            return;
        };
        let accepted = (began, self.weather.step());
        self.holdings.insert(
            holder,
            Holding {
                ticket,
                key: key.to_vec(),
                quantity,
                accepted,
            },
        );
        self.admitted(request.activity, quantity, accepted);
    }

    /// An admission between two steps, against status, limit and whoever was told "sold out" before.
    fn admitted(&mut self, activity: i64, quantity: i64, accepted: (u64, u64)) {
        let sale = &self.sales[&activity];
        let runs = possible(&sale.statuses, accepted.0, accepted.1)
            .any(|status| matches!(status, Status::Running | Status::PausedForAWhile));
        let within = quantity <= sale.limit;
        self.check(runs, "nobody is admitted once a sale is paused or closed", || {
            format!("activity {activity}, between steps {accepted:?}")
        });
        self.check(within, "nobody gets more than the limit", || {
            format!("{quantity} in activity {activity}")
        });
        let returned_at = self.weather.returned_at(activity);
        let lied_to = self.sold_out.iter().find(|told| {
            let before = told.activity == activity && told.span.is_before(accepted.0);
            before && told.quantity <= quantity && returned_at.is_none_or(|at| at < told.span.began)
        });
        if let Some(told) = lied_to {
            let detail = format!("{told:?}, but {quantity} admitted between steps {accepted:?}, nothing returned");
            self.fail("sold out means sold out", detail);
        }
    }

    fn refused(&mut self, request: &Request, answer: &Answer, told: Option<&Holding>) {
        let (from, to) = (request.span.began, self.weather.step());
        let same = told.is_some_and(|held| held.key == request.key && held.quantity == request.quantity);
        self.check(!same, "the same request gets the same ticket", || {
            format!("{request:?} holds {told:?} and hears {answer:?}")
        });
        let sale = &self.sales[&request.activity];
        let (earliest, _) = self.clock_between(from, to);
        let latest_ever = self.clock_between(0, to).1;
        let first_end = possible(&sale.ends, 0, to).copied().min().unwrap_or(i64::MAX);
        let honest = match answer {
            Answer::NotStarted => earliest < sale.starts_at,
            // Once the end has passed, the sale may have been closed for good.
            Answer::Ended => {
                first_end <= latest_ever || possible(&sale.statuses, from, to).any(|status| *status == Status::Closed)
            }
            Answer::Paused => {
                let fenced = self
                    .commands
                    .iter()
                    .any(|command| command.may_fence(request.activity, from, to));
                let paused = |status: &Status| matches!(status, Status::Paused | Status::PausedForAWhile);
                fenced || possible(&sale.statuses, from, to).any(paused)
            }
            Answer::AboveLimit => sale.limit < request.quantity,
            _ => true,
        };
        self.check(honest, "a refusal says what is so", || {
            format!("{request:?} hears {answer:?}")
        });
    }

    /// Whether the last answer of all was a refusal.
    pub(crate) const fn refused_last(&self) -> bool {
        self.refused_last
    }

    /// Whether the last answer in this sale was "sold out".
    pub(crate) fn sold_out_last(&self, activity: i64) -> bool {
        let last = self.sold_out.iter().rev().find(|told| told.activity == activity);
        let requests = self.requests.iter().rev().find(|request| request.activity == activity);
        last.zip(requests)
            .is_some_and(|(told, request)| told.span == request.span)
    }

    /// A buyer looks at his result; gives the step at which he began.
    pub(crate) fn looks(&self) -> u64 {
        self.weather.step()
    }

    /// He is told how far it is.
    pub(crate) fn looked(&mut self, activity: i64, user: &str, began: u64, seen: Option<(TicketNumber, Progress)>) {
        let holder = (activity, user.to_owned());
        let held = self.holdings.get(&holder).cloned();
        let Some((ticket, progress)) = seen else {
            let told = held.filter(|held| held.accepted.1 < began);
            self.check(told.is_none(), "a ticket can always be looked up", || {
                format!("{holder:?} holds {told:?}")
            });
            return;
        };
        match held {
            Some(held) => {
                let same = held.ticket == ticket;
                self.check(same, "a buyer's ticket is the same for ever", || {
                    format!("{holder:?} was told {held:?}, his result names {ticket:?}")
                });
            }
            None => {
                let asked = self
                    .requests
                    .iter()
                    .any(|one| one.activity == activity && one.user == user);
                self.check(asked, "no ticket without a request", || {
                    format!("{holder:?} has {ticket:?}")
                });
            }
        }
        self.progressed(holder, began, progress);
    }

    fn progressed(&mut self, holder: (i64, String), began: u64, progress: Progress) {
        let step = self.weather.step();
        let ended = self.ends.get(&holder).cloned();
        match progress {
            Progress::Queued { ahead } => {
                let before = ended.filter(|(heard, _)| *heard < began);
                self.check(before.is_none(), "a final result stays", || {
                    format!("{holder:?} is queued after {before:?}")
                });
                let last = self.ahead.insert(holder.clone(), (step, ahead));
                let rose = last.is_some_and(|(heard, last)| heard < began && last < ahead);
                let allowed = !rose || self.revived;
                self.check(allowed, "the number of those ahead never rises", || {
                    format!("{holder:?}: {last:?}, then {ahead}")
                });
            }
            Progress::Ended(end) => {
                let same = ended.is_none_or(|(_, before)| before == end);
                self.check(same, "a final result stays", || format!("{holder:?} hears {end:?}"));
                self.check_end(&holder, &end);
                self.ends.entry(holder).or_insert((step, end));
            }
        }
    }

    /// A final result that can be seen stands in the rows already.
    fn check_end(&mut self, holder: &(i64, String), end: &End) {
        let mut orders = self.books.orders.values();
        let order = orders.find(|order| order.activity == holder.0 && order.user == holder.1);
        let stands = match end {
            End::Succeeded { order_no } => order.is_some_and(|order| order.order_no == *order_no),
            End::Failed { .. } => order.is_none(),
        };
        let detail = format!("{holder:?} hears {end:?}, the ledger has {order:?}");
        self.check(stands, "a result that is told stands in the ledger", || detail);
        let no_reason = !matches!(
            end,
            End::Failed {
                reason: "store_oversold"
            }
        );
        self.check(no_reason, "the store never admits more than the ledger has", || {
            format!("{holder:?}")
        });
    }
}
