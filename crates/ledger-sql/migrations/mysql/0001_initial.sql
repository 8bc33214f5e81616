-- Tables of the ledger on MariaDB and MySQL.
--
-- Moments are milliseconds since 1970-01-01T00:00:00Z, money is whole minor units. Ids and words are bytes (VARBINARY): a collation would
-- take different user ids for one. What a state allows stands in CHECKs; their names are what a rejected row is reported under.
-- These databases end a transaction at each CREATE: a table that is there is left alone, so that a broken-off migration can go on.

CREATE TABLE IF NOT EXISTS products (
    id          BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
    name        VARCHAR(120)   NOT NULL,
    price_cents BIGINT         NOT NULL,
    currency    VARBINARY(8)   NOT NULL,
    stock       BIGINT         NOT NULL, -- units that no activity holds
    version     BIGINT         NOT NULL,
    created_at  BIGINT         NOT NULL,
    CONSTRAINT products_name_has_1_to_120_characters CHECK (char_length(name) BETWEEN 1 AND 120),
    CONSTRAINT products_price_is_not_negative CHECK (price_cents >= 0),
    CONSTRAINT products_currency_has_3_letters CHECK (length(currency) = 3),
    CONSTRAINT products_stock_is_not_negative CHECK (stock >= 0)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS activities (
    id                  BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
    product_id          BIGINT         NOT NULL,
    title               VARCHAR(120)   NOT NULL,
    seckill_price_cents BIGINT         NOT NULL,
    currency            VARBINARY(8)   NOT NULL,
    starts_at           BIGINT         NOT NULL,
    ends_at             BIGINT         NOT NULL, -- first millisecond that does not admit any more
    per_user_limit      BIGINT         NOT NULL,
    shards              BIGINT         NOT NULL,
    challenge           VARBINARY(32)  NOT NULL,
    status              VARBINARY(32)  NOT NULL,
    epoch               BIGINT,                  -- generation of the store's state; NULL until preheated
    resumes_at          BIGINT,
    word_at             BIGINT,                  -- when an operator last paused it or went on; NULL: never
    closed_at           BIGINT,
    notice              MEDIUMTEXT,
    min_level           BIGINT,                  -- least level of a user who may buy
    eligible_list       BIGINT,                  -- version of its list of users; NULL without one
    version             BIGINT         NOT NULL,
    created_at          BIGINT         NOT NULL,
    CONSTRAINT activities_product FOREIGN KEY (product_id) REFERENCES products (id),
    CONSTRAINT activities_title_has_1_to_120_characters CHECK (char_length(title) BETWEEN 1 AND 120),
    CONSTRAINT activities_price_is_not_negative CHECK (seckill_price_cents >= 0),
    CONSTRAINT activities_end_lies_after_start CHECK (starts_at < ends_at),
    CONSTRAINT activities_limit_is_positive CHECK (per_user_limit >= 1),
    CONSTRAINT activities_shards_are_positive CHECK (shards >= 1),
    CONSTRAINT activities_level_is_not_negative CHECK (min_level >= 0),
    CONSTRAINT activities_challenge_is_known CHECK (challenge IN ('none', 'token', 'captcha', 'pow')),
    CONSTRAINT activities_status_is_known CHECK (status IN ('draft', 'running', 'paused', 'closed')),
    CONSTRAINT activities_closed_at_goes_with_closed CHECK ((status = 'closed') = (closed_at IS NOT NULL)),
    CONSTRAINT activities_resumes_at_goes_with_paused CHECK (resumes_at IS NULL OR status = 'paused')
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Lists of those who may buy: fingerprints of users, or a Bloom filter of so many bits.
CREATE TABLE IF NOT EXISTS eligible_lists (
    activity_id BIGINT        NOT NULL PRIMARY KEY,
    salt        VARBINARY(16) NOT NULL, -- of the fingerprints; empty where there are none
    bits        BIGINT,
    hashes      BIGINT,
    CONSTRAINT eligible_lists_activity FOREIGN KEY (activity_id) REFERENCES activities (id),
    CONSTRAINT eligible_lists_are_of_one_form CHECK (
        (length(salt) = 16 AND bits IS NULL AND hashes IS NULL)
        OR (length(salt) = 0 AND bits >= 1 AND hashes >= 1)
    )
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS eligible_pieces (
    activity_id BIGINT     NOT NULL,
    piece       BIGINT     NOT NULL,
    bytes       MEDIUMBLOB NOT NULL,
    PRIMARY KEY (activity_id, piece),
    CONSTRAINT eligible_pieces_list FOREIGN KEY (activity_id) REFERENCES eligible_lists (activity_id)
) ENGINE = InnoDB;

-- The row that every settlement locks and guards.
CREATE TABLE IF NOT EXISTS stock (
    activity_id BIGINT NOT NULL PRIMARY KEY,
    total       BIGINT NOT NULL, -- units ever given to the sale
    available   BIGINT NOT NULL, -- units neither sold nor returned
    version     BIGINT NOT NULL,
    CONSTRAINT stock_activity FOREIGN KEY (activity_id) REFERENCES activities (id),
    CONSTRAINT stock_is_not_oversold CHECK (available >= 0),
    CONSTRAINT stock_is_not_more_than_all CHECK (available <= total)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS orders (
    id           BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY, -- order of writing; the number that people see is order_no
    order_no     VARBINARY(32)  NOT NULL,
    activity_id  BIGINT         NOT NULL,
    product_id   BIGINT         NOT NULL,
    user_id      VARBINARY(64)  NOT NULL,
    quantity     BIGINT         NOT NULL,
    price_cents  BIGINT         NOT NULL,
    amount_cents BIGINT         NOT NULL,
    currency     VARBINARY(8)   NOT NULL,
    state        SMALLINT       NOT NULL, -- 0 waits for payment, 1 paid, 2 cancelled, 3 expired
    created_at   BIGINT         NOT NULL,
    pay_deadline BIGINT         NOT NULL,
    paid_at      BIGINT,
    ended_at     BIGINT,
    CONSTRAINT orders_number UNIQUE (order_no),
    -- One order of a user in an activity; by it a user's orders are listed too.
    CONSTRAINT orders_one_of_a_user UNIQUE (user_id, activity_id),
    CONSTRAINT orders_quantity_is_positive CHECK (quantity >= 1),
    CONSTRAINT orders_amount_is_price_by_quantity CHECK (amount_cents = price_cents * quantity),
    CONSTRAINT orders_moments_go_with_state CHECK (
        (state = 0 AND paid_at IS NULL AND ended_at IS NULL)
        OR (state = 1 AND paid_at IS NOT NULL AND ended_at IS NULL)
        OR (state IN (2, 3) AND paid_at IS NULL AND ended_at IS NOT NULL)
    ),
    INDEX orders_by_activity (activity_id, id),
    INDEX orders_that_wait_for_payment (state, pay_deadline)
) ENGINE = InnoDB;

-- What became of each ticket. No foreign key: a ticket of an unknown activity must be parkable.
CREATE TABLE IF NOT EXISTS records (
    activity_id BIGINT         NOT NULL,
    user_id     VARBINARY(64)  NOT NULL,
    epoch       BIGINT         NOT NULL,
    sequence    BIGINT         NOT NULL,
    quantity    BIGINT         NOT NULL,
    request_key BINARY(16)     NOT NULL,
    accepted_at BIGINT         NOT NULL,
    state       SMALLINT       NOT NULL, -- 0 parked, 1 has an order, 2 failed
    reason      TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, -- of a parked record in words, of a failed one as a code
    PRIMARY KEY (activity_id, user_id),
    CONSTRAINT records_sequence_is_positive CHECK (sequence >= 1),
    CONSTRAINT records_quantity_is_positive CHECK (quantity >= 1),
    CONSTRAINT records_reason_goes_with_state CHECK (
        (state = 0 AND reason IS NOT NULL)
        OR (state = 1 AND reason IS NULL)
        OR (state = 2 AND reason IN ('store_oversold', 'discarded'))
    )
) ENGINE = InnoDB;

-- Every movement of units, never changed or deleted. The store applies some of them by their ids.
CREATE TABLE IF NOT EXISTS stock_movements (
    id          BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
    activity_id BIGINT         NOT NULL,
    kind        VARBINARY(32)  NOT NULL,
    units       BIGINT         NOT NULL,
    moved_at    BIGINT         NOT NULL,
    -- A sold-out sale has nothing to return, but returns it once.
    returned_of BIGINT AS (CASE WHEN kind = 'unsold_returned' THEN activity_id END) VIRTUAL,
    CONSTRAINT stock_movements_activity FOREIGN KEY (activity_id) REFERENCES activities (id),
    CONSTRAINT stock_movements_kind_is_known CHECK (
        kind IN (
            'created', 'added', 'settled', 'unsold_returned',
            'failed_to_product', 'failed_to_sale', 'cancelled_to_product', 'cancelled_to_sale'
        )
    ),
    CONSTRAINT stock_movements_units_are_positive CHECK (units >= 1 OR (units = 0 AND kind = 'unsold_returned')),
    CONSTRAINT stock_movements_one_return_of_unsold UNIQUE (returned_of),
    INDEX stock_movements_by_activity (activity_id, id)
) ENGINE = InnoDB;

-- Money that arrived. The provider's id of a payment is the key, so that the same payment counts once.
CREATE TABLE IF NOT EXISTS payments (
    id           VARBINARY(256) NOT NULL PRIMARY KEY,
    order_no     VARBINARY(32)  NOT NULL,
    amount_cents BIGINT         NOT NULL,
    currency     VARBINARY(8)   NOT NULL,
    outcome      VARBINARY(32)  NOT NULL,
    received_at  BIGINT         NOT NULL,
    -- An order is paid once.
    pays         VARBINARY(32) AS (CASE WHEN outcome = 'paid' THEN order_no END) VIRTUAL,
    CONSTRAINT payments_order FOREIGN KEY (order_no) REFERENCES orders (order_no),
    CONSTRAINT payments_id_has_1_to_64_characters CHECK (char_length(CONVERT(id USING utf8mb4)) BETWEEN 1 AND 64),
    CONSTRAINT payments_outcome_is_known CHECK (outcome IN ('paid', 'refund_required')),
    CONSTRAINT payments_one_that_pays UNIQUE (pays)
) ENGINE = InnoDB;

CREATE TABLE IF NOT EXISTS refunds (
    payment_id   VARBINARY(256) NOT NULL PRIMARY KEY,
    order_no     VARBINARY(32)  NOT NULL,
    amount_cents BIGINT         NOT NULL,
    state        VARBINARY(32)  NOT NULL,
    required_at  BIGINT         NOT NULL,
    CONSTRAINT refunds_payment FOREIGN KEY (payment_id) REFERENCES payments (id),
    CONSTRAINT refunds_order FOREIGN KEY (order_no) REFERENCES orders (order_no),
    CONSTRAINT refunds_state_is_known CHECK (state IN ('required', 'done')),
    INDEX refunds_that_are_owed (state)
) ENGINE = InnoDB;

-- Tickets that could not be written. Each number is kept as it is, whatever it is: the row must always be writable.
CREATE TABLE IF NOT EXISTS dead_letters (
    id             BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
    activity_id    BIGINT         NOT NULL,
    epoch          BIGINT         NOT NULL,
    sequence       BIGINT         NOT NULL, -- 64 bits without a sign
    user_id        VARBINARY(64)  NOT NULL,
    quantity       BIGINT         NOT NULL,
    request_id     VARBINARY(64)  NOT NULL,
    attempts       BIGINT         NOT NULL,
    reason         TEXT           NOT NULL,
    state          VARBINARY(32)  NOT NULL,
    parked_at      BIGINT         NOT NULL,
    discard_reason TEXT,
    unit_to        VARBINARY(32),
    parked         BIGINT AS (CASE WHEN state = 'parked' THEN 1 END) VIRTUAL,
    CONSTRAINT dead_letters_state_is_known CHECK (state IN ('parked', 'retried', 'discarded')),
    CONSTRAINT dead_letters_reason_goes_with_discarded CHECK ((state = 'discarded') = (discard_reason IS NOT NULL)),
    CONSTRAINT dead_letters_units_go_once CHECK (unit_to IS NULL OR (state = 'discarded' AND unit_to IN ('sale', 'product'))),
    CONSTRAINT dead_letters_one_parked_of_a_ticket UNIQUE (activity_id, sequence, epoch, parked)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS schedules (
    id         BIGINT         NOT NULL AUTO_INCREMENT PRIMARY KEY,
    template   MEDIUMTEXT     NOT NULL, -- the activity of every round, as JSON
    cron       TEXT           NOT NULL,
    time_zone  TEXT           NOT NULL,
    lead_ms    BIGINT         NOT NULL,
    enabled    BIGINT         NOT NULL,
    last_round BIGINT,
    last_error TEXT,
    created_at BIGINT         NOT NULL,
    CONSTRAINT schedules_lead_is_not_negative CHECK (lead_ms >= 0),
    CONSTRAINT schedules_enabled_is_yes_or_no CHECK (enabled IN (0, 1))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS schedule_rounds (
    schedule_id BIGINT NOT NULL,
    round       BIGINT NOT NULL, -- its start
    activity_id BIGINT NOT NULL,
    PRIMARY KEY (schedule_id, round),
    CONSTRAINT schedule_rounds_schedule FOREIGN KEY (schedule_id) REFERENCES schedules (id),
    CONSTRAINT schedule_rounds_activity FOREIGN KEY (activity_id) REFERENCES activities (id)
) ENGINE = InnoDB;

-- One row once they were set.
CREATE TABLE IF NOT EXISTS switches (
    id       BIGINT     NOT NULL PRIMARY KEY,
    revision BIGINT     NOT NULL,
    json     MEDIUMTEXT NOT NULL,
    CONSTRAINT switches_are_one_row CHECK (id = 1)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS blocks (
    id         BIGINT        NOT NULL AUTO_INCREMENT PRIMARY KEY,
    kind       VARBINARY(32) NOT NULL,
    value      TEXT          NOT NULL,
    reason     TEXT          NOT NULL,
    expires_at BIGINT,
    created_at BIGINT        NOT NULL,
    CONSTRAINT blocks_kind_is_known CHECK (kind IN ('ip', 'user', 'device'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS audit_rows (
    id       BIGINT     NOT NULL AUTO_INCREMENT PRIMARY KEY,
    at       BIGINT     NOT NULL,
    actor    TEXT       NOT NULL,
    action   TEXT       NOT NULL,
    subject  TEXT       NOT NULL,
    "before" MEDIUMTEXT NOT NULL,
    "after"  MEDIUMTEXT NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Idempotency keys of operators. One request may do several actions under its key.
CREATE TABLE IF NOT EXISTS admin_requests (
    request_key VARBINARY(256) NOT NULL,
    action      VARBINARY(64)  NOT NULL,
    digest      BINARY(16)     NOT NULL,
    result_id   BIGINT         NOT NULL,
    created_at  BIGINT         NOT NULL,
    PRIMARY KEY (request_key, action),
    CONSTRAINT admin_requests_key_has_1_to_64_characters CHECK (
        char_length(CONVERT(request_key USING utf8mb4)) BETWEEN 1 AND 64
    )
) ENGINE = InnoDB;

-- What ties the database to its journal.
CREATE TABLE IF NOT EXISTS installation (
    id              BIGINT NOT NULL PRIMARY KEY,
    installation_id BINARY(16),
    settled_batch   BIGINT NOT NULL,
    CONSTRAINT installation_is_one_row CHECK (id = 1)
) ENGINE = InnoDB;

INSERT INTO installation (id, installation_id, settled_batch)
    SELECT 1, NULL, 0 FROM (SELECT 1 AS one) AS nothing WHERE NOT EXISTS (SELECT 1 FROM installation);
