//! The look at an answer to a challenge: a try is taken before the answer is compared, and the one use before a token is given.
//!
//! Both are permits of the store, so that neither many requests at once nor many nodes nor a restart give more of them.

use seckill_gate::{Attempt, CHALLENGE_TRIES_MAX, Solved};
use seckill_sale::Refusal;
use seckill_stock::Stock;

use crate::error::Error;

/// Whether the answer is right and the first right one.
///
/// # Errors
/// [`Error::Unsolved`]; what the store says where it gives no answer. A try may be gone then, or the use of the challenge.
pub(crate) async fn solve(stock: &dyn Stock, attempt: &Attempt, answer: &str) -> Result<Solved, Error> {
    let Some(tries_left) = take_try(stock, attempt).await? else {
        return Err(Error::Unsolved { tries_left: 0 });
    };
    let Some(solved) = attempt.solved_by(answer) else {
        return Err(Error::Unsolved { tries_left });
    };
    match stock.permit(solved.use_key(), 1, solved.until()).await {
        Ok(true) => Ok(solved),
        Ok(false) => Err(Error::Unsolved { tries_left: 0 }),
        Err(error) => Err(Refusal::from(error).into()),
    }
}

/// Takes the next try and says how many are left then; none where there was none. The first costs one call, each further one a call more:
/// which one it is tells the buyer how many he has left, and most need one.
async fn take_try(stock: &dyn Stock, attempt: &Attempt) -> Result<Option<u32>, Error> {
    for nth in 1..=CHALLENGE_TRIES_MAX {
        let taken = stock.permit(attempt.tries_key(), nth, attempt.until()).await;
        if taken.map_err(Refusal::from)? {
            return Ok(Some(CHALLENGE_TRIES_MAX - nth));
        }
    }
    Ok(None)
}
