//! Facts about pictures and their sums.

use seckill_sale::Challenge;

use crate::challenge::Exercise;
use crate::challenge::captcha;
use crate::challenge::tests::{NOW, binding, challenges, posed, user};
use crate::purchase_token::Binding;

#[test]
fn picture_is_the_same_for_a_nonce_small_and_without_a_letter_of_what_it_asks() {
    let alice = user("alice");
    let bound = binding(&alice, 1, "");
    let image = |random| match posed(Challenge::Captcha, &bound, random).exercise {
        Exercise::Captcha { image } => image,
        Exercise::Pow { .. } => panic!("a picture is asked for"),
    };
    for random in 0..200 {
        let drawn = image(random);
        assert_eq!(drawn, image(random));
        assert_ne!(drawn, image(random + 1));
        assert!(drawn.len() < 8_192, "{}", drawn.len());
        assert!(
            !["<text", "<title", "<desc", "id=", "class=", "<!--", "<script", "href"]
                .iter()
                .any(|word| drawn.contains(word))
        );
        // All strokes look alike, and nothing stands between them.
        let strokes = drawn.split_once("round\">").expect("a group").1;
        let strokes: Vec<_> = strokes.trim_end_matches("</g></svg>").split_inclusive("/>").collect();
        assert!(
            20 < strokes.len()
                && strokes
                    .iter()
                    .all(|stroke| stroke.starts_with("<path d=\"M") && stroke.len() < 60)
        );
    }
}

/// What five tries come to: no sum is likelier than one in 900.
#[test]
fn no_answer_is_much_likelier_than_others() {
    let alice = user("alice");
    let bound = binding(&alice, 1, "");
    let mut seen = std::collections::HashMap::<String, u32>::new();
    for random in 0..9_000 {
        let id = posed_id(&bound, random);
        let attempt = challenges().check(&id, Challenge::Captcha, &bound, NOW).expect("posed");
        *seen.entry(captcha::answer(&mut attempt.stream())).or_default() += 1;
    }
    // Ten are expected of each; thirty would be one in a million.
    assert!(seen.values().all(|times| *times < 30), "{seen:?}");
    assert!(800 < seen.len());
}

fn posed_id(bound: &Binding<'_>, random: u128) -> String {
    posed(Challenge::Captcha, bound, random).id
}
