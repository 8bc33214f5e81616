//! What happens when all heals: people buy the rest, what waits is worked off, and the auditor looks at all of it.

use std::cell::RefCell;
use std::rc::Rc;

use seckill_flow::Fix;
use seckill_ledger::PageRequest;
use seckill_sale::{Buyer, Figures, TicketState};
use seckill_stock::Stock;

use crate::actions::{
    activity_id, buy_one, ears, move_clock, operator_context, plain_ticket, progress_of, settle, tick, user_id,
};
use crate::auditor::{SaleAtEnd, StoreBuyer};
use crate::world::{Death, World};

/// Time that passes at once while healing: a lease and the longest wait for another attempt, in milliseconds.
const LEASE_MS: i64 = 31_000;

/// Rounds of work after which nothing may wait any more.
const ROUNDS_MAX: u32 = 40;

impl World {
    pub(crate) fn heal(&mut self) {
        if self.is_violated() {
            return;
        }
        self.weather.note("all heals");
        // Leases and waits that were given while the clock was ahead end when it is there again.
        let behind_ms = self.auditor.borrow().latest_moment() - self.now_ms();
        move_clock(self, behind_ms);
        self.weather.set_ledger_down(false);
        self.weather.set_lost_replies(0);
        self.weather.cure();
        self.ground.disk.inner.clear_faults();
        self.ground.disk.inner.limit_space(u64::MAX);
        if self.process.as_ref().is_some_and(|process| process.engine.is_broken()) {
            self.die(Death::Killed);
        }
        if self.process.is_none() {
            self.start();
        }
        if self.is_violated() {
            return;
        }
        self.process().store.set_backlog_max(200_000);
        self.settle_down();
        let errands = self.tasks.errands();
        if !errands.is_empty() {
            self.auditor
                .borrow_mut()
                .fail("everybody is answered", format!("{errands:?}"));
        }
    }

    /// Strangers come one by one until each sale says that it is sold out, or is over: no unit is left lying.
    pub(crate) fn sell_rest(&mut self) {
        const STRANGERS_MAX: u64 = 60;
        self.tick_now();
        for activity in self.sales.clone() {
            for stranger in 0..STRANGERS_MAX {
                if self.is_violated() {
                    return;
                }
                buy_one(self, activity, &format!("stranger{stranger}"), 0, 1);
                self.settle_down();
                if self.auditor.borrow().refused_last() {
                    break;
                }
            }
        }
        let rest = self.sales.clone();
        for activity in rest {
            let left = self.process().store.stock_left(activity_id(activity));
            let said = self.auditor.borrow().sold_out_last(activity);
            if said && left.is_some_and(|left| left != 0) {
                let detail = format!("activity {activity} has {left:?} left");
                self.auditor.borrow_mut().fail("sold out means sold out", detail);
            }
        }
    }

    pub(crate) fn tick_now(&mut self) {
        if self.is_violated() {
            return;
        }
        tick(self);
        self.settle_down();
    }

    /// Workers, scheduler and operators work until nothing waits.
    pub(crate) fn work_off(&mut self) {
        for _ in 0..ROUNDS_MAX {
            if self.is_violated() {
                return;
            }
            move_clock(self, LEASE_MS);
            self.tick_now();
            let letters = self.resolve_letters();
            settle(self);
            self.settle_down();
            let depth = seckill_queue::Queue::depth(&*self.process().store);
            if depth.tickets == 0 && !letters {
                self.tick_now();
                return;
            }
        }
        self.auditor
            .borrow_mut()
            .fail("nothing waits when all is quiet", "the queue is not empty".to_owned());
    }

    /// Retries or discards every parked letter, or leaves them all; says whether there was work.
    fn resolve_letters(&mut self) -> bool {
        let choice = self.random.below(4);
        if self.is_violated() || choice == 0 {
            return false;
        }
        let (operator, context) = (self.process().operator.clone(), operator_context(self));
        let (auditor, weather) = ears(self);
        let any = Rc::new(RefCell::new(false));
        let seen = any.clone();
        auditor.borrow_mut().revival_asked();
        self.errand("resolve letters".to_owned(), async move {
            let page = PageRequest {
                cursor: None,
                limit: PageRequest::LIMIT_MAX,
            };
            let letters = operator.dead_letters(page).await.expect("all is healed").rows;
            for letter in letters {
                if letter.state != seckill_ledger::DeadLetterState::Parked {
                    continue;
                }
                *seen.borrow_mut() = true;
                let done = if choice == 1 {
                    operator
                        .discard_dead_letter(letter.id, "the end".to_owned(), context.clone())
                        .await
                } else {
                    operator.retry_dead_letter(letter.id, context.clone()).await
                };
                weather.note(&format!("letter of {}: {done:?}", letter.ticket));
                match done {
                    Ok(_) => {}
                    // The sale was closed and forgotten meanwhile; its letters are discarded then.
                    Err(seckill_flow::Error::NoState) => *seen.borrow_mut() = false,
                    Err(error) => auditor
                        .borrow_mut()
                        .fail("a dead letter can be resolved", error.to_string()),
                }
            }
        });
        self.settle_down();
        *any.borrow()
    }

    /// Nothing is left to be put right, and putting it right changes nothing.
    pub(crate) fn reconcile_all(&mut self) {
        for activity in self.sales.clone() {
            for fix in [Fix::Nothing, Fix::Differences] {
                if self.is_violated() {
                    return;
                }
                let operator = self.process().operator.clone();
                let (auditor, weather) = ears(self);
                self.errand(format!("last reconcile of {activity}"), async move {
                    let report = operator.reconcile(activity_id(activity), fix).await;
                    weather.note(&format!("last reconcile of {activity}: {report:?}"));
                    let clean = report.as_ref().is_ok_and(|report| report.differences.is_empty());
                    if !clean {
                        let detail = format!("activity {activity}: {report:?}");
                        auditor.borrow_mut().fail("nothing is left to reconcile", detail);
                    }
                });
                self.settle_down();
            }
        }
    }

    /// Gives the auditor everything that store and results say.
    pub(crate) fn audit_all(&mut self) {
        for activity in self.sales.clone() {
            if self.is_violated() {
                return;
            }
            let (store, results) = (self.process().store.clone(), self.process().results.clone());
            let operator = self.process().operator.clone();
            let (auditor, weather) = ears(self);
            self.errand(format!("last audit of {activity}"), async move {
                let id = activity_id(activity);
                let figures = store.figures(id).await.expect("all is healed");
                let buyers = store
                    .buyers_page(id, 0)
                    .await
                    .expect("all is healed")
                    .unwrap_or_default();
                let sale = figures.map(|figures| at_end(&figures, &buyers));
                weather.note(&format!("at the end of {activity}: {sale:?}"));
                auditor.borrow_mut().at_end(activity, sale.as_ref());
                let holders = auditor.borrow().holders();
                for (_, user) in holders.iter().filter(|holder| holder.0 == activity) {
                    let seen = results.of(id, &user_id(user)).await.expect("all is healed");
                    auditor
                        .borrow_mut()
                        .result_at_end(activity, user, seen.map(progress_of));
                }
                let audit = operator.audit(id).await.expect("all is healed");
                let balanced = audit.balanced == Some(true) || figures.is_none();
                if !balanced {
                    let detail = format!("activity {activity}: {audit:?}");
                    auditor.borrow_mut().fail("the product's audit balances", detail);
                }
            });
            self.settle_down();
        }
        self.auditor.borrow_mut().payments_at_end();
    }
}

fn at_end(figures: &Figures, buyers: &[Buyer]) -> SaleAtEnd {
    SaleAtEnd {
        left: figures.stock_left.cast_signed(),
        accepted: figures.accepted.cast_signed(),
        queued: figures.queued.cast_signed(),
        dead: figures.dead.cast_signed(),
        applied_movement: figures.applied_movement.cast_signed(),
        buyers: buyers.iter().map(buyer_at_end).collect(),
    }
}

fn buyer_at_end(buyer: &Buyer) -> StoreBuyer {
    StoreBuyer {
        user: buyer.user.as_str().to_owned(),
        ticket: plain_ticket(buyer.ticket),
        key: buyer.key.0.to_vec(),
        quantity: buyer.quantity.get().cast_signed(),
        state: match buyer.state {
            TicketState::Queued => "queued",
            TicketState::Dead => "dead",
            TicketState::Succeeded => "succeeded",
            TicketState::Failed(reason) => reason.as_str(),
        },
    }
}
