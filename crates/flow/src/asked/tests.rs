//! What is known of a pause, by what the store shows.

use seckill_sale::{Epoch, EpochMs};

use super::*;

fn standing(epoch: Epoch, hold: Option<Hold>) -> Standing {
    Standing {
        epoch,
        hold,
        status: None,
    }
}

#[test]
fn a_late_word_about_an_earlier_pause_changes_no_later_one() {
    let (asked, id) = (Asked::default(), ActivityId::new(1).unwrap());
    let hold = |at| Hold {
        held_at: EpochMs(at),
        resumes_at: None,
    };
    let context = Context {
        actor: "admin".to_owned(),
        now: EpochMs(0),
        idempotency: None,
    };
    let (first, second) = (hold(1), hold(2));
    let in_force = |shown| asked.in_force(id, Some(standing(Epoch::FIRST, shown)));
    let _ = asked.put(id, first, &context);
    let _ = asked.put(id, second, &context);
    assert_eq!(in_force(None), None, "nobody has been answered");
    asked.set_unanswered(id, first, &context);
    assert_eq!(in_force(None), Some(second));
    asked.set_in_ledger(id, first);
    asked.end(id, first);
    asked.forget(id, first);
    assert!(!asked.is_in_ledger(id, second));
    assert_eq!(in_force(Some(first)), Some(second));
    assert_eq!(in_force(Some(second)), Some(second));
    assert!(!asked.is_unanswered(id, second), "the store shows it");
}

#[test]
fn a_pause_is_lost_where_a_later_state_has_it_not_and_over_where_the_same_one_has_it_no_more() {
    let id = ActivityId::new(1).unwrap();
    let hold = Hold {
        held_at: EpochMs(1),
        resumes_at: None,
    };
    let [first, second] = [1, 2].map(|epoch| Epoch::new(epoch).unwrap());
    let shown = |epoch, hold| Some(standing(epoch, hold));
    let after = |is_written, looks: &[Option<Standing>]| {
        let asked = Asked::default();
        assert_eq!(asked.in_force(id, shown(first, Some(hold))), Some(hold));
        assert_eq!(asked.in_force(id, None), Some(hold), "a lost state releases nothing");
        if is_written {
            asked.set_in_ledger(id, hold);
        }
        let in_force = looks.iter().map(|shown| asked.in_force(id, *shown).is_some());
        in_force.collect::<Vec<_>>()
    };
    let lost = after(false, &[shown(second, None), shown(second, None), None]);
    assert_eq!(lost, [true; 3], "until the ledger has it");
    let back = [shown(second, None), shown(second, Some(hold)), shown(second, None)];
    assert_eq!(after(false, &back), [true, true, false], "told again, and released");
    let written = after(true, &[shown(second, None), shown(second, Some(hold))]);
    assert_eq!(written, [false; 2]);
    let released = after(false, &[shown(first, None), shown(second, Some(hold))]);
    assert_eq!(released, [false; 2], "an earlier state shows it");
}
