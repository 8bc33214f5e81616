//! Orders after they were written, with the planted faults that concern their end.

use async_trait::async_trait;
use seckill_ledger::{
    Cancelled, Error, Expired, Order, OrderFilter, Orders, Page, PageRequest, PaidOutcome, Payment, UnitsOnCancel,
};
use seckill_sale::{EpochMs, OrderNo, UserId};

use super::SimLedger;
use crate::fault::Fault;

#[async_trait]
impl Orders for SimLedger {
    async fn order(&self, order_no: OrderNo, user: Option<UserId>) -> Result<Order, Error> {
        self.call(self.inner.order(order_no, user)).await
    }

    async fn orders(&self, filter: OrderFilter, page: PageRequest) -> Result<Page<Order>, Error> {
        self.call(self.inner.orders(filter, page)).await
    }

    async fn pay(&self, payment: Payment, on_cancel: UnitsOnCancel) -> Result<PaidOutcome, Error> {
        self.call(self.inner.pay(payment, on_cancel)).await
    }

    async fn cancel(
        &self,
        order_no: OrderNo,
        user: &UserId,
        now: EpochMs,
        on_cancel: UnitsOnCancel,
    ) -> Result<Cancelled, Error> {
        let cancelled = self.call(self.inner.cancel(order_no, user, now, on_cancel)).await?;
        if cancelled.movement.is_some() && self.weather.strikes(Fault::UnitsTwice, 1) {
            self.by_hand(|connection| {
                let sql = "UPDATE products SET stock = stock + ?2 WHERE id = ?1";
                let product = i64::try_from(cancelled.order.product_id.get()).expect("a small number");
                let units = i64::try_from(cancelled.order.quantity.get()).expect("a small number");
                connection.execute(sql, [product, units])
            });
        }
        Ok(cancelled)
    }

    async fn expire_due(&self, now: EpochMs, limit: u32, on_cancel: UnitsOnCancel) -> Result<Expired, Error> {
        if self.weather.has(Fault::ExpiresPaid) {
            // A sweep that forgot to look at the state. The ledger's own sweep then moves the units.
            let sql = "UPDATE orders SET state = 0, paid_at = NULL WHERE state = 1 AND pay_deadline <= ?1";
            self.by_hand(|connection| connection.execute(sql, [now.0]));
        }
        self.call(self.inner.expire_due(now, limit, on_cancel)).await
    }

    async fn next_deadline(&self) -> Result<Option<EpochMs>, Error> {
        self.call(self.inner.next_deadline()).await
    }

    async fn refunds_required(&self) -> Result<u64, Error> {
        self.call(self.inner.refunds_required()).await
    }
}
