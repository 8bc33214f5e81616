//! How long the nodes took, over all repetitions.

use std::time::Instant;

use serde::Serialize;

use super::heard::AtNode;
use super::stage::Followed;
use crate::figures::Spread;

/// Every node should have followed this soon, in milliseconds.
pub const FOLLOWED_MS_MAX: f64 = 1_000.0;

/// From when on a time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// The answer to the operator.
    Answer,
    /// The moment that was named.
    Moment,
    /// The first node that did it: how far the nodes were apart.
    FirstNode,
}

/// How soon nodes did one thing.
#[derive(Debug, Clone, Serialize)]
pub struct SwitchTimes {
    /// What they did.
    pub name: String,
    /// From when on the times count.
    pub since: Since,
    /// Until the first buyer's answer that shows it, at each node but the one that was told; in milliseconds.
    pub shown_ms: Spread,
    /// Until the first one that shows it behind the last that contradicts it.
    pub settled_ms: Spread,
    /// The longest of these, from the moment at which the operator had asked.
    pub from_asking_ms_max: f64,
    /// How long the node that was told still said otherwise, behind its answer; at most.
    pub own_ms_max: f64,
    /// Times that were measured.
    pub samples: usize,
}

impl SwitchTimes {
    /// What should be shorter.
    pub(super) fn missed(&self) -> Option<String> {
        let (name, max) = (&self.name, self.settled_ms.max);
        (FOLLOWED_MS_MAX < max).then(|| format!("{name}: {max:.0} ms, at most {FOLLOWED_MS_MAX:.0} wanted"))
    }

    /// Of all repetitions, of which there is one at least, with two nodes.
    pub(super) fn of(name: String, since: Since, all: &[Followed]) -> Self {
        let shown = samples(all, since, |at| at.shown);
        // How far nodes are apart is told of the first answers: a backlog may be full again soon.
        let settled = match since {
            Since::FirstNode => shown.clone(),
            Since::Answer | Since::Moment => samples(all, since, |at| at.settled),
        };
        let from_asking = all.iter().flat_map(|followed| {
            let of_others = followed.others();
            of_others.filter_map(|at| Some(ms_between(followed.asked, at.settled?)))
        });
        let own = all.iter().filter_map(|followed| Some(followed.own?.1));
        Self {
            name,
            since,
            samples: settled.len(),
            shown_ms: Spread::of(shown.into_iter()),
            settled_ms: Spread::of(settled.into_iter()),
            from_asking_ms_max: from_asking.fold(0.0, f64::max),
            own_ms_max: own.fold(0.0, |most, late| (late.as_secs_f64() * 1000.0).max(most)),
        }
    }
}

impl Followed {
    /// What was seen at the nodes that were not told.
    fn others(&self) -> impl Iterator<Item = &AtNode> {
        let own = self.own.map(|(node, _)| node);
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(move |(node, _)| Some(*node) != own).map(|(_, at)| at)
    }
}

/// One time a node, or, where they are held against one another, one a repetition.
fn samples(all: &[Followed], since: Since, of: impl Fn(&AtNode) -> Option<Instant>) -> Vec<f64> {
    let mut samples = Vec::new();
    for followed in all {
        let moments = followed.others().filter_map(&of);
        match since {
            Since::Answer | Since::Moment => samples.extend(moments.map(|at| ms_between(followed.since, at))),
            Since::FirstNode => {
                let moments: Vec<_> = moments.collect();
                let (first, last) = (moments.iter().min(), moments.iter().max());
                samples.extend(first.zip(last).map(|(first, last)| ms_between(*first, *last)));
            }
        }
    }
    samples
}

/// 0 where `to` is earlier: a node may follow before the operator has his answer.
fn ms_between(from: Instant, to: Instant) -> f64 {
    to.saturating_duration_since(from).as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Asked for at 0 and answered at 100 ms; at the nodes it was settled at these milliseconds, at the first of them that was told.
    fn followed(begun: Instant, settled_ms: [u64; 3]) -> Followed {
        let after = |ms| begun + Duration::from_millis(ms);
        let node = |ms| AtNode {
            shown: Some(after(ms)),
            settled: Some(after(ms)),
            ..AtNode::default()
        };
        Followed {
            asked: begun,
            since: after(100),
            nodes: settled_ms.map(node).to_vec(),
            own: Some((0, Duration::from_millis(3))),
        }
    }

    #[test]
    fn the_node_that_was_told_is_none_of_those_that_follow() {
        let begun = Instant::now();
        let all = [followed(begun, [900, 150, 400]), followed(begun, [900, 90, 1_101])];
        let times = SwitchTimes::of("x".into(), Since::Answer, &all);
        let rounded = |spread: Spread| [spread.min, spread.median, spread.max].map(f64::round);
        assert_eq!((rounded(times.settled_ms), times.samples), ([0.0, 175.0, 1_001.0], 4));
        assert_eq!(
            [times.from_asking_ms_max, times.own_ms_max].map(f64::round),
            [1_101.0, 3.0]
        );
        assert_eq!(times.missed().expect("missed"), "x: 1001 ms, at most 1000 wanted");
        let apart = SwitchTimes::of("x".into(), Since::FirstNode, &all);
        assert_eq!((rounded(apart.settled_ms), apart.samples), ([250.0, 631.0, 1_011.0], 2));
    }
}
