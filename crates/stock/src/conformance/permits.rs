//! Facts about permits.

use std::task::{Context, Poll, Waker};

use super::{EpochMs, Fixture};

const UNTIL: EpochMs = EpochMs(Fixture::OPENS.0 + 60_000);

async fn taken(fixture: &Fixture, key: u8, max: u32, until: EpochMs) -> bool {
    let answer = fixture.stock.permit([key; 16], max, until).await;
    answer.expect("the store answers")
}

/// Permits of other keys are others, and no sale needs to have a state.
pub async fn a_permit_of_one_is_taken_once(fixture: &Fixture) {
    assert!(taken(fixture, 1, 1, UNTIL).await);
    for _ in 0..3 {
        assert!(!taken(fixture, 1, 1, UNTIL).await);
    }
    assert!(taken(fixture, 2, 1, UNTIL).await);
}

/// All of them have asked before the first has its answer.
pub async fn of_many_who_ask_at_once_one_has_the_permit(fixture: &Fixture) {
    let ask = || fixture.stock.permit([3; 16], 1, UNTIL);
    let (mut had, mut waiting) = (0, Vec::new());
    for mut asked in (0..50).map(|_| ask()) {
        match asked.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => had += u32::from(answer.expect("the store answers")),
            Poll::Pending => waiting.push(asked),
        }
    }
    for asked in waiting {
        had += u32::from(asked.await.expect("the store answers"));
    }
    assert_eq!(had, 1);
}

/// Each call says how many there are; what others took counts.
pub async fn as_many_permits_are_given_out_as_there_are(fixture: &Fixture) {
    for nth in 1..=8 {
        assert_eq!(taken(fixture, 4, 5, UNTIL).await, nth <= 5, "the {nth}th");
    }
    assert!(!taken(fixture, 4, 1, UNTIL).await);
    assert!(taken(fixture, 4, 6, UNTIL).await);
    assert!(!taken(fixture, 5, 0, UNTIL).await);
}

/// Until then it is remembered, to the millisecond, and a later moment of a second call does not put it off.
pub async fn a_permit_is_forgotten_after_its_moment_and_its_key_starts_afresh(fixture: &Fixture) {
    assert!(taken(fixture, 6, 1, UNTIL).await);
    fixture.clock.set(UNTIL.plus(-1));
    assert!(!taken(fixture, 6, 1, UNTIL.plus(9)).await);
    fixture.clock.set(UNTIL);
    assert!(taken(fixture, 6, 1, UNTIL.plus(60_000)).await);
    assert!(!taken(fixture, 6, 1, UNTIL.plus(60_000)).await);
}

/// It could not be remembered, so it could be taken again and again.
pub async fn a_permit_whose_moment_is_over_is_nobodys(fixture: &Fixture) {
    for until in [Fixture::OPENS, Fixture::OPENS.plus(-1), EpochMs(0), EpochMs(i64::MIN)] {
        assert!(!taken(fixture, 7, 1, until).await);
    }
    assert!(taken(fixture, 7, 1, Fixture::OPENS.plus(1)).await);
}
