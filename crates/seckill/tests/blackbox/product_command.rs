//! `seckill product`: a sale that was made too small gets more.

use seckill_testkit::Server;
use serde_json::json;

use crate::activity_command::{CREATE, WINDOW};
use crate::newcomer::{ask, document};
use crate::program;

#[test]
fn a_sale_whose_product_has_no_units_left_is_given_more_and_a_repeated_command_gives_them_once() {
    let server = Server::start(&program());
    // With a product of its own, which has no unit more than the sale.
    let created = ask(&server, &[&CREATE[..], &WINDOW].concat());
    assert_eq!(created.0, 0, "{}", created.2);
    let bought = |user: &str| server.buy(1, user, user).expect("answers").status;
    assert_eq!(server.until(|| bought("alice"), |status| *status != 503), 202);
    let more_for_sale = ["activity", "add-stock", "1", "--quantity", "3"];
    let (exit, _, stderr) = ask(&server, &more_for_sale);
    assert!(
        exit == 1 && stderr.contains("the product has 0 units, 3 are wanted"),
        "{stderr}"
    );
    let more = [
        "product",
        "add-stock",
        "1",
        "--quantity",
        "5",
        "--idempotency-key",
        "night-1",
    ];
    for _ in 0..2 {
        let (exit, stdout, stderr) = ask(&server, &more);
        assert_eq!(exit, 0, "{stderr}");
        assert!(stdout.contains("  5 units that no sale holds"), "{stdout}");
    }
    let (exit, _, stderr) = ask(&server, &more_for_sale);
    assert_eq!(exit, 0, "{stderr}");
    let (_, stdout, _) = ask(&server, &["product", "show", "1", "--json"]);
    assert_eq!(document(&stdout)["stock"], json!(2));
    let (_, stdout, _) = ask(&server, &["product", "list", "--json"]);
    assert_eq!(document(&stdout)[0]["stock"], json!(2));
    let books = server.settled(1);
    assert_eq!(
        (&books["balanced"], &books["stock_total"]),
        (&json!(true), &json!(13)),
        "{books}"
    );
    let (_, stdout, _) = ask(&server, &["audit-rows", "--action", "product.add_stock"]);
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
}
