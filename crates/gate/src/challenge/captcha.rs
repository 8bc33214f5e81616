//! A small sum as a picture: `483 + 7 = ?`, drawn as single strokes.
//!
//! Three digits and one: easy in the head, and no answer is likelier than one in 900, so that five tries find it in one of 180 challenges.
//! The picture has no text and no groups. Each glyph is cut into strokes that are bent, moved and turned, noise is drawn by the same hand,
//! and all of it comes in a random order. It keeps scripts off that were not written for it; a program that reads pictures reads this one.

use std::fmt::Write as _;

use crate::challenge::attempt::Stream;

/// What the picture asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sum {
    first: u32,
    second: u32,
    is_minus: bool,
}

impl Sum {
    fn of(stream: &mut Stream) -> Self {
        Self {
            first: 100 + stream.below(900),
            second: 2 + stream.below(8),
            is_minus: stream.below(2) == 1,
        }
    }

    const fn answer(self) -> u32 {
        match self.is_minus {
            true => self.first - self.second,
            false => self.first + self.second,
        }
    }
}

/// Whether the answer is right: without blanks around it, digits of ordinary or full width.
pub(crate) fn is_answer(stream: &mut Stream, answer: &str) -> bool {
    let narrow = |letter: char| match letter {
        '０'..='９' => char::from_u32(u32::from(letter) - u32::from('０') + u32::from('0')).unwrap_or(letter),
        _ => letter,
    };
    let answer: String = answer.trim().chars().map(narrow).collect();
    answer == Sum::of(stream).answer().to_string()
}

/// A point on the grid that glyphs are drawn on: 4 wide, 6 high.
type Point = (i32, i32);

const WIDTH: i32 = 240;
const HEIGHT: i32 = 72;
/// Lines of noise that are tried; those that come near the sign are left out.
const NOISE: usize = 11;
const SIGN_WIDTH: i32 = 22;
const NOISE_GAP: i32 = 4;

/// The strokes of a glyph: each pair of neighbours of a run is one.
fn runs(glyph: char) -> &'static [&'static [Point]] {
    match glyph {
        '0' => &[&[(1, 0), (3, 0), (4, 2), (4, 4), (3, 6), (1, 6), (0, 4), (0, 2), (1, 0)]],
        '1' => &[&[(1, 1), (2, 0), (2, 3), (2, 6)]],
        '2' => &[&[(0, 1), (1, 0), (3, 0), (4, 2), (2, 4), (0, 6), (4, 6)]],
        '3' => &[&[(0, 0), (4, 0), (2, 2), (4, 4), (3, 6), (1, 6), (0, 5)]],
        '4' => &[&[(3, 6), (3, 3), (3, 0), (0, 4), (4, 4)]],
        '5' => &[&[(4, 0), (0, 0), (0, 3), (3, 3), (4, 4), (3, 6), (0, 6)]],
        '6' => &[&[(3, 0), (1, 1), (0, 3), (0, 5), (1, 6), (3, 6), (4, 5), (3, 3), (0, 4)]],
        '7' => &[&[(0, 0), (4, 0), (2, 3), (1, 6)]],
        '8' => &[&[
            (2, 3),
            (0, 2),
            (1, 0),
            (3, 0),
            (4, 2),
            (2, 3),
            (4, 5),
            (3, 6),
            (1, 6),
            (0, 5),
            (2, 3),
        ]],
        '9' => &[&[(4, 2), (1, 3), (0, 2), (1, 0), (3, 0), (4, 2), (4, 4), (2, 6)]],
        '+' => &[&[(2, 1), (2, 3), (2, 5)], &[(0, 3), (2, 3), (4, 3)]],
        '-' => &[&[(0, 3), (2, 3), (4, 3)]],
        '=' => &[&[(0, 2), (4, 2)], &[(0, 4), (4, 4)]],
        _ => &[&[(0, 1), (1, 0), (3, 0), (4, 2), (2, 3), (2, 4)], &[(2, 6), (2, 5)]],
    }
}

/// An SVG document of less than 8 KB.
pub(crate) fn image(stream: &mut Stream) -> String {
    let sum = Sum::of(stream);
    let sign = if sum.is_minus { '-' } else { '+' };
    let text = format!("{}{sign}{}=?", sum.first, sum.second);
    let mut strokes = Vec::new();
    let mut left = 10 + spread(stream, 4);
    let mut sign_left = 0;
    for glyph in text.chars() {
        if glyph == sign {
            sign_left = left;
        }
        let place = Hand::new(left, stream);
        for run in runs(glyph) {
            for pair in run.windows(2) {
                strokes.push(stroke(place.put(pair[0]), place.put(pair[1]), stream));
            }
        }
        left += 31 + spread(stream, 2);
    }
    for _ in 0..NOISE {
        let from = (below(stream, WIDTH), below(stream, HEIGHT));
        let to = (from.0 + spread(stream, 40), from.1 + spread(stream, 24));
        // A line through a minus would make it a plus.
        let is_left_of_it = from.0.max(to.0) < sign_left - NOISE_GAP;
        let is_right_of_it = sign_left + SIGN_WIDTH + NOISE_GAP < from.0.min(to.0);
        if is_left_of_it || is_right_of_it {
            strokes.push(stroke(from, to, stream));
        }
    }
    for last in (1..strokes.len()).rev() {
        let other = stream.below(last as u32 + 1) as usize;
        strokes.swap(last, other);
    }
    let mut image = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/><g fill="none" stroke="#333" stroke-width="2.5" stroke-linecap="round">"##
    );
    strokes.iter().for_each(|stroke| image.push_str(stroke));
    image.push_str("</g></svg>");
    image
}

/// How one glyph is written: where, how large, how slanted.
struct Hand {
    left: i32,
    top: i32,
    wide: i32,
    high: i32,
    slant: i32,
    tilt: i32,
}

impl Hand {
    fn new(left: i32, stream: &mut Stream) -> Self {
        Self {
            left,
            top: 14 + spread(stream, 6),
            wide: 48 + spread(stream, 7),
            high: 66 + spread(stream, 8),
            slant: spread(stream, 8),
            tilt: spread(stream, 6),
        }
    }

    /// A point of the grid on the picture; tenths are cut off.
    const fn put(&self, (x, y): Point) -> Point {
        (
            self.left + (x * self.wide + (3 - y) * self.slant) / 10,
            self.top + (y * self.high + x * self.tilt) / 10,
        )
    }
}

/// A line that is not quite straight, and begins and ends not quite where it should.
fn stroke(from: Point, to: Point, stream: &mut Stream) -> String {
    let mut moved = |(x, y): Point| (x + spread(stream, 1), y + spread(stream, 1));
    let (from, to) = (moved(from), moved(to));
    let bend = moved((i32::midpoint(from.0, to.0), i32::midpoint(from.1, to.1)));
    let bend = (bend.0 + spread(stream, 2), bend.1 + spread(stream, 2));
    let (from, to) = if stream.below(2) == 1 { (to, from) } else { (from, to) };
    let mut path = String::with_capacity(48);
    let _ = write!(
        path,
        r#"<path d="M{} {}Q{} {} {} {}"/>"#,
        from.0, from.1, bend.0, bend.1, to.0, to.1
    );
    path
}

fn below(stream: &mut Stream, end: i32) -> i32 {
    stream.below(end.unsigned_abs()).cast_signed()
}

/// From `-most` to `most`.
fn spread(stream: &mut Stream, most: i32) -> i32 {
    below(stream, 2 * most + 1) - most
}

/// For tests of the gate: the answer that the picture asks for.
#[cfg(test)]
pub(crate) fn answer(stream: &mut Stream) -> String {
    Sum::of(stream).answer().to_string()
}

#[cfg(test)]
#[path = "captcha_tests.rs"]
mod tests;
