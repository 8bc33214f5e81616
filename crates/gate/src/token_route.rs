//! Last stage of the token route: a purchase token at once, a challenge, or the look at an answer to one.

use seckill_sale::{ActivityId, Challenge, Refusal};

use crate::challenge::Posed;
use crate::challenge::attempt::{Attempt, Solved};
use crate::purchase_token::{Binding, LIFETIME_MS, PurchaseToken};
use crate::window::check_window;
use crate::{Gate, Identified, Moment};

/// Numbers that nobody can foresee.
#[derive(Debug, Clone, Copy)]
pub struct Random {
    /// Makes a token different from its buyer's last one.
    pub token: u64,
    /// Of it a challenge is made.
    pub challenge: u128,
}

/// What is asked of the token route, as the caller read it from path and body.
#[derive(Debug, Clone, Copy)]
pub struct TokenWish<'a> {
    /// The sale.
    pub activity: ActivityId,
    /// The id of the challenge that an answer came for.
    pub answered: Option<&'a str>,
    /// What a token or a challenge is made of.
    pub random: Random,
}

/// What the token route comes to.
#[derive(Debug)]
pub enum TokenStep {
    /// Nothing has to be solved: a token.
    Issued(PurchaseToken),
    /// This has to be solved first.
    Posed(Posed),
    /// An answer may be compared, once a try was taken.
    Answered(Attempt),
}

impl Gate {
    /// A purchase token, or what the sale asks for before it gives one. Both are given out from
    /// [`crate::PURCHASE_TOKEN_LIFETIME_MS`] before the start on, so that a page can fetch them ahead of the rush and nobody solves anything
    /// the day before. Each call counts as an attempt of its user, but for one with the id of a challenge that is none of his.
    ///
    /// # Errors
    /// The first refusal that applies, in the order of the checks.
    pub fn admit_token(
        &self,
        identified: &Identified<'_>,
        wish: TokenWish<'_>,
        moment: Moment,
    ) -> Result<TokenStep, Refusal> {
        self.check_token(identified, wish, moment)
            .inspect_err(|refusal| self.note_refused(refusal, identified, moment))
    }

    /// All checks of the token route's last stage, in their order.
    fn check_token(
        &self,
        identified: &Identified<'_>,
        wish: TokenWish<'_>,
        moment: Moment,
    ) -> Result<TokenStep, Refusal> {
        let TokenWish {
            activity,
            answered,
            random,
        } = wish;
        let activity = self.catalogue.find(activity)?;
        let device = identified.device();
        self.blocks
            .check(identified.client(), &identified.user, device, moment.now)?;
        self.eligible.check(&activity, &identified.user, identified.level)?;
        let switches = self.switches_at(moment.now);
        switches.check_open(&activity, moment)?;
        check_window(&activity, moment, LIFETIME_MS)?;
        let asked = switches.challenge_of(&activity);
        let binding = Binding {
            user: &identified.user,
            activity: activity.id,
            device,
        };
        let attempt = match (asked, answered) {
            (Challenge::None | Challenge::Token, _) | (_, None) => None,
            (_, Some(id)) => {
                let attempt = self.challenges.check(id, asked, &binding, moment.now);
                Some(attempt.ok_or(Refusal::ChallengeFailed)?)
            }
        };
        self.check_rates(identified, device, activity.id, moment)?;
        if let Some(attempt) = attempt {
            return Ok(TokenStep::Answered(attempt));
        }
        Ok(
            match self.challenges.pose(asked, &binding, moment.now, random.challenge) {
                Some(posed) => TokenStep::Posed(posed),
                None => {
                    let token = self
                        .purchase_tokens
                        .issue(Challenge::Token, &binding, moment.now, random.token);
                    TokenStep::Issued(token)
                }
            },
        )
    }

    /// The token of a buyer whose challenge of this sale is solved; its one use must have been taken.
    #[must_use]
    pub fn solved_token(
        &self,
        identified: &Identified<'_>,
        activity: ActivityId,
        solved: Solved,
        random: Random,
        moment: Moment,
    ) -> PurchaseToken {
        let binding = Binding {
            user: &identified.user,
            activity,
            device: identified.device(),
        };
        self.purchase_tokens
            .issue(solved.kind, &binding, moment.now, random.token)
    }
}
