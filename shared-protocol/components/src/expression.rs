//! Expressions over props: MiniJinja's expression syntax without the dangerous parts.
//!
//! Evaluation always terminates: there are no loops, and the expression length (the compiler is recursive), the fuel per
//! evaluation and the size of the result are limited. The environment contains only the filters and tests listed here. An
//! undefined name is an error, never an empty string.

use crate::{Component, MAX_EXPRESSION_CHARS, MAX_TEXT, SourcePosition, text::invisible};
use minijinja::Value;
use minijinja::{
    Environment, Error, ErrorKind, UndefinedBehavior, filters, tests,
    value::{Enumerator, Object, ValueKind},
};
use serde_json::Map;
use shared_protocol::text::truncate_chars;
use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, LazyLock},
};

/// The maximum number of steps of one evaluation.
const MAX_EVAL_STEPS: u64 = 20_000;
/// The maximum number of items in a list that an expression returns.
const MAX_LIST_ITEMS: usize = 10_000;

/// Adds a filter or a test to the environment under its name.
type Registration = fn(&mut Environment<'static>, &'static str);

const FILTERS: &[(&str, Registration)] = &[
    ("abs", |e, name| e.add_filter(name, filters::abs)),
    ("capitalize", |e, name| e.add_filter(name, filters::capitalize)),
    ("default", |e, name| e.add_filter(name, filters::default)),
    ("first", |e, name| e.add_filter(name, filters::first)),
    ("float", |e, name| e.add_filter(name, filters::float)),
    ("initials", |e, name| e.add_filter(name, initials)),
    ("int", |e, name| e.add_filter(name, filters::int)),
    ("join", |e, name| e.add_filter(name, filters::join)),
    ("last", |e, name| e.add_filter(name, filters::last)),
    ("length", |e, name| e.add_filter(name, filters::length)),
    ("list", |e, name| e.add_filter(name, filters::list)),
    ("lower", |e, name| e.add_filter(name, filters::lower)),
    ("map", |e, name| e.add_filter(name, filters::map)),
    ("max", |e, name| e.add_filter(name, filters::max)),
    ("min", |e, name| e.add_filter(name, filters::min)),
    ("reject", |e, name| e.add_filter(name, filters::reject)),
    ("rejectattr", |e, name| e.add_filter(name, filters::rejectattr)),
    ("replace", |e, name| e.add_filter(name, replace)),
    ("reverse", |e, name| e.add_filter(name, filters::reverse)),
    ("round", |e, name| e.add_filter(name, filters::round)),
    ("select", |e, name| e.add_filter(name, filters::select)),
    ("selectattr", |e, name| e.add_filter(name, filters::selectattr)),
    ("sort", |e, name| e.add_filter(name, filters::sort)),
    ("string", |e, name| e.add_filter(name, filters::string)),
    ("sum", |e, name| e.add_filter(name, filters::sum)),
    ("title", |e, name| e.add_filter(name, filters::title)),
    ("trim", |e, name| e.add_filter(name, filters::trim)),
    ("truncate", |e, name| e.add_filter(name, |text: String, most: usize| truncate_chars(&text, most))),
    ("unique", |e, name| e.add_filter(name, filters::unique)),
    ("upper", |e, name| e.add_filter(name, filters::upper)),
];

const TESTS: &[(&str, Registration)] = &[
    ("boolean", |e, name| e.add_test(name, tests::is_boolean)),
    ("defined", |e, name| e.add_test(name, tests::is_defined)),
    ("divisibleby", |e, name| e.add_test(name, tests::is_divisibleby)),
    ("endingwith", |e, name| e.add_test(name, tests::is_endingwith)),
    ("eq", |e, name| e.add_test(name, tests::is_eq)),
    ("even", |e, name| e.add_test(name, tests::is_even)),
    ("false", |e, name| e.add_test(name, tests::is_false)),
    ("ge", |e, name| e.add_test(name, tests::is_ge)),
    ("gt", |e, name| e.add_test(name, tests::is_gt)),
    ("in", |e, name| e.add_test(name, tests::is_in)),
    ("le", |e, name| e.add_test(name, tests::is_le)),
    ("lt", |e, name| e.add_test(name, tests::is_lt)),
    ("mapping", |e, name| e.add_test(name, tests::is_mapping)),
    ("ne", |e, name| e.add_test(name, tests::is_ne)),
    ("none", |e, name| e.add_test(name, tests::is_none)),
    ("number", |e, name| e.add_test(name, tests::is_number)),
    ("odd", |e, name| e.add_test(name, tests::is_odd)),
    ("sequence", |e, name| e.add_test(name, tests::is_sequence)),
    ("startingwith", |e, name| e.add_test(name, tests::is_startingwith)),
    ("string", |e, name| e.add_test(name, tests::is_string)),
    ("true", |e, name| e.add_test(name, tests::is_true)),
    ("undefined", |e, name| e.add_test(name, tests::is_undefined)),
];

static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(environment);

fn environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_fuel(Some(MAX_EVAL_STEPS));
    environment.set_recursion_limit(32);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    for (name, register) in FILTERS.iter().chain(TESTS) {
        register(&mut environment, name);
    }
    environment
}

/// Replaces text up to a limit. MiniJinja's filter has none, and chained calls multiply the text at every step.
fn replace(text: String, from: String, to: String) -> Result<String, Error> {
    let times = if from.is_empty() { text.chars().count() + 1 } else { text.matches(&from).count() };
    if text.len() + times.saturating_mul(to.len()) > MAX_TEXT * 4 {
        return Err(Error::new(ErrorKind::InvalidOperation, "the string would become too long"));
    }
    Ok(text.replace(&from, &to))
}

/// Returns the first letters of the first and the last word.
fn initials(text: String) -> String {
    let mut words = text.split_whitespace();
    let letters = [words.next(), words.next_back()];
    letters
        .into_iter()
        .flatten()
        .filter_map(|word| word.chars().next())
        .flat_map(char::to_uppercase)
        .collect()
}

/// The reason why an expression failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`={expression}` {reason}")]
pub struct ExpressionError {
    pub expression: String,
    pub reason: String,
    pub place: SourcePosition,
}

pub struct ComponentExpression {
    text: Box<str>,
    place: SourcePosition,
    /// The path of an expression that is only a dotted name, such as `props.title`; resolved without the engine.
    path: Option<Vec<Box<str>>>,
    compiled: minijinja::Expression<'static, 'static>,
}

impl fmt::Debug for ComponentExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "={}", self.text)
    }
}

/// The names that are visible to an expression: `props`, and the names that enclosing loops define.
#[derive(Debug, Clone)]
pub struct ExpressionScope(Value);

#[derive(Debug)]
struct ExpressionScopeFrame {
    name: Arc<str>,
    value: Value,
    outer: Option<Value>,
}

impl Object for ExpressionScopeFrame {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        if *self.name == *key {
            return Some(self.value.clone());
        }
        self.outer.as_ref()?.as_object()?.get_value_by_str(key)
    }
}

/// The props of an instance: the values in `set`, otherwise the component's defaults, which all instances share.
#[derive(Debug)]
struct InstanceProps {
    component: Arc<Component>,
    set: Vec<(Box<str>, Value)>,
}

impl Object for InstanceProps {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        let find = |(name, _): &&(Box<str>, Value)| **name == *key;
        let found = self.set.iter().find(find).or_else(|| self.component.defaults.iter().find(find));
        found.map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let own = self.component.defaults.iter().map(|(name, _)| name);
        let others = self.set.iter().map(|(name, _)| name);
        let others = others.filter(|name| self.component.defaults.iter().all(|(own, _)| own != *name));
        Enumerator::Values(own.chain(others).map(|name| Value::from(&**name)).collect())
    }
}

impl ExpressionScope {
    /// Creates the scope of a component instance with some props set.
    pub fn for_instance(component: &Arc<Component>, set: &Map<String, serde_json::Value>) -> Self {
        let set = set.iter().map(|(name, value)| (name.as_str().into(), crate::from_json(value))).collect();
        Self::for_props(Value::from_object(InstanceProps { component: Arc::clone(component), set }))
    }

    pub fn for_props(props: Value) -> Self {
        Self(Value::from_object(ExpressionScopeFrame { name: "props".into(), value: props, outer: None }))
    }

    /// Returns `None` for an undefined name; the engine then reports the error.
    fn resolve_path(&self, path: &[Box<str>]) -> Option<Value> {
        let (first, rest) = path.split_first()?;
        let mut value = self.0.as_object()?.get_value_by_str(first)?;
        for name in rest {
            value = value.get_attr(name).ok().filter(|value| !value.is_undefined())?;
        }
        Some(value)
    }

    #[must_use]
    pub fn with_variable(&self, name: &Arc<str>, value: Value) -> Self {
        Self(Value::from_object(ExpressionScopeFrame {
            name: Arc::clone(name),
            value,
            outer: Some(self.0.clone()),
        }))
    }
}

impl ComponentExpression {
    /// Compiles an expression. The error is a clause that follows the expression; the caller adds the expectation.
    pub(crate) fn compile(text: &str, place: SourcePosition) -> Result<Self, String> {
        let length = text.chars().count();
        if length > MAX_EXPRESSION_CHARS {
            return Err(format!("has {length} characters, more than the {MAX_EXPRESSION_CHARS} allowed"));
        }
        if let Some(c) = text.chars().find(|&c| invisible(c)) {
            return Err(format!("contains the invisible character U+{:04X}", c as u32));
        }
        let bare = without_string_content(text);
        if multiplies_literals(&bare) {
            return Err(
                "combines `*` with a string or list literal; compute the number separately".to_owned()
            );
        }
        if let Some(unknown) = unknown_filter_or_test(&bare) {
            return Err(unknown);
        }
        let compiled =
            ENVIRONMENT.compile_expression_owned(text.to_owned()).map_err(|error| reason(&error))?;
        Ok(Self { text: text.into(), place, path: plain_path(text), compiled })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn place(&self) -> SourcePosition {
        self.place
    }

    /// The free names of the expression, such as `props.title` or `item`, in order.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        self.compiled.undeclared_variables(true).into_iter().collect()
    }

    pub fn eval(&self, scope: &ExpressionScope) -> Result<Value, ExpressionError> {
        let fail =
            |reason: String| ExpressionError { expression: self.text.to_string(), reason, place: self.place };
        let value = match self.path.as_ref().and_then(|path| scope.resolve_path(path)) {
            Some(value) => value,
            None => self.compiled.eval(scope.0.clone()).map_err(|error| fail(reason(&error)))?,
        };
        match value.kind() {
            ValueKind::Undefined => Err(fail("has no value: it uses an undefined name".to_owned())),
            ValueKind::String if value.as_str().is_some_and(|text| text.len() > MAX_TEXT * 4) => {
                Err(fail(format!("returns a string of more than {MAX_TEXT} characters")))
            }
            ValueKind::Seq | ValueKind::Iterable
                if value.len().is_none_or(|length| length > MAX_LIST_ITEMS) =>
            {
                Err(fail(format!("returns a list of more than {MAX_LIST_ITEMS} items")))
            }
            _ => Ok(value),
        }
    }
}

/// Returns the names of an expression that is only a dotted path.
fn plain_path(text: &str) -> Option<Vec<Box<str>>> {
    const WORDS: [&str; 9] = ["true", "false", "none", "True", "False", "None", "not", "loop", "self"];
    let is_name = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !WORDS.contains(name)
    };
    let names: Vec<&str> = text.trim().split('.').collect();
    names.iter().all(is_name).then(|| names.into_iter().map(Into::into).collect())
}

fn reason(error: &Error) -> String {
    let kind = error.kind();
    match (kind, error.detail()) {
        (ErrorKind::OutOfFuel, _) => "takes too long".to_owned(),
        (_, Some(detail)) => format!("fails: {kind}: {detail}"),
        (_, None) => format!("fails: {kind}"),
    }
}

/// Removes the content of string literals, for the checks below.
fn without_string_content(text: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut quote = None;
    let mut escaped = false;
    for c in text.chars() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(open) if c == open => {
                quote = None;
                rest.push(c);
            }
            Some(_) => {}
            None => {
                if matches!(c, '"' | '\'') {
                    quote = Some(c);
                }
                rest.push(c);
            }
        }
    }
    rest
}

/// Returns whether an expression combines `*` with a string, list or tuple literal. `*` repeats strings and lists, and
/// constants are multiplied during compilation, before fuel applies. Multiplication of prop values happens in the
/// sandbox, under its limits.
fn multiplies_literals(bare: &str) -> bool {
    let mut before = ' ';
    let mut literal = false;
    for c in bare.chars().filter(|c| !c.is_whitespace()) {
        let subscript = before.is_alphanumeric() || matches!(before, '_' | ']' | ')');
        literal |= matches!(c, '"' | '\'' | ',') || (c == '[' && !subscript);
        before = c;
    }
    literal && bare.contains('*')
}

fn names(registered: &[(&str, Registration)]) -> String {
    registered.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// Returns an error for an unknown filter or test. The engine would report it only on the first evaluation.
fn unknown_filter_or_test(bare: &str) -> Option<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
    };
    for part in bare.split('|').skip(1) {
        let filter = word(part);
        if !FILTERS.iter().any(|(name, _)| *name == filter) {
            return Some(format!("uses the unknown filter `{filter}`; the filters are {}", names(FILTERS)));
        }
    }
    let words: Vec<&str> = bare.split_whitespace().collect();
    for (index, _) in words.iter().enumerate().filter(|(_, word)| **word == "is") {
        let after = words.get(index + 1).copied().unwrap_or_default();
        let test =
            word(if after == "not" { words.get(index + 2).copied().unwrap_or_default() } else { after });
        if !TESTS.iter().any(|(name, _)| *name == test) {
            return Some(format!("uses the unknown test `{test}`; the tests are {}", names(TESTS)));
        }
    }
    None
}

#[cfg(test)]
mod tests_of_expressions {
    use super::*;
    use minijinja::value::Serde;
    use serde_json::json;

    fn eval(text: &str) -> Result<String, String> {
        let props = json!({"title": "Lockers", "n": 3, "items": [{"name": "a", "on": true}, {"name": "b", "on": false}]});
        let expression = ComponentExpression::compile(text, SourcePosition::START)?;
        let scope = ExpressionScope::for_props(Value::from(Serde(&props)))
            .with_variable(&"item".into(), Value::from("x"));
        expression.eval(&scope).map(|value| value.to_string()).map_err(|error| error.reason)
    }

    #[test]
    fn what_designers_need() {
        let check = |text: &str, expected: &str| assert_eq!(eval(text).as_deref(), Ok(expected), "{text}");
        check("props.title|upper", "LOCKERS");
        check("'Locker ' ~ props.n", "Locker 3");
        check("props.n * 2 + 1", "7");
        check("'many' if props.n > 2 else 'few'", "many");
        check("props.items|selectattr('on')|list|length", "1");
        check("props.items[0].name ~ item", "ax");
        check("props.missing|default('none')", "none");
        check("props.items|map(attribute='name')|join(', ')", "a, b");
        check("props.title|truncate(4)", "Loc…");
        check("'ada maria moreno'|initials ~ 'x'|initials ~ ''|initials", "AMX");
        check("(props.items[0].on and not props.items[1].on) == true", "True");
    }

    #[test]
    fn what_attackers_try() {
        let mut chain = "'aaaaaaaa'".to_owned();
        for _ in 0..12 {
            chain.push_str("|replace('a','aaaaaaaaaaaaaaaa')");
        }
        let cases = [
            "'x' * 100000000",
            "('x') * 100000000",
            "[0] * 100000000",
            "(1, 2) * 50000000",
            "range(2000000000)",
            "'%999999999d'|format(1)",
            "'x'|indent(2000000000)",
            "props.nope",
            "props.nope.x",
            "nothing",
            "debug()",
            "namespace()",
            "''.__class__",
            "{% for i in x %}",
            "x ~ (",
            "9999999999999999999999999999999999999999 + 1",
            "1/0",
            "\u{202e}props.title",
            &chain,
            &("(".repeat(900) + "1"),
            &("[".repeat(900) + "1"),
            &("-".repeat(900) + "x"),
            &("not ".repeat(240) + "x"),
            &("x if x else ".repeat(80) + "x"),
            &"1+".repeat(4_000),
        ];
        for case in cases {
            assert!(eval(case).is_err(), "{case}: {:?}", eval(case).map(|text| text.len()));
        }
        // Valid chains just below the limit neither overflow the stack nor take long.
        assert_eq!(eval(&("1".to_owned() + &"+1".repeat(499))).as_deref(), Ok("500"));
        assert!(eval("props.title * 90000").is_err_and(|reason| reason.contains("characters")));
    }

    #[test]
    fn every_listed_filter_and_test_is_there() {
        let scope = ExpressionScope::for_props(Value::from(1)).with_variable(&"x".into(), Value::from(1));
        let known = |text: String| {
            let result = ComponentExpression::compile(&text, SourcePosition::START).unwrap().eval(&scope);
            assert!(!result.is_err_and(|error| error.reason.contains("unknown")), "{text}");
        };
        FILTERS.iter().for_each(|(filter, _)| known(format!("x|{filter}")));
        TESTS.iter().for_each(|(test, _)| known(format!("x is {test}")));
        for wrong in ["x|shout", "x | tojson", "x is loud", "x is not loud", "'|' ~ x|batch(2)"] {
            assert!(
                ComponentExpression::compile(wrong, SourcePosition::START)
                    .unwrap_err()
                    .contains("uses the unknown"),
                "{wrong}"
            );
        }
        assert!(ComponentExpression::compile("'a|shout is loud' ~ x", SourcePosition::START).is_ok());
    }
}
