//! What is there before a run begins: products and sales, made through the product's own ledger.

use std::cell::RefCell;
use std::rc::Rc;

use seckill_ledger::{Catalog, NewActivity, NewProduct, NewSchedule, Operations};
use seckill_sale::{Challenge, Currency, EpochMs, Price, Quantity, Stock as Units, Window};

use crate::actions::operator_context;
use crate::auditor::{Recurring, Sale};
use crate::executor::{Kind, Tasks};
use crate::scenario::{BEGINS, PRODUCT_UNITS, RecurringPlan, SalePlan};
use crate::world::World;

/// Makes one product and its sales; the store knows nothing of them yet.
pub(crate) fn make_sales(world: &mut World) {
    world.start();
    let (plans, recurring) = (world.scenario.sales.clone(), world.scenario.recurring.clone());
    let product = NewProduct {
        name: "a thing".to_owned(),
        price: Price::new(100_000).expect("in range"),
        currency: Currency::new("CNY").expect("three capitals"),
        stock: Units::new(PRODUCT_UNITS).expect("in range"),
    };
    let (database, context) = (world.ground.database.clone(), operator_context(world));
    let made = finish(world, async move {
        let product = database
            .create_product(product, context.clone())
            .await
            .expect("a product")
            .id;
        let mut sales = Vec::new();
        for plan in plans {
            let new = new_activity(&plan, product);
            let id = database.create_activity(new, context.clone()).await.expect("a sale").id;
            sales.push((id.get().cast_signed(), plan));
        }
        let mut schedule = None;
        if let Some(plan) = recurring {
            let new = new_schedule(&plan, product);
            let id = database.create_schedule(new, context).await.expect("a schedule").id;
            schedule = Some((id, plan));
        }
        (product.get().cast_signed(), sales, schedule)
    });
    let (product, sales, schedule) = made;
    let mut auditor = world.auditor.borrow_mut();
    auditor.add_product(product, PRODUCT_UNITS.cast_signed());
    for (id, plan) in sales {
        world.weather.note(&format!("sale {id}: {plan:?}"));
        world.sales.push(id);
        let [price, units, limit] = [plan.price_cents, plan.units, plan.limit].map(u64::cast_signed);
        let window = (plan.starts_at, plan.ends_at);
        auditor.add_sale(id, Sale::new(product, price, units, limit, window));
    }
    if let Some((id, plan)) = schedule {
        world.weather.note(&format!("schedule {id}: {plan:?}"));
        world.schedule = Some(id);
        let [price_cents, units, limit] = [plan.price_cents, plan.units, plan.limit].map(u64::cast_signed);
        let recurring = Recurring {
            product,
            price_cents,
            units,
            limit,
            length_ms: plan.length_ms,
            lead_ms: plan.lead_ms,
        };
        auditor.add_schedule(id.cast_signed(), recurring);
    }
}

/// A round every minute. The window of the template says how long each lasts.
fn new_schedule(plan: &RecurringPlan, product: seckill_sale::ProductId) -> NewSchedule {
    let template = SalePlan {
        units: plan.units,
        limit: plan.limit,
        price_cents: plan.price_cents,
        starts_at: BEGINS,
        ends_at: BEGINS + plan.length_ms,
    };
    NewSchedule {
        template: new_activity(&template, product),
        cron: "* * * * *".to_owned(),
        time_zone: "UTC".to_owned(),
        lead_ms: plan.lead_ms,
    }
}

fn new_activity(plan: &SalePlan, product_id: seckill_sale::ProductId) -> NewActivity {
    NewActivity {
        product_id,
        title: "a sale".to_owned(),
        seckill_price: Price::new(plan.price_cents).expect("in range"),
        stock: Units::new(plan.units).expect("in range"),
        window: Window::new(EpochMs(plan.starts_at), EpochMs(plan.ends_at)).expect("not empty"),
        per_user_limit: Quantity::new(plan.limit).expect("in range"),
        shards: 1,
        challenge: Challenge::None,
        min_level: None,
        draft: false,
        notice: None,
    }
}

/// Runs something that needs the database alone to its end.
fn finish<T: 'static>(world: &mut World, work: impl Future<Output = T> + 'static) -> T {
    let slot = Rc::new(RefCell::new(None));
    let filled = slot.clone();
    let mut tasks = Tasks::default();
    tasks.spawn(Kind::Errand, "opening".to_owned(), async move {
        let done = work.await;
        filled.borrow_mut().replace(done);
    });
    while tasks.poll_one(&mut world.random).is_some() {}
    slot.take().expect("the database answers at once")
}
