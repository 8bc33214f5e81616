//! What is wrong with a JSON body, in words of our own: the member, and what it takes. serde says it in words of Rust and of its reader.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use serde_path_to_error::{Path, Segment};

/// Why a body can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misread {
    /// The member, one within another behind a dot; none where the body as a whole is of the wrong form.
    pub field: Option<String>,
    /// What is wrong with it: for a member, what it takes.
    pub why: String,
}

/// One JSON object and nothing behind it.
///
/// # Errors
/// [`Misread`].
pub fn read_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Misread> {
    // serde would take an array for an object, member by member.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Misread::whole("the body must be a JSON object"));
    }
    // Where it stands is looked for when something is wrong, and only then.
    serde_json::from_slice(bytes).map_err(|error| explain::<T>(bytes, &error))
}

impl Misread {
    fn whole(why: impl Into<String>) -> Self {
        Self {
            field: None,
            why: why.into(),
        }
    }

    /// What serde said of the member at a path, or of one of those within it.
    #[must_use]
    pub fn of_said(path: &str, said: &str) -> Self {
        let (kind, named) = said.split_once('`').unwrap_or((said, ""));
        let member = named.split('`').next().unwrap_or_default();
        let (field, why) = match kind {
            "unknown field " => (within(path, member), format!("there is no such member{}", known(said))),
            "missing field " => (within(path, member), "is missing".to_owned()),
            "duplicate field " => (within(path, member), "stands there twice".to_owned()),
            _ => (path.to_owned(), takes(said)),
        };
        Self {
            field: Some(field).filter(|field| !field.is_empty()),
            why,
        }
    }
}

/// The path of a member within the object at a path; of an unknown one that path may end with it already.
fn within(path: &str, member: &str) -> String {
    let object = path.strip_suffix(member).filter(|_| !member.is_empty());
    match object {
        _ if path.is_empty() => member.to_owned(),
        Some(object) if object.is_empty() || object.ends_with('.') => path.to_owned(),
        _ => format!("{path}.{member}"),
    }
}

/// The members that there are.
fn known(said: &str) -> String {
    match said.rsplit_once(", expected ") {
        Some((_, expected)) => format!("; there are {}", listed(expected)),
        None => "; there is none".to_owned(),
    }
}

/// `one of `a`, `b`` and ``a` or `b`` as one list.
fn listed(expected: &str) -> String {
    let names: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
    names.join(", ")
}

/// What a member takes instead of what it has.
fn takes(said: &str) -> String {
    // What was sent stands before the last of these words, and may have them, too.
    let expected = said.rsplit_once(", expected ").map(|(_, expected)| expected);
    let Some(expected) = expected.or_else(|| said.strip_prefix("expected ")) else {
        return said.to_owned();
    };
    if said.starts_with("unknown variant ") {
        return format!("must be one of {}", listed(expected));
    }
    let is_above = said.starts_with("invalid value: integer `") && !said.contains('-');
    let expected = match expected {
        "a boolean" => "true or false",
        "a string" => "a text",
        "f64" => "a number",
        "u64" => "a whole number from 0 on",
        "u32" if is_above => "a whole number up to 4294967295",
        "u32" => "a whole number from 0 on",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    };
    format!("must be {expected}")
}

/// The same body once more, with an eye on where it goes wrong.
fn explain<T: DeserializeOwned>(bytes: &[u8], error: &serde_json::Error) -> Misread {
    if error.classify() != Category::Data {
        return misfit_word::<T>(bytes).unwrap_or_else(|| {
            let (line, column) = (error.line(), error.column());
            Misread::whole(format!("the body is not JSON from line {line}, column {column} on"))
        });
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Ok(_) => Misread::whole(without_place(error)),
        Err(traced) => Misread::of_said(&dotted(traced.path()), &without_place(traced.inner())),
    }
}

/// Where a member takes one of some words and something else stands there, the reader takes it for JSON that breaks off, and does not say which
/// words there are; of a word that there is none of it does.
fn misfit_word<T: DeserializeOwned>(bytes: &[u8]) -> Option<Misread> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let path = dotted(serde_path_to_error::deserialize::<_, T>(&mut reader).err()?.path());
    let mut body: Value = serde_json::from_slice(bytes).ok()?;
    *body.pointer_mut(&format!("/{}", path.replace('.', "/")))? = Value::from("");
    let traced = serde_path_to_error::deserialize::<_, T>(&body).err()?;
    Some(Misread::of_said(&dotted(traced.path()), &traced.inner().to_string()))
}

fn dotted(path: &Path) -> String {
    let members = path.iter().filter_map(|segment| match segment {
        Segment::Map { key } => Some(key.clone()),
        Segment::Seq { index } => Some(index.to_string()),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    members.collect::<Vec<_>>().join(".")
}

fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

#[cfg(test)]
#[path = "misread_tests.rs"]
mod tests;
