//! What a server counts of its own answers, read from its page of metrics.

/// What a page of metrics has of answers.
pub(super) struct Counted {
    pub(super) answers: u64,
    /// Lines of answers that are bugs.
    pub(super) bugs: Vec<String>,
}

pub(super) fn counted(page: &str) -> Counted {
    let (mut answers, mut bugs) = (0, Vec::new());
    for line in page.lines() {
        let Some(count) = line.rsplit(' ').next().and_then(|count| count.parse::<u64>().ok()) else {
            continue;
        };
        let is_answers = line.starts_with("seckill_http_requests_total{");
        let is_bug = (is_answers && line.contains("code=\"5") && !line.contains("code=\"503\""))
            || line.starts_with("seckill_panics_total");
        answers += count * u64::from(is_answers);
        if is_bug && 0 < count {
            bugs.push(line.to_owned());
        }
    }
    Counted { answers, bugs }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_5xx_but_503_and_every_panic_is_a_bug() {
        let line = |code: u16, count: u64| {
            format!("seckill_http_requests_total{{route=\"/\",method=\"GET\",code=\"{code}\"}} {count}\n")
        };
        let page = [
            line(200, 5),
            line(503, 2),
            line(404, 1),
            "# HELP x y\nseckill_panics_total 0\n".to_owned(),
        ]
        .concat();
        let fine = counted(&page);
        assert_eq!((fine.answers, fine.bugs.len()), (8, 0));
        assert_eq!(counted(&line(500, 1)).bugs.len(), 1);
        assert_eq!(counted(&line(502, 3)).bugs.len(), 1);
        assert_eq!(counted("seckill_panics_total 1\n").bugs.len(), 1);
    }
}
