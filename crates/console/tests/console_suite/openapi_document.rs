//! The description of the admin port as tests read it, and whether a value is what a schema of it says.

use http::Method;
use serde_json::{Map, Value};

use crate::house::House;

pub(crate) struct Document(Value);

/// One method of one path.
pub(crate) struct Operation {
    pub(crate) route: String,
    pub(crate) method: Method,
    described: Value,
}

impl Document {
    /// As anybody gets it, without a token.
    pub(crate) async fn of(house: &House) -> Self {
        let reply = house.ask(Method::GET, "/openapi.json").send().await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("content-type")),
            (200, "application/json")
        );
        Self(reply.json)
    }

    pub(crate) fn operations(&self) -> Vec<Operation> {
        let paths = self.0["paths"].as_object().expect("paths");
        let of_path = |(route, methods): (&String, &Value)| {
            let methods = methods.as_object().expect("methods").clone();
            let route = route.clone();
            methods.into_iter().map(move |(method, described)| Operation {
                route: route.clone(),
                method: method.to_uppercase().parse().expect("a method"),
                described,
            })
        };
        paths.iter().flat_map(of_path).collect()
    }

    pub(crate) fn operation(&self, method: &Method, route: &str) -> Operation {
        let mut all = self.operations().into_iter();
        all.find(|operation| operation.method == *method && operation.route == route)
            .unwrap_or_else(|| panic!("{method} {route} is not described"))
    }

    /// Schema of an operation's body, where it takes one.
    pub(crate) fn body(&self, operation: &Operation) -> Option<Value> {
        let schema = operation
            .described
            .pointer("/requestBody/content/application~1json/schema")?;
        Some(self.resolved(schema).clone())
    }

    /// What is said of a status; none where the operation does not answer with it.
    pub(crate) fn response(&self, operation: &Operation, status: u16) -> Option<Value> {
        let response = operation.described["responses"].get(status.to_string())?;
        Some(self.resolved(response).clone())
    }

    /// The codes that errors may have.
    pub(crate) fn codes(&self) -> &Value {
        &self.0["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]
    }

    pub(crate) fn resolved<'a>(&'a self, part: &'a Value) -> &'a Value {
        match part["$ref"].as_str() {
            Some(reference) => {
                let found = self.0.pointer(reference.trim_start_matches('#'));
                self.resolved(found.unwrap_or_else(|| panic!("{reference} leads nowhere")))
            }
            None => part,
        }
    }

    /// Members of an object, those of all its parts, with the names of those that are always there.
    fn members(&self, schema: &Value) -> (Map<String, Value>, Vec<Value>) {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for part in schema["allOf"].as_array().into_iter().flatten() {
            let (more, always) = self.members(self.resolved(part));
            properties.extend(more);
            required.extend(always);
        }
        properties.extend(schema["properties"].as_object().cloned().unwrap_or_default());
        required.extend(schema["required"].as_array().cloned().unwrap_or_default());
        (properties, required)
    }

    /// Where `value` is not what `schema` says; a member that is not described is such a place.
    pub(crate) fn misfits(&self, schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let schema = self.resolved(schema);
        if let Some(any) = schema["oneOf"].as_array() {
            let each: Vec<_> = any.iter().map(|one| self.misfits(one, value, at)).collect();
            let fits = each.iter().any(Vec::is_empty);
            return if fits { Vec::new() } else { each.concat() };
        }
        let mut misfits = Vec::new();
        if !has_type(schema, value) {
            misfits.push(format!("{at}: {value} is no {}", schema["type"]));
        }
        if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
            misfits.push(format!("{at}: {value} is none of {}", schema["enum"]));
        }
        for (at_index, item) in value.as_array().into_iter().flatten().enumerate() {
            misfits.extend(self.misfits(&schema["items"], item, &format!("{at}[{at_index}]")));
        }
        let (properties, required) = self.members(schema);
        let free = properties.is_empty() && schema["type"].is_null();
        let Some(members) = value.as_object().filter(|_| !free) else {
            return misfits;
        };
        let missing = required
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| !members.contains_key(*name));
        misfits.extend(missing.map(|name| format!("{at}.{name} is missing")));
        for (name, member) in members {
            match properties.get(name) {
                Some(schema) => misfits.extend(self.misfits(schema, member, &format!("{at}.{name}"))),
                None => misfits.push(format!("{at}.{name} is not described")),
            }
        }
        misfits
    }
}

/// Names of the types that a schema allows; none where it allows all.
pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

fn has_type(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    types.is_empty()
        || types.iter().any(|name| match *name {
            "null" => value.is_null(),
            "integer" => value.is_u64() || value.is_i64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            _ => value.is_object(),
        })
}
