//! A server configuration being edited. Secrets can be entered but are never displayed.

use crate::wording::line;
use shared_protocol::managed_servers::{
    AuthForm, PackageKind, ServerForm, ServerLimitsForm, TypedSecret, VariableForm, VariableValue,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DraftAuthKind {
    None,
    Bearer,
    Header,
}

#[derive(Clone, Default)]
pub(super) struct DraftValue {
    pub(super) is_secret: bool,
    /// The entered text; a stored secret is never loaded into it.
    pub(super) text: String,
    /// The secret store has a value.
    pub(super) is_set: bool,
    pub(super) is_missing: bool,
}

impl DraftValue {
    fn from_value(value: &VariableValue) -> Self {
        match value {
            VariableValue::Missing => Self { is_missing: true, ..Self::default() },
            VariableValue::Plain(text) => Self { text: text.clone(), ..Self::default() },
            VariableValue::Secret { set } => Self { is_secret: true, is_set: *set, ..Self::default() },
            VariableValue::Typed(secret) => {
                Self { is_secret: true, text: secret.0.clone(), ..Self::default() }
            }
        }
    }

    fn to_value(&self) -> VariableValue {
        match (self.is_secret, self.text.is_empty()) {
            (true, false) => VariableValue::Typed(TypedSecret(self.text.clone())),
            (true, true) => VariableValue::Secret { set: self.is_set },
            (false, true) if self.is_missing => VariableValue::Missing,
            (false, _) => VariableValue::Plain(self.text.clone()),
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct DraftVariable {
    pub(super) name: String,
    pub(super) value: DraftValue,
    pub(super) required: bool,
    pub(super) description: Option<String>,
}

#[derive(Clone)]
pub(super) struct ServerDraft {
    pub(super) name: String,
    pub(super) kind: PackageKind,
    pub(super) identifier: String,
    pub(super) runtime: String,
    pub(super) command: String,
    pub(super) auth: DraftAuthKind,
    pub(super) header: String,
    pub(super) auth_value: DraftValue,
    pub(super) args: Vec<String>,
    pub(super) variables: Vec<DraftVariable>,
    pub(super) folder: String,
    pub(super) trusted: bool,
    pub(super) limits: ServerLimitsForm,
    registry: Option<(String, String)>,
}

impl ServerDraft {
    pub(super) fn from_form(form: &ServerForm) -> Self {
        let (auth, header, auth_value) = match &form.auth {
            AuthForm::None => (DraftAuthKind::None, String::new(), DraftValue::default()),
            AuthForm::Bearer(value) => (DraftAuthKind::Bearer, String::new(), DraftValue::from_value(value)),
            AuthForm::Header { name, value } => {
                (DraftAuthKind::Header, name.clone(), DraftValue::from_value(value))
            }
        };
        let variable = |variable: &VariableForm| DraftVariable {
            name: variable.name.clone(),
            value: DraftValue::from_value(&variable.value),
            required: variable.required,
            description: variable.description.clone(),
        };
        Self {
            name: form.name.clone(),
            kind: form.kind,
            identifier: form.identifier.clone(),
            runtime: form.runtime.clone().unwrap_or_default(),
            command: form.command.clone().unwrap_or_default(),
            auth,
            header,
            // Authentication values are always secret.
            auth_value: DraftValue { is_secret: true, ..auth_value },
            args: form.args.clone(),
            variables: form.variables.iter().map(variable).collect(),
            folder: form.folder.clone().unwrap_or_default(),
            trusted: form.trusted,
            limits: form.limits,
            registry: form.registry.clone(),
        }
    }

    /// The form to send. Fields that do not apply to the package kind are omitted.
    pub(super) fn to_form(&self) -> ServerForm {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let is_program = self.kind != PackageKind::Http;
        let auth = match self.auth {
            _ if is_program => AuthForm::None,
            DraftAuthKind::None => AuthForm::None,
            DraftAuthKind::Bearer => AuthForm::Bearer(self.auth_value.to_value()),
            DraftAuthKind::Header => {
                AuthForm::Header { name: self.header.trim().to_owned(), value: self.auth_value.to_value() }
            }
        };
        let variable = |variable: &DraftVariable| VariableForm {
            name: variable.name.trim().to_owned(),
            value: variable.value.to_value(),
            required: variable.required,
            description: variable.description.clone(),
        };
        let has_runtime = matches!(self.kind, PackageKind::Pypi | PackageKind::Docker | PackageKind::Npm);
        ServerForm {
            name: self.name.trim().to_owned(),
            kind: self.kind,
            identifier: self.identifier.trim().to_owned(),
            runtime: given(&self.runtime).filter(|_| has_runtime),
            command: given(&self.command).filter(|_| self.kind == PackageKind::Pypi),
            auth,
            args: if is_program { self.args.clone() } else { Vec::new() },
            variables: if is_program { self.variables.iter().map(variable).collect() } else { Vec::new() },
            folder: given(&self.folder).filter(|_| is_program),
            trusted: self.trusted,
            limits: self.limits,
            registry: self.registry.clone(),
        }
    }

    /// Describes the first missing input. Main validates the whole form again.
    pub(super) fn missing_field(&self) -> Option<String> {
        if self.name.trim().is_empty() {
            return Some("Enter a name.".to_owned());
        }
        if self.identifier.trim().is_empty() {
            let what = match self.kind {
                PackageKind::Npm | PackageKind::Pypi => "Enter a package name.",
                PackageKind::Docker => "Enter an image name.",
                PackageKind::Binary => "Enter a program path.",
                PackageKind::Http => "Enter an address.",
            };
            return Some(what.to_owned());
        }
        if self.kind == PackageKind::Http {
            return self.missing_of_address();
        }
        if self.variables.iter().any(|variable| variable.name.trim().is_empty()) {
            return Some("Enter a name for every variable.".to_owned());
        }
        let waits = |variable: &&DraftVariable| variable.required && self.is_waiting_for(&variable.value);
        let waiting: Vec<String> =
            self.variables.iter().filter(waits).map(|variable| line(variable.name.trim())).collect();
        (!waiting.is_empty()).then(|| format!("Enter a value for {}.", waiting.join(", ")))
    }

    fn missing_of_address(&self) -> Option<String> {
        if self.auth == DraftAuthKind::Header && self.header.trim().is_empty() {
            return Some("Enter a header name.".to_owned());
        }
        let waits = self.auth != DraftAuthKind::None && self.is_waiting_for(&self.auth_value);
        waits.then(|| "Enter the token.".to_owned())
    }

    /// Returns whether the value is still required. Secrets may be set later, except those that a registry entry requires.
    fn is_waiting_for(&self, value: &DraftValue) -> bool {
        let may_wait = value.is_set || (value.is_secret && self.registry.is_none());
        value.text.is_empty() && !may_wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_touched_comes_back_as_it_was() {
        let mut form = ServerForm::new(PackageKind::Npm);
        form.name = "Files".to_owned();
        form.identifier = "@scope/files@1.0".to_owned();
        form.args = vec!["/tmp".to_owned(), String::new(), "two\nlines".to_owned()];
        form.registry = Some(("io.example/files".to_owned(), "1.0".to_owned()));
        let variable = |name: &str, value| VariableForm {
            name: name.to_owned(),
            value,
            required: true,
            description: Some("words".to_owned()),
        };
        form.variables = vec![
            variable("A", VariableValue::Plain("x".to_owned())),
            variable("B", VariableValue::Secret { set: true }),
            variable("C", VariableValue::Secret { set: false }),
            variable("D", VariableValue::Missing),
        ];
        assert_eq!(ServerDraft::from_form(&form).to_form(), form);
        let mut web = ServerForm::new(PackageKind::Http);
        web.auth = AuthForm::Header { name: "X-Key".to_owned(), value: VariableValue::Secret { set: true } };
        assert_eq!(ServerDraft::from_form(&web).to_form(), web);
    }

    #[test]
    fn what_belongs_to_another_kind_is_left_out() {
        let mut draft = ServerDraft::from_form(&ServerForm::new(PackageKind::Pypi));
        (draft.runtime, draft.command, draft.folder) =
            ("uvx".to_owned(), "serve".to_owned(), "/srv".to_owned());
        draft.variables.push(DraftVariable { name: "A".to_owned(), ..DraftVariable::default() });
        draft.kind = PackageKind::Http;
        let form = draft.to_form();
        assert_eq!((form.runtime, form.command, form.folder, form.variables.len()), (None, None, None, 0));
        draft.kind = PackageKind::Pypi;
        assert_eq!(draft.to_form().command.as_deref(), Some("serve"), "and is there again");
        assert!(draft.missing_field().is_some());
    }

    #[test]
    fn what_a_registry_asks_for_is_given_before_it_is_sent() {
        let mut form = ServerForm::new(PackageKind::Npm);
        (form.name, form.identifier) = ("Timer".to_owned(), "@example/timer".to_owned());
        let secret = VariableValue::Secret { set: false };
        form.variables = vec![VariableForm {
            name: "KEY".to_owned(),
            value: secret.clone(),
            required: true,
            description: None,
        }];
        assert_eq!(ServerDraft::from_form(&form).missing_field(), None, "by hand it may be given later");
        form.registry = Some(("io.example/timer".to_owned(), "1".to_owned()));
        let mut draft = ServerDraft::from_form(&form);
        assert_eq!(draft.missing_field().as_deref(), Some("Enter a value for KEY."));
        draft.variables[0].value.text = "hunter2".to_owned();
        assert_eq!(draft.missing_field(), None);
        let mut web = ServerForm::new(PackageKind::Http);
        (web.name, web.identifier, web.registry) =
            (form.name, "https://example.org/mcp".to_owned(), form.registry);
        web.auth = AuthForm::Bearer(secret);
        assert_eq!(ServerDraft::from_form(&web).missing_field().as_deref(), Some("Enter the token."));
        web.auth = AuthForm::Bearer(VariableValue::Secret { set: true });
        assert_eq!(ServerDraft::from_form(&web).missing_field(), None, "what is kept stays");
    }
}
