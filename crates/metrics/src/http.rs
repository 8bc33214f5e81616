//! Requests by route, method and status. All three are known beforehand, so that a request is counted by arithmetic, without a
//! look-up in a map and without anything a client could make grow.

use std::sync::Arc;

use crate::Core;
use crate::cells::Cells;
use crate::family::OTHER;
use crate::page::Page;
use crate::registry::Collect;

const METHODS: &[&str] = &["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS", OTHER];
const CODES: &[u16] = &[
    101, 200, 201, 202, 204, 304, 400, 401, 403, 404, 405, 408, 409, 410, 411, 413, 415, 422, 426, 429, 431, 500, 501,
    503, 505,
];

/// Requests by `route`, `method` and `code` (the HTTP status).
#[derive(Clone, Debug)]
pub struct HttpRequests {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    routes: Box<[&'static str]>,
    cells: Cells,
}

impl HttpRequests {
    pub(crate) fn new(cores: usize, routes: &[&'static str]) -> Self {
        let routes: Box<[_]> = routes.iter().copied().chain([OTHER]).collect();
        let cells = Cells::new(cores, routes.len() * METHODS.len() * (CODES.len() + 1));
        Self {
            shared: Arc::new(Shared { routes, cells }),
        }
    }

    /// Index of a route by its name, to be kept by the router; that of `other` where the name is not known.
    #[must_use]
    pub fn route(&self, name: &str) -> usize {
        self.shared
            .routes
            .iter()
            .position(|route| *route == name)
            .unwrap_or(self.shared.routes.len() - 1)
    }

    /// Counts one answered request. `route` is an index from [`HttpRequests::route`], `code` the HTTP status.
    pub fn inc(&self, core: Core, route: usize, method: &str, code: u16) {
        let route = route.min(self.shared.routes.len() - 1);
        let method = METHODS
            .iter()
            .position(|known| *known == method)
            .unwrap_or(METHODS.len() - 1);
        let code = CODES.binary_search(&code).unwrap_or(CODES.len());
        self.shared.cells.add(core, index(route, method, code), 1);
    }

    /// All requests answered so far.
    #[must_use]
    pub fn total(&self) -> u64 {
        let len = self.shared.routes.len() * METHODS.len() * (CODES.len() + 1);
        (0..len).map(|index| self.shared.cells.sum(index)).sum()
    }
}

fn index(route: usize, method: usize, code: usize) -> usize {
    (route * METHODS.len() + method) * (CODES.len() + 1) + code
}

impl Collect for HttpRequests {
    // Only what occurred: all combinations would be thousands of lines of zeros.
    fn collect(&self, name: &str, page: &mut Page) {
        let codes: Vec<String> = CODES
            .iter()
            .map(ToString::to_string)
            .chain([OTHER.to_owned()])
            .collect();
        for (route, route_name) in self.shared.routes.iter().enumerate() {
            for (method, method_name) in METHODS.iter().enumerate() {
                for (code, code_name) in codes.iter().enumerate() {
                    let count = self.shared.cells.sum(index(route, method, code));
                    if count > 0 {
                        page.whole(
                            name,
                            &[("route", route_name), ("method", method_name), ("code", code_name)],
                            count,
                        );
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_route_method_and_code_are_counted_under_other() {
        let requests = HttpRequests::new(2, &["/api/time"]);
        let time = requests.route("/api/time");
        requests.inc(Core::new(0), time, "GET", 200);
        requests.inc(Core::new(1), time, "GET", 200);
        requests.inc(Core::new(0), requests.route("/wp-login.php"), "BREW", 418);
        requests.inc(Core::new(0), usize::MAX, "GET", 503);
        let mut page = Page::default();
        requests.collect("r", &mut page);
        let expected = "r{route=\"/api/time\",method=\"GET\",code=\"200\"} 2\n\
                        r{route=\"other\",method=\"GET\",code=\"503\"} 1\n\
                        r{route=\"other\",method=\"other\",code=\"other\"} 1\n";
        assert_eq!(page.into_text(), expected);
        assert_eq!(requests.total(), 4);
    }

    #[test]
    fn codes_are_in_order_so_that_they_can_be_searched() {
        assert!(CODES.is_sorted());
    }
}
