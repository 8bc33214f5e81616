//! `GET /openapi.json`: the API for programs that write clients. The document is a file, because what it says to people is most of it;
//! tests hold it against the routes and codes.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

use crate::dress::JSON;

const DOCUMENT: &str = include_str!("pages/openapi.json");

/// The document.
pub(crate) async fn document() -> Response {
    ([(CONTENT_TYPE, JSON)], DOCUMENT).into_response()
}

#[cfg(test)]
mod tests {
    use seckill_sale::Code;
    use serde_json::Value;

    use super::*;
    use crate::ROUTES;

    /// Pages and this document are no part of what it describes.
    const UNLISTED: [&str; 3] = ["/", "/docs", "/openapi.json"];

    #[test]
    fn every_route_is_described_and_nothing_else() {
        let document: Value = serde_json::from_str(DOCUMENT).expect("JSON");
        let mut described: Vec<_> = document["paths"]
            .as_object()
            .expect("paths")
            .keys()
            .map(String::as_str)
            .collect();
        let mut routes: Vec<_> = ROUTES
            .iter()
            .copied()
            .filter(|route| !UNLISTED.contains(route))
            .collect();
        described.sort_unstable();
        routes.sort_unstable();
        assert_eq!(described, routes);
    }

    #[test]
    fn every_code_is_listed() {
        let document: Value = serde_json::from_str(DOCUMENT).expect("JSON");
        let listed = document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"].clone();
        let codes: Vec<_> = Code::ALL.iter().map(|code| code.number()).collect();
        assert_eq!(listed, serde_json::json!(codes));
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document: Value = serde_json::from_str(DOCUMENT).expect("JSON");
        let mut references = 0;
        for part in DOCUMENT.split("\"$ref\": \"#").skip(1) {
            let pointer = part.split('"').next().expect("a closing quote");
            assert!(document.pointer(pointer).is_some(), "{pointer}");
            references += 1;
        }
        assert!(references > 0);
    }
}
