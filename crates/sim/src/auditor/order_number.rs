//! The numbers of orders, worked out anew.

use super::TicketNumber;

/// The number of the order that a ticket becomes: its parts in base 36.
pub(super) fn order_number(ticket: TicketNumber) -> String {
    let parts = [ticket.activity, ticket.epoch, ticket.sequence].map(base36);
    format!("S{}", parts.join("-"))
}

fn base36(number: i64) -> String {
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    while rest != 0 || digits.is_empty() {
        let digit = u32::try_from(rest % 36).expect("below 36");
        digits.push(char::from_digit(digit, 36).expect("below 36").to_ascii_uppercase());
        rest /= 36;
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_numbers_are_tickets_in_base_36() {
        let ticket = TicketNumber {
            activity: 1,
            epoch: 36,
            sequence: 71,
        };
        assert_eq!(order_number(ticket), "S1-10-1Z");
    }
}
