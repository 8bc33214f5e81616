//! Buyers who keep coming while something happens, each with a key of his own, and what has to hold when it is over.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use seckill_testkit::{Answer, Server};
use serde_json::{Value, json};

use crate::crash::History;
use crate::storm::Ends;

const BUYERS_AT_ONCE: usize = 4;
/// Buyers who are asked for themselves when it is over.
const SAMPLE: usize = 40;

/// A sale that buyers come to at several nodes.
pub(crate) struct Rush {
    publics: Vec<SocketAddr>,
    pub(crate) activity: u64,
    history: Mutex<History>,
    /// Users who were admitted, each counted once.
    admitted: AtomicU64,
    names: AtomicU64,
}

impl Rush {
    /// Buyers of `activity` at these nodes, which all know it.
    pub(crate) fn at(nodes: &[Server], activity: u64) -> Self {
        nodes.iter().for_each(|node| node.knows(activity));
        Self {
            publics: nodes.iter().map(|node| node.public).collect(),
            activity,
            history: Mutex::default(),
            admitted: AtomicU64::new(0),
            names: AtomicU64::new(0),
        }
    }

    /// Buyers come one after another, a few at once, until `happens` is over. Who is not answered asks again, at the next node.
    pub(crate) fn during<T>(&self, happens: impl FnOnce() -> T) -> T {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..BUYERS_AT_ONCE {
                let over = &over;
                scope.spawn(move || {
                    while !over.load(Ordering::SeqCst) {
                        self.comes(|| over.load(Ordering::SeqCst));
                    }
                });
            }
            let _ends = Ends(&over);
            happens()
        })
    }

    /// One more buyer comes.
    pub(crate) fn comes(&self, gives_up: impl Fn() -> bool) {
        let user = format!("u{}", self.names.fetch_add(1, Ordering::SeqCst));
        match Server::buy_in_the_end(&self.publics, self.activity, &user, gives_up) {
            Some(answer) => self.note(&user, &answer),
            None => _ = self.history.lock().expect("no panic").unanswered.insert(user),
        }
    }

    /// A buyer who does not know his outcome asks again when it is over, with his name as his key.
    pub(crate) fn left_unknown(&self, user: &str) {
        let mut history = self.history.lock().expect("no panic");
        history.unanswered.insert(user.to_owned());
    }

    /// A buyer whose outcome was not known asks again with his key.
    pub(crate) fn is_asked_by(&self, user: &str) {
        let answer = Server::buy_at(self.publics[0], self.activity, user, user).expect("answers");
        self.note(user, &answer);
    }

    fn note(&self, user: &str, answer: &Answer) {
        if answer.status == 410 {
            return;
        }
        assert_eq!(answer.status, 202, "{user}: {answer:?}");
        let ticket = answer.data()["ticket"].as_str().expect("a ticket").to_owned();
        let mut history = self.history.lock().expect("no panic");
        assert_eq!(history.tickets.insert(user.to_owned(), ticket), None);
        drop(history);
        self.admitted.fetch_add(1, Ordering::SeqCst);
    }

    /// Buyers who were admitted.
    pub(crate) fn admitted(&self) -> u64 {
        self.admitted.load(Ordering::SeqCst)
    }

    /// Waits until so many more were admitted.
    pub(crate) fn admits(&self, node: &Server, more: u64) {
        let wanted = self.admitted() + more;
        let _admitted = node.until(|| self.admitted(), |admitted| wanted <= *admitted);
    }

    /// Nothing was sold that nobody knows of: the books agree with what buyers were told, each of them has his order, nobody has two, and
    /// whoever asks again hears of the same ticket.
    pub(crate) fn check(&self, node: &Server, stock: u64) {
        let unanswered = std::mem::take(&mut self.history.lock().expect("no panic").unanswered);
        for user in unanswered {
            let answer = Server::buy_in_the_end(&self.publics, self.activity, &user, || false);
            self.note(&user, &answer.expect("does not give up"));
        }
        let admitted = self.admitted();
        let books = node.settled(self.activity);
        let figures = ["balanced", "accepted", "orders_live", "stock_left", "dead"].map(|name| books[name].clone());
        let left = stock.checked_sub(admitted).expect("not more than there was");
        assert_eq!(
            figures,
            [json!(true), json!(admitted), json!(admitted), json!(left), json!(0)],
            "{books}"
        );
        let history = self.history.lock().expect("no panic");
        let promised: BTreeMap<_, _> = history
            .tickets
            .iter()
            .map(|(user, ticket)| (user.clone(), vec![order_of(ticket)]))
            .collect();
        assert_eq!(orders(node, self.activity), promised, "those and no others, each once");
        let some = history.tickets.iter().step_by(1 + history.tickets.len() / SAMPLE);
        for (user, ticket) in some {
            let path = format!("/api/seckill/result/{}", self.activity);
            let result = node.as_user(user, "GET", &path, None).expect("answers");
            let named: Option<&Value> = result.json.pointer("/data/ticket");
            assert_eq!((result.code(), named), (1, Some(&json!(ticket))), "{user}: {result:?}");
            let again = Server::buy_in_the_end(&self.publics, self.activity, user, || false).expect("an answer");
            let named = &again.data()["ticket"];
            assert_eq!((again.status, named), (202, &json!(ticket)), "{user}: {again:?}");
        }
    }
}

/// The number of the order that a ticket becomes: the same three numbers in base 36.
fn order_of(ticket: &str) -> String {
    let numbers = ticket.strip_prefix('T').expect("a ticket").split('-');
    let numbers: Vec<_> = numbers
        .map(|digits| in_base_36(digits.parse().expect("a number")))
        .collect();
    format!("S{}", numbers.join("-"))
}

fn in_base_36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(number % 36) as usize]);
        number /= 36;
        if number == 0 {
            digits.reverse();
            return String::from_utf8(digits).expect("letters and digits");
        }
    }
}

/// Numbers of the orders of each user.
fn orders(node: &Server, activity: u64) -> BTreeMap<String, Vec<String>> {
    let (mut orders, mut cursor) = (BTreeMap::<_, Vec<_>>::new(), String::new());
    loop {
        let path = format!("/admin/api/orders?activity_id={activity}&limit=500{cursor}");
        let page = node.as_admin("GET", &path, None);
        for order in page.data()["orders"].as_array().expect("orders") {
            let text = |name: &str| order[name].as_str().expect("a text").to_owned();
            orders.entry(text("user_id")).or_default().push(text("order_no"));
        }
        match &page.data()["next_cursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => return orders,
        }
    }
}
