//! What the cache finds, and what it never takes for found.

use seckill_sale::UserId;

use super::*;

fn identity(user: &str, expires_at: i64) -> Identity {
    Identity {
        user: UserId::new(user).expect("a user id"),
        expires_at: EpochMs(expires_at),
        level: None,
    }
}

#[test]
fn whole_token_is_compared() {
    let cache = TokenCache::new(8);
    let tail = "s".repeat(HASHED_BYTES);
    cache.put(
        format!("header.claims-of-a.{tail}").as_bytes(),
        identity("a", 10),
        EpochMs(0),
    );
    assert_eq!(
        cache.get(format!("header.claims-of-b.{tail}").as_bytes(), EpochMs(0)),
        None
    );
    assert_eq!(
        cache.get(format!("header.claims-of-a.{tail}").as_bytes(), EpochMs(0)),
        Some(identity("a", 10))
    );
}

#[test]
fn long_tokens_are_compared_to_their_end() {
    let cache = TokenCache::new(8);
    let tail = "s".repeat(HASHED_BYTES);
    let token = |n: usize| format!("{}{n}{tail}", "h".repeat(HEAD_BYTES));
    for length in [HEAD_BYTES - 1, HEAD_BYTES, HEAD_BYTES + 1, TOKEN_LENGTH_MAX] {
        let token = "x".repeat(length);
        cache.put(token.as_bytes(), identity("x", 10), EpochMs(0));
        assert!(cache.get(token.as_bytes(), EpochMs(0)).is_some(), "{length}");
    }
    cache.put(token(1).as_bytes(), identity("a", 10), EpochMs(0));
    assert_eq!(cache.get(token(2).as_bytes(), EpochMs(0)), None);
    assert_eq!(cache.get(token(1).as_bytes(), EpochMs(0)), Some(identity("a", 10)));
}

/// Tokens that share no tag: those that do take the place of each other.
fn tokens(cache: &TokenCache, count: usize) -> Vec<String> {
    let mut tags = Vec::new();
    let all = (0..).map(|n| format!("token {n}"));
    let differs = |token: &String| {
        let (_, tag) = cache.place(token.as_bytes());
        let is_new = !tags.contains(&tag);
        tags.push(tag);
        is_new
    };
    all.filter(differs).take(count).collect()
}

#[test]
fn expired_token_makes_room_first() {
    let cache = TokenCache::new(WAYS);
    let mut tokens = tokens(&cache, WAYS + 1);
    let newcomer = tokens.pop().expect("one more");
    for (n, token) in tokens.iter().enumerate() {
        let expires_at = if n == 3 { 10 } else { 1000 };
        cache.put(token.as_bytes(), identity("a", expires_at), EpochMs(0));
    }
    cache.put(newcomer.as_bytes(), identity("b", 1000), EpochMs(10));
    let kept = |n: &usize| cache.get(tokens[*n].as_bytes(), EpochMs(10)).is_some();
    assert_eq!((0..WAYS).filter(kept).collect::<Vec<_>>(), [0, 1, 2, 4, 5]);
    assert_eq!(cache.get(newcomer.as_bytes(), EpochMs(10)), Some(identity("b", 1000)));
}

#[test]
fn expiry_is_checked_on_every_hit() {
    let cache = TokenCache::new(8);
    cache.put(b"token", identity("a", 10), EpochMs(0));
    assert!(cache.get(b"token", EpochMs(9)).is_some());
    assert!(cache.get(b"token", EpochMs(10)).is_none());
}

#[test]
fn memory_is_bounded_by_places_and_by_the_length_of_a_token() {
    for entries in [1, 64, ENTRIES_DEFAULT] {
        let places = TokenCache::new(entries).sets.len() * WAYS;
        assert!((entries..entries + WAYS).contains(&places), "{places}");
    }
    let cache = TokenCache::new(64);
    let long = "x".repeat(TOKEN_LENGTH_MAX + 1);
    cache.put(long.as_bytes(), identity("a", 10), EpochMs(0));
    assert_eq!(cache.get(long.as_bytes(), EpochMs(0)), None);
}

#[test]
fn crowd_larger_than_the_cache_still_finds_part_of_itself() {
    let cache = TokenCache::new(1024);
    let round = || {
        let hit = |n: &i32| {
            let token = format!("token {n}");
            let found = cache.get(token.as_bytes(), EpochMs(0)).is_some();
            if !found {
                cache.put(token.as_bytes(), identity("a", 10), EpochMs(0));
            }
            found
        };
        (0..1500).filter(hit).count()
    };
    round();
    round();
    assert!(300 < round());
}
