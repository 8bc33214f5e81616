//! Every code that an answer can carry, with its HTTP status and its sentence in both languages. Same situation, same code, for ever.

/// Language of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    /// 简体中文, the default.
    #[default]
    Chinese,
    /// English.
    English,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $status:literal, $zh:literal, $en:literal;)*) => {
        /// What an answer says, as a number that programs branch on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $($(#[$doc])* $name,)* }

        impl Code {
            /// All codes, by number.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The number.
            #[must_use]
            pub const fn number(self) -> u32 {
                match self { $(Self::$name => $number,)* }
            }

            /// The HTTP status it is sent with, unless the answer says a narrower one.
            #[must_use]
            pub const fn http_status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }

            /// The sentence for people.
            #[must_use]
            pub const fn message(self, language: Language) -> &'static str {
                match (self, language) {
                    $((Self::$name, Language::Chinese) => $zh, (Self::$name, Language::English) => $en,)*
                }
            }
        }
    };
}

codes! {
    /// Malformed or out of range.
    Malformed = 40000, 400, "请求格式不正确", "The request is malformed or out of range";
    /// Before the window.
    NotStarted = 40001, 403, "活动未开始", "The sale has not started";
    /// After the window, or closed.
    Ended = 40002, 403, "活动已结束", "The sale has ended";
    /// A rate limit.
    TooOften = 40003, 429, "请求过于频繁，请稍后再试", "Too many requests, please slow down";
    /// One purchase per user and activity.
    AlreadyTook = 40004, 409, "您已参与过该活动", "You have taken part in this sale already";
    /// No unit left.
    SoldOut = 40005, 410, "商品已抢完", "Sold out";
    /// Paused, entrance shut, or read-only.
    Paused = 40006, 503, "活动暂停，请稍后再试", "The sale is paused, please try again later";
    /// No token, or a bad one.
    Unauthenticated = 40100, 401, "请先登录", "Please sign in";
    /// On a block list.
    Blocked = 40300, 403, "您已被限制参与", "You are blocked from this sale";
    /// Purchase token or challenge missing, wrong, expired or used.
    ChallengeFailed = 40301, 403, "请先完成验证", "The purchase token is missing or not valid";
    /// Cross-site request.
    ForeignOrigin = 40302, 403, "请求来源不被允许", "The origin of the request is not allowed";
    /// No such activity.
    UnknownActivity = 40400, 404, "活动不存在", "There is no such sale";
    /// No ticket or no order of this user.
    NotFound = 40401, 404, "没有找到所请求的内容", "What was asked for was not found";
    /// No such method on this path.
    MethodNotAllowed = 40500, 405, "不支持的请求方法", "The method is not allowed here";
    /// The request took too long to arrive.
    RequestTimeout = 40800, 408, "请求超时", "The request took too long to arrive";
    /// State conflict.
    Conflict = 40900, 409, "当前状态不允许此操作", "The present state does not allow this";
    /// Same idempotency key, other body.
    KeyReused = 42200, 422, "幂等键已用于另一请求", "The idempotency key was used with another request";
    /// Too many streams.
    TooManyStreams = 42901, 429, "连接过多，请改用轮询", "Too many streams, please poll instead";
    /// Headers too large.
    HeadersTooLarge = 43100, 431, "请求头过大", "The request headers are too large";
    /// A bug.
    Internal = 50000, 500, "系统开小差了", "Something went wrong on our side";
    /// Shed, or the store cannot be reached.
    Busy = 50300, 503, "活动太火爆，请稍后再试", "The sale is too hot right now, please try again in a moment";
    /// The backlog of accepted purchases is full.
    BacklogFull = 50301, 503, "排队人数过多，请稍后再试", "Too many purchases are waiting, please try again in a moment";
    /// Not known whether the purchase was accepted.
    OutcomeUnknown = 50302, 503, "结果确认中，请查询结果", "The outcome is not known yet, please poll the result";
    /// The store cannot admit now, for a stated reason.
    StoreNotReady = 50303, 503, "系统准备中，请稍后再试", "The sale is getting ready, please try again in a moment";
}

/// The sentence of [`Code::Blocked`] for whoever is not among those whom the sale is for, in Chinese and English: nobody has blocked him.
pub const NOT_ELIGIBLE: [&str; 2] = ["该活动仅限指定用户参与", "This sale is for certain buyers only"];

/// The sentence of code 0 with a queued ticket.
pub const QUEUED: [&str; 2] = ["排队中", "Queued"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_ascend() {
        for pair in Code::ALL.windows(2) {
            assert!(pair[0].number() < pair[1].number(), "{pair:?}");
        }
    }

    #[test]
    fn every_code_speaks_both_languages() {
        for code in Code::ALL {
            assert!(code.message(Language::English).is_ascii(), "{code:?}");
            assert!(!code.message(Language::Chinese).is_ascii(), "{code:?}");
        }
    }
}
