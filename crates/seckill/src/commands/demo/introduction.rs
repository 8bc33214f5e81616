//! What the demo says at its beginning.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::{OPENS_IN_S, UNITS};

/// Where the demo is, and what it takes to buy.
pub(super) struct Introduction {
    pub(super) public: SocketAddr,
    pub(super) admin: SocketAddr,
    pub(super) activity: u64,
    /// Of a sample buyer.
    pub(super) token: String,
    pub(super) admin_token: String,
}

impl Introduction {
    /// For people.
    pub(super) fn text(&self) -> String {
        let Self {
            public,
            admin,
            activity,
            token,
            admin_token,
        } = self;
        format!(
            "storefront   http://{public}/\n\
             console      http://{admin}/   token {admin_token}\n\
             activity {activity}: {UNITS} units, opens in {OPENS_IN_S} s\n\
             buy          curl -X POST http://{public}/api/seckill/{activity} -H 'Authorization: Bearer {token}'\n\
             result       curl http://{public}/api/seckill/result/{activity} -H 'Authorization: Bearer {token}'"
        )
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "public": format!("http://{}/", self.public),
            "admin": format!("http://{}/", self.admin),
            "admin_token": self.admin_token,
            "activity_id": self.activity,
            "units": UNITS,
            "opens_in_s": OPENS_IN_S,
            "buyer_token": self.token,
        })
    }
}
