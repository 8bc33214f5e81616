-- Tables of the ledger.
--
-- Moments are milliseconds since 1970-01-01T00:00:00Z, money is whole minor units, user ids are compared byte by byte.
-- What a state allows stands in CHECKs; their names are what a rejected row is reported under.

CREATE TABLE products (
    id          INTEGER PRIMARY KEY,
    name        TEXT    NOT NULL,
    price_cents INTEGER NOT NULL,
    currency    TEXT    NOT NULL,
    stock       INTEGER NOT NULL, -- units that no activity holds
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    CONSTRAINT products_name_has_1_to_120_characters CHECK (length(name) BETWEEN 1 AND 120),
    CONSTRAINT products_price_is_not_negative CHECK (price_cents >= 0),
    CONSTRAINT products_currency_has_3_letters CHECK (length(currency) = 3),
    CONSTRAINT products_stock_is_not_negative CHECK (stock >= 0)
) STRICT;

CREATE TABLE activities (
    id                  INTEGER PRIMARY KEY,
    product_id          INTEGER NOT NULL REFERENCES products (id),
    title               TEXT    NOT NULL,
    seckill_price_cents INTEGER NOT NULL,
    currency            TEXT    NOT NULL,
    starts_at           INTEGER NOT NULL,
    ends_at             INTEGER NOT NULL, -- first millisecond that does not admit any more
    per_user_limit      INTEGER NOT NULL,
    shards              INTEGER NOT NULL,
    challenge           TEXT    NOT NULL,
    status              TEXT    NOT NULL,
    epoch               INTEGER,          -- generation of the store's state; NULL until preheated
    resumes_at          INTEGER,
    word_at             INTEGER,          -- when an operator last paused it or went on; NULL: never
    closed_at           INTEGER,
    notice              TEXT,
    min_level           INTEGER,          -- least level of a user who may buy
    eligible_list       INTEGER,          -- version of its list of users; NULL without one
    version             INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    CONSTRAINT activities_title_has_1_to_120_characters CHECK (length(title) BETWEEN 1 AND 120),
    CONSTRAINT activities_price_is_not_negative CHECK (seckill_price_cents >= 0),
    CONSTRAINT activities_end_lies_after_start CHECK (starts_at < ends_at),
    CONSTRAINT activities_limit_is_positive CHECK (per_user_limit >= 1),
    CONSTRAINT activities_shards_are_positive CHECK (shards >= 1),
    CONSTRAINT activities_level_is_not_negative CHECK (min_level >= 0),
    CONSTRAINT activities_challenge_is_known CHECK (challenge IN ('none', 'token', 'captcha', 'pow')),
    CONSTRAINT activities_status_is_known CHECK (status IN ('draft', 'running', 'paused', 'closed')),
    CONSTRAINT activities_closed_at_goes_with_closed CHECK ((status = 'closed') = (closed_at IS NOT NULL)),
    CONSTRAINT activities_resumes_at_goes_with_paused CHECK (resumes_at IS NULL OR status = 'paused')
) STRICT;

-- Lists of those who may buy: fingerprints of users, or a Bloom filter of so many bits.
CREATE TABLE eligible_lists (
    activity_id INTEGER PRIMARY KEY REFERENCES activities (id),
    salt        BLOB    NOT NULL, -- of the fingerprints; empty where there are none
    bits        INTEGER,
    hashes      INTEGER,
    CONSTRAINT eligible_lists_are_of_one_form CHECK (
        (length(salt) = 16 AND bits IS NULL AND hashes IS NULL)
        OR (length(salt) = 0 AND bits >= 1 AND hashes >= 1)
    )
) STRICT;

CREATE TABLE eligible_pieces (
    activity_id INTEGER NOT NULL REFERENCES eligible_lists (activity_id),
    piece       INTEGER NOT NULL,
    bytes       BLOB    NOT NULL,
    PRIMARY KEY (activity_id, piece)
) STRICT, WITHOUT ROWID;

-- The row that every settlement locks and guards.
CREATE TABLE stock (
    activity_id INTEGER PRIMARY KEY REFERENCES activities (id),
    total       INTEGER NOT NULL, -- units ever given to the sale
    available   INTEGER NOT NULL, -- units neither sold nor returned
    version     INTEGER NOT NULL,
    CONSTRAINT stock_is_not_oversold CHECK (available >= 0),
    CONSTRAINT stock_is_not_more_than_all CHECK (available <= total)
) STRICT;

CREATE TABLE orders (
    id           INTEGER PRIMARY KEY, -- order of writing; the number that people see is order_no
    order_no     TEXT    NOT NULL,
    activity_id  INTEGER NOT NULL,
    product_id   INTEGER NOT NULL,
    user_id      TEXT    NOT NULL,
    quantity     INTEGER NOT NULL,
    price_cents  INTEGER NOT NULL,
    amount_cents INTEGER NOT NULL,
    currency     TEXT    NOT NULL,
    state        INTEGER NOT NULL, -- 0 waits for payment, 1 paid, 2 cancelled, 3 expired
    created_at   INTEGER NOT NULL,
    pay_deadline INTEGER NOT NULL,
    paid_at      INTEGER,
    ended_at     INTEGER,
    CONSTRAINT orders_number UNIQUE (order_no),
    -- One order of a user in an activity; by it a user's orders are listed too.
    CONSTRAINT orders_one_of_a_user UNIQUE (user_id, activity_id),
    CONSTRAINT orders_number_has_at_most_32_characters CHECK (length(order_no) <= 32),
    CONSTRAINT orders_quantity_is_positive CHECK (quantity >= 1),
    CONSTRAINT orders_amount_is_price_by_quantity CHECK (amount_cents = price_cents * quantity),
    CONSTRAINT orders_moments_go_with_state CHECK (
        (state = 0 AND paid_at IS NULL AND ended_at IS NULL)
        OR (state = 1 AND paid_at IS NOT NULL AND ended_at IS NULL)
        OR (state IN (2, 3) AND paid_at IS NULL AND ended_at IS NOT NULL)
    )
) STRICT;

CREATE INDEX orders_by_activity ON orders (activity_id, id);
CREATE INDEX orders_that_wait_for_payment ON orders (pay_deadline) WHERE state = 0;

-- What became of each ticket. No foreign key: a ticket of an unknown activity must be parkable.
CREATE TABLE records (
    activity_id INTEGER NOT NULL,
    user_id     TEXT    NOT NULL,
    epoch       INTEGER NOT NULL,
    sequence    INTEGER NOT NULL,
    quantity    INTEGER NOT NULL,
    request_key BLOB    NOT NULL,
    accepted_at INTEGER NOT NULL,
    state       INTEGER NOT NULL, -- 0 parked, 1 has an order, 2 failed
    reason      TEXT,             -- of a parked record in words, of a failed one as a code
    PRIMARY KEY (activity_id, user_id),
    CONSTRAINT records_sequence_is_positive CHECK (sequence >= 1),
    CONSTRAINT records_quantity_is_positive CHECK (quantity >= 1),
    CONSTRAINT records_key_has_16_bytes CHECK (length(request_key) = 16),
    CONSTRAINT records_reason_goes_with_state CHECK (
        (state = 0 AND reason IS NOT NULL)
        OR (state = 1 AND reason IS NULL)
        OR (state = 2 AND reason IN ('store_oversold', 'discarded'))
    )
) STRICT, WITHOUT ROWID;

-- Every movement of units, never changed or deleted. The store applies some of them by their ids.
CREATE TABLE stock_movements (
    id          INTEGER PRIMARY KEY,
    activity_id INTEGER NOT NULL REFERENCES activities (id),
    kind        TEXT    NOT NULL,
    units       INTEGER NOT NULL,
    moved_at    INTEGER NOT NULL,
    CONSTRAINT stock_movements_kind_is_known CHECK (
        kind IN (
            'created', 'added', 'settled', 'unsold_returned',
            'failed_to_product', 'failed_to_sale', 'cancelled_to_product', 'cancelled_to_sale'
        )
    ),
    -- A sold-out sale has nothing to return, but returns it once.
    CONSTRAINT stock_movements_units_are_positive CHECK (units >= 1 OR (units = 0 AND kind = 'unsold_returned'))
) STRICT;

CREATE INDEX stock_movements_by_activity ON stock_movements (activity_id, id);
CREATE UNIQUE INDEX stock_movements_one_return_of_unsold ON stock_movements (activity_id) WHERE kind = 'unsold_returned';

-- Money that arrived. The provider's id of a payment is the key, so that the same payment counts once.
CREATE TABLE payments (
    id           TEXT    PRIMARY KEY NOT NULL,
    order_no     TEXT    NOT NULL REFERENCES orders (order_no),
    amount_cents INTEGER NOT NULL,
    currency     TEXT    NOT NULL,
    outcome      TEXT    NOT NULL,
    received_at  INTEGER NOT NULL,
    CONSTRAINT payments_id_has_1_to_64_characters CHECK (length(id) BETWEEN 1 AND 64),
    CONSTRAINT payments_outcome_is_known CHECK (outcome IN ('paid', 'refund_required'))
) STRICT, WITHOUT ROWID;

-- An order is paid once.
CREATE UNIQUE INDEX payments_one_that_pays ON payments (order_no) WHERE outcome = 'paid';

CREATE TABLE refunds (
    payment_id   TEXT    PRIMARY KEY NOT NULL REFERENCES payments (id),
    order_no     TEXT    NOT NULL REFERENCES orders (order_no),
    amount_cents INTEGER NOT NULL,
    state        TEXT    NOT NULL,
    required_at  INTEGER NOT NULL,
    CONSTRAINT refunds_state_is_known CHECK (state IN ('required', 'done'))
) STRICT, WITHOUT ROWID;

CREATE INDEX refunds_by_order ON refunds (order_no);
CREATE INDEX refunds_that_are_owed ON refunds (state) WHERE state = 'required';

-- Tickets that could not be written. Each number is kept as it is, whatever it is: the row must always be writable.
CREATE TABLE dead_letters (
    id             INTEGER PRIMARY KEY,
    activity_id    INTEGER NOT NULL,
    epoch          INTEGER NOT NULL,
    sequence       INTEGER NOT NULL, -- 64 bits without a sign
    user_id        TEXT    NOT NULL,
    quantity       INTEGER NOT NULL,
    request_id     TEXT    NOT NULL,
    attempts       INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    state          TEXT    NOT NULL,
    parked_at      INTEGER NOT NULL,
    discard_reason TEXT,
    unit_to        TEXT,
    CONSTRAINT dead_letters_state_is_known CHECK (state IN ('parked', 'retried', 'discarded')),
    CONSTRAINT dead_letters_reason_goes_with_discarded CHECK ((state = 'discarded') = (discard_reason IS NOT NULL)),
    CONSTRAINT dead_letters_units_go_once CHECK (unit_to IS NULL OR (state = 'discarded' AND unit_to IN ('sale', 'product')))
) STRICT;

CREATE INDEX dead_letters_by_ticket ON dead_letters (activity_id, sequence, epoch);
CREATE UNIQUE INDEX dead_letters_one_parked_of_a_ticket ON dead_letters (activity_id, sequence, epoch) WHERE state = 'parked';

CREATE TABLE schedules (
    id         INTEGER PRIMARY KEY,
    template   TEXT    NOT NULL, -- the activity of every round, as JSON
    cron       TEXT    NOT NULL,
    time_zone  TEXT    NOT NULL,
    lead_ms    INTEGER NOT NULL,
    enabled    INTEGER NOT NULL,
    last_round INTEGER,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    CONSTRAINT schedules_lead_is_not_negative CHECK (lead_ms >= 0),
    CONSTRAINT schedules_enabled_is_yes_or_no CHECK (enabled IN (0, 1))
) STRICT;

CREATE TABLE schedule_rounds (
    schedule_id INTEGER NOT NULL REFERENCES schedules (id),
    round       INTEGER NOT NULL, -- its start
    activity_id INTEGER NOT NULL REFERENCES activities (id),
    PRIMARY KEY (schedule_id, round)
) STRICT, WITHOUT ROWID;

-- One row once they were set.
CREATE TABLE switches (
    id       INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    json     TEXT    NOT NULL,
    CONSTRAINT switches_are_one_row CHECK (id = 1)
) STRICT;

-- Numbers of removed blocks are not given out again.
CREATE TABLE blocks (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL,
    value      TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    CONSTRAINT blocks_kind_is_known CHECK (kind IN ('ip', 'user', 'device'))
) STRICT;

CREATE TABLE audit_rows (
    id      INTEGER PRIMARY KEY,
    at      INTEGER NOT NULL,
    actor   TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    before  TEXT    NOT NULL,
    after   TEXT    NOT NULL
) STRICT;

-- Idempotency keys of operators. One request may do several actions under its key.
CREATE TABLE admin_requests (
    request_key TEXT    NOT NULL,
    action      TEXT    NOT NULL,
    digest      BLOB    NOT NULL,
    result_id   INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (request_key, action),
    CONSTRAINT admin_requests_key_has_1_to_64_characters CHECK (length(request_key) BETWEEN 1 AND 64),
    CONSTRAINT admin_requests_digest_has_16_bytes CHECK (length(digest) = 16)
) STRICT, WITHOUT ROWID;

-- What ties the database to its journal.
CREATE TABLE installation (
    id              INTEGER PRIMARY KEY,
    installation_id BLOB,
    settled_batch   INTEGER NOT NULL,
    CONSTRAINT installation_is_one_row CHECK (id = 1),
    CONSTRAINT installation_id_has_16_bytes CHECK (installation_id IS NULL OR length(installation_id) = 16)
) STRICT;

INSERT INTO installation (id, installation_id, settled_batch) VALUES (1, NULL, 0);
