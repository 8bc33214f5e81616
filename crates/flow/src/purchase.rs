//! A purchase, from the gate's admission to the "queued" answer: 1 access → 2 stock → 3 queue, the main flow of the product.
//!
//! Nothing here waits for a database. Refusals that memory alone can give cost no claim; everything else is one durable step of the store.

use std::sync::Arc;
use std::time::Duration;

use seckill_sale::{ActivityId, Buyer, Claim, Quantity, Refusal, RequestId, RequestKey, SharedRate, Ticket, UserId};
use seckill_stock::{Answer, Claims, Glance, Stock};

/// How long a purchase waits for the count of a rate that all nodes share.
const RATE_WITHIN: Duration = Duration::from_millis(100);

/// A purchase that passed the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The sale.
    pub activity: ActivityId,
    /// The buyer.
    pub user: UserId,
    /// Units wanted.
    pub quantity: Quantity,
    /// What makes it idempotent: the digest of the client's key, or random bits.
    pub key: RequestKey,
    /// The request, for logs.
    pub request_id: RequestId,
    /// Whether the challenge that the activity asks for was met (or none is asked). A buyer who holds a ticket needs none.
    pub challenge_met: bool,
    /// Rates that all nodes count together, of which he takes a permit each; asked of the store where memory alone has no answer.
    pub rates: Vec<SharedRate>,
}

impl Wish {
    fn claim(&self) -> Claim {
        Claim {
            activity: self.activity,
            user: self.user.clone(),
            key: self.key,
            quantity: self.quantity,
            request_id: self.request_id.clone(),
        }
    }
}

/// An accepted purchase: durable, and in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Queued {
    /// The buyer's ticket.
    pub ticket: Ticket,
    /// Whether this very request was accepted before.
    pub replayed: bool,
    /// Tickets accepted earlier that are not settled yet.
    pub ahead: u64,
}

/// The purchase flow of one core.
#[derive(Clone)]
pub struct Purchase {
    stock: Arc<dyn Stock>,
    claims: Claims,
}

impl Purchase {
    /// The flow over `stock`, with the claims of this core gathered by `claims`.
    #[must_use]
    pub const fn new(stock: Arc<dyn Stock>, claims: Claims) -> Self {
        Self { stock, claims }
    }

    /// Buys.
    ///
    /// # Errors
    /// The first refusal that applies. [`Refusal::OutcomeUnknown`] only where asking a second time gave no answer either.
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn keeps its argument twice, and this future is made for every click"
    )]
    pub fn purchase(&self, wish: Wish) -> impl Future<Output = Result<Queued, Refusal>> + Send + '_ {
        async move {
            match self.at_once(&wish) {
                Some(answer) => answer,
                None => self.claim(wish).await,
            }
        }
    }

    /// The answer that memory alone gives: to somebody who holds a ticket, and after the sell-out.
    #[must_use]
    pub fn at_once(&self, wish: &Wish) -> Option<Result<Queued, Refusal>> {
        match self.stock.glance(wish.activity, &wish.user) {
            Glance::Holds(buyer) => Some(self.queued(same_request(*buyer, wish))),
            Glance::SoldOut => Some(Err(Refusal::SoldOut)),
            Glance::Stranger | Glance::Ask => None,
        }
    }

    /// The store's answer. Asks for nothing that [`Purchase::at_once`] answers.
    ///
    /// # Errors
    /// As [`Purchase::purchase`].
    #[expect(
        clippy::manual_async_fn,
        reason = "an async fn keeps its argument twice, and this future is made for every click"
    )]
    pub fn claim(&self, wish: Wish) -> impl Future<Output = Result<Queued, Refusal>> + Send + '_ {
        async move {
            if !wish.challenge_met {
                return self.without_challenge(&wish).await;
            }
            if !wish.rates.is_empty() {
                Box::pin(self.take_permits(&wish.rates)).await?;
            }
            let answer = match self.claims.claim(wish.claim()).await {
                // The answer was lost. The claim is idempotent by its key, so asking once more tells what happened and changes nothing twice.
                Err(Refusal::OutcomeUnknown) => match self.claims.claim(wish.claim()).await {
                    // The second time it did not reach the store, or one that is broken by now. That says nothing about the first time.
                    Err(Refusal::Busy | Refusal::Late | Refusal::NotReady(_)) => Err(Refusal::OutcomeUnknown),
                    answer => answer,
                },
                answer => answer,
            };
            self.queued(answer)
        }
    }

    /// Takes a permit of each rate, of all at the same time. Where the store gives no answer soon nobody is refused for that: each node has
    /// counted by itself before, and the claim will tell what is wrong.
    async fn take_permits(&self, rates: &[SharedRate]) -> Result<(), Refusal> {
        let asked = rates.iter().map(|rate| {
            let answer = tokio::time::timeout(RATE_WITHIN, self.stock.take_of_rate(rate));
            async move {
                match answer.await {
                    Ok(Ok(Some(wait_ms))) => Err(rate.refusal(wait_ms)),
                    Ok(Ok(None)) => Ok(()),
                    Ok(Err(error)) => {
                        tracing::debug!(%error, "a rate of all nodes was not counted");
                        Ok(())
                    }
                    Err(_late) => Ok(()),
                }
            }
        });
        futures_util::future::join_all(asked).await.into_iter().collect()
    }

    /// The answer to a request that was accepted before, although the gate would refuse it now (paused, ended): a lost reply is
    /// cured by asking again with the same key at any time.
    pub async fn replay(
        &self,
        activity: ActivityId,
        user: &UserId,
        key: RequestKey,
        quantity: Quantity,
    ) -> Option<Queued> {
        let buyer = self.stock.buyer(activity, user).await.ok().flatten()?;
        let same = buyer.key == key && buyer.quantity == quantity;
        same.then(|| Queued {
            ticket: buyer.ticket,
            replayed: true,
            ahead: self.ahead(buyer.ticket),
        })
    }

    /// Tickets accepted earlier than `ticket` that are not settled yet. Costs no IO and never rises.
    #[must_use]
    pub fn ahead(&self, ticket: Ticket) -> u64 {
        let settled = self.stock.settled_up_to(ticket).unwrap_or(u64::MAX);
        ticket.sequence.saturating_sub(1).saturating_sub(settled)
    }

    /// A holder is told his ticket whether or not he met the challenge; nobody else gets past it.
    async fn without_challenge(&self, wish: &Wish) -> Result<Queued, Refusal> {
        match self.stock.buyer(wish.activity, &wish.user).await? {
            Some(buyer) => self.queued(same_request(buyer, wish)),
            None => Err(Refusal::ChallengeFailed),
        }
    }

    fn queued(&self, answer: Answer) -> Result<Queued, Refusal> {
        let reserved = answer?;
        Ok(Queued {
            ticket: reserved.ticket,
            replayed: reserved.replayed,
            ahead: self.ahead(reserved.ticket),
        })
    }
}

/// What a buyer who holds a ticket hears: the ticket again, where it is the same request.
fn same_request(buyer: Buyer, wish: &Wish) -> Answer {
    if buyer.key != wish.key {
        return Err(Refusal::AlreadyTook(Box::new(buyer)));
    }
    if buyer.quantity != wish.quantity {
        return Err(Refusal::KeyReused);
    }
    Ok(seckill_stock::Reserved {
        ticket: buyer.ticket,
        accepted_at: buyer.accepted_at,
        replayed: true,
    })
}
