//! Who waits, for how long, and what becomes of a job that nobody waits for.

use std::sync::mpsc::{Receiver, sync_channel};

use rusqlite::Connection;

use super::*;

fn watch() -> Watch {
    let [watch, _] = Watch::both();
    watch
}

/// What a person hears whose job has come so far: this thread stands still until then, and so no time passes for him before.
async fn once_it_is_so_far<T>(answer: impl Future<Output = T>, so_far: Receiver<()>) -> T {
    tokio::join!(answer, async { so_far.recv().unwrap() }).0
}

#[test]
fn a_person_waits_for_a_database_that_hangs_no_longer_than_he_may_and_a_batch_does() {
    let crew = Crew::start("test", vec![Connection::open_in_memory().unwrap()], watch()).unwrap();
    let crew = crew.answering_people_within(Some(Duration::from_millis(1)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.unwrap().block_on(async {
        let (release, hangs) = sync_channel::<()>(0);
        let (begins, begun) = sync_channel(1);
        let hanging = crew.run(Lane::Person, move |_, _| {
            begins.send(()).unwrap();
            Ok(hangs.recv())
        });
        let late = once_it_is_so_far(hanging, begun).await;
        assert!(matches!(late, Err(Error::Outage(why)) if why.contains("does not answer")));
        let behind = crew.run(Lane::Person, |_, _| Ok(())).await;
        assert!(matches!(behind, Err(Error::Outage(_))));
        let batch = crew.run(Lane::Batch, |_, _| Ok(7));
        let (answered, ()) = tokio::join!(batch, async { drop(release) });
        assert_eq!(answered.unwrap(), 7);
    });
}

#[test]
fn what_a_person_has_given_up_is_not_done_and_of_what_is_being_committed_the_outcome_is_unknown() {
    let crew = Crew::start("test", vec![Connection::open_in_memory().unwrap()], watch()).unwrap();
    let crew = crew.answering_people_within(Some(Duration::from_millis(1)));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.unwrap().block_on(async {
        let (release, hangs) = sync_channel::<()>(0);
        let (begins, begun) = sync_channel(1);
        let (told, said) = sync_channel(1);
        let before_commit = move |_: &mut Connection, caller: &Caller| {
            begins.send(()).unwrap();
            let _ = hangs.recv();
            told.send(caller.check_before_commit(())).unwrap();
            Ok(())
        };
        let late = once_it_is_so_far(crew.run(Lane::Person, before_commit), begun).await;
        assert!(matches!(late, Err(Error::Outage(_))));
        let (done, was_done) = sync_channel(1);
        let never_begun = crew.run(Lane::Person, move |_, _| {
            done.send(()).unwrap();
            Ok(())
        });
        let never_begun = never_begun.await;
        assert!(matches!(never_begun, Err(Error::Outage(_))));
        drop(release);
        crew.run(Lane::Batch, |_, _| Ok(())).await.unwrap();
        assert!(matches!(said.recv().unwrap(), Err(Error::Outage(_))), "it is undone");
        assert!(was_done.recv().is_err(), "it was dropped");

        let (release, hangs) = sync_channel::<()>(0);
        let (commits, is_committing) = sync_channel(1);
        let committing = move |_: &mut Connection, caller: &Caller| {
            caller.check_before_commit(())?;
            commits.send(()).unwrap();
            let _ = hangs.recv();
            caller.check_before_commit(())
        };
        let late = once_it_is_so_far(crew.run(Lane::Person, committing), is_committing).await;
        assert!(matches!(late, Err(Error::OutcomeUnknown(_))));
        drop(release);
    });
}

#[test]
fn a_job_that_panics_is_an_outage_and_the_thread_goes_on() {
    let crew = Crew::start("test", vec![Connection::open_in_memory().unwrap()], watch()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let broken: Result<(), Error> = runtime.block_on(crew.run(Lane::Person, |_, _| panic!("a bug")));
    assert!(matches!(broken, Err(Error::Outage(_))));
    assert_eq!(runtime.block_on(crew.run(Lane::Batch, |_, _| Ok(1))), Ok(1));
}

/// Gets ready and finds that its job was taken meanwhile.
struct Late {
    taken: Arc<Turns<Self>>,
    done: std::sync::mpsc::SyncSender<bool>,
}

impl Station for Late {
    fn get_ready(&mut self, _wanted: &dyn Fn() -> bool) {
        let _job = self.taken.take();
        self.taken.close();
    }

    fn job_done(&mut self, waits: bool) {
        self.done.send(waits).unwrap();
    }
}

#[test]
fn a_station_whose_job_was_taken_by_another_is_told_so_that_it_keeps_nothing_for_it() {
    let (turns, (done, told)) = (Arc::new(Turns::new(1)), sync_channel(1));
    turns.push(Lane::Person, Box::new(|_: &mut Late| ()));
    let taken = turns.clone();
    work_off(&turns, 0, Late { taken, done });
    assert_eq!(told.try_recv(), Ok(false));
}

/// What got ready last, and when.
#[derive(Default)]
struct Slow {
    ready_since: Option<Instant>,
    was_asked_before: Option<bool>,
}

impl Station for Slow {
    fn get_ready(&mut self, _wanted: &dyn Fn() -> bool) {
        self.ready_since = Some(Instant::now());
    }

    fn next_was_asked_at(&mut self, asked: Instant) {
        self.was_asked_before = self.ready_since.map(|ready| asked <= ready);
    }
}

#[test]
fn a_station_hears_when_its_job_was_asked_for() {
    let crew = Crew::start("test", vec![Slow::default()], watch()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for lane in [Lane::Person, Lane::Batch] {
        let heard = runtime.block_on(crew.run(lane, |slow, _| Ok(slow.was_asked_before.take())));
        assert_eq!(heard, Ok(Some(true)));
    }
}
