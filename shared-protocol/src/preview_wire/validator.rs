//! Checks every message from the preview against the messages sent to it. Pure: the caller keeps the clock and ends
//! the process at the first violation.

use super::{
    FromPreview, InstanceBox, MAX_MISSING_CHARS, MAX_PREVIEW_ID_CHARS, MAX_PREVIEW_TEXT_CHARS,
    MAX_REPORTED_PROBLEMS, MAX_SCREEN_INSTANCES, PREVIEW_PROTOCOL_VERSION,
};

/// The number of messages that the preview may send without receiving one. Every message to the preview, including
/// pings, restores the allowance, so a preview that only responds never exceeds it and a flood exceeds it at once.
const MESSAGE_ALLOWANCE: u32 = 256;
/// The number of messages that one input event may cause: a change, an action, a log line.
const MESSAGES_PER_INPUT_EVENT: u32 = 4;

/// The reason for ending a preview. Main never resynchronises with a preview that broke the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PreviewProtocolViolation {
    #[error("the preview sent a message before its hello")]
    BeforeHello,
    #[error("the preview sent a second hello")]
    SecondHello,
    #[error("the preview has a different build ({0})")]
    OtherBuild(String),
    #[error("the preview runs without a system call filter, so it cannot show workspace content")]
    NoSandbox,
    #[error("the preview reported {0} that it was not given")]
    NotGiven(&'static str),
    #[error("the preview sent {0} that is too large or invalid")]
    OutOfBounds(&'static str),
    #[error("the preview sent too many messages")]
    Flood,
}

/// The state of the message exchange with one preview.
#[derive(Debug, Clone)]
pub struct PreviewProtocolValidator {
    build: String,
    greeted: bool,
    generation: u32,
    revision: u64,
    overrides: usize,
    last_ping: u64,
    last_pong: u64,
    last_frame: (u32, u64),
    allowance: u32,
}

impl PreviewProtocolValidator {
    /// Starts a conversation with a preview of this build.
    pub fn new(build: impl Into<String>) -> Self {
        Self {
            build: build.into(),
            greeted: false,
            generation: 0,
            revision: 0,
            overrides: 0,
            last_ping: 0,
            last_pong: 0,
            last_frame: (0, 0),
            allowance: MESSAGE_ALLOWANCE,
        }
    }

    /// Records a message to the preview. Call it before sending.
    pub fn record_sent(&mut self, message: &super::ToPreview) {
        use super::ToPreview as To;
        self.allowance = self.allowance.max(MESSAGE_ALLOWANCE);
        match message {
            To::Input { events } => {
                let answers =
                    u32::try_from(events.len()).unwrap_or(u32::MAX).saturating_mul(MESSAGES_PER_INPUT_EVENT);
                self.allowance = MESSAGE_ALLOWANCE.saturating_add(answers);
            }
            To::Screen { generation, .. } => self.generation = *generation,
            To::Scene { revision, overrides, .. } | To::Overrides { revision, overrides } => {
                self.revision = *revision;
                // A response to the previous list may still be in transit.
                self.overrides = self.overrides.max(overrides.len());
            }
            To::Props { revision, .. } => self.revision = *revision,
            To::Ping { number } => self.last_ping = *number,
            _ => {}
        }
    }

    /// The number of the last answered ping.
    pub fn last_pong(&self) -> u64 {
        self.last_pong
    }

    /// Checks a message from the preview. Late messages are accepted; impossible ones are violations.
    pub fn check_received(&mut self, message: &FromPreview) -> Result<(), PreviewProtocolViolation> {
        if let FromPreview::Hello { protocol, build, sandbox } = message {
            if self.greeted {
                return Err(PreviewProtocolViolation::SecondHello);
            }
            if *protocol != PREVIEW_PROTOCOL_VERSION || *build != self.build {
                return Err(PreviewProtocolViolation::OtherBuild(build.chars().take(80).collect()));
            }
            if !sandbox.system_calls {
                return Err(PreviewProtocolViolation::NoSandbox);
            }
            self.greeted = true;
            return Ok(());
        }
        if !self.greeted {
            return Err(PreviewProtocolViolation::BeforeHello);
        }
        self.allowance = self.allowance.checked_sub(1).ok_or(PreviewProtocolViolation::Flood)?;
        match message {
            FromPreview::Hello { .. } => Ok(()),
            FromPreview::Missing { characters } => {
                bound(characters.chars().count() <= MAX_MISSING_CHARS, "a list of characters")
            }
            FromPreview::Frame { generation, sequence, revision, .. } => {
                self.check_revision(*revision)?;
                let frame = (*generation, *sequence);
                if *generation == 0 || *generation > self.generation || frame <= self.last_frame {
                    return Err(PreviewProtocolViolation::NotGiven("a frame"));
                }
                self.last_frame = frame;
                Ok(())
            }
            FromPreview::Instances { revision, instances } => {
                self.check_revision(*revision)?;
                bound(instances.len() <= MAX_SCREEN_INSTANCES, "a list of instances")?;
                instances.iter().try_for_each(check_box)
            }
            FromPreview::Overrides { revision, statuses } => {
                self.check_revision(*revision)?;
                if statuses.len() > self.overrides {
                    Err(PreviewProtocolViolation::NotGiven("overrides"))
                } else {
                    Ok(())
                }
            }
            FromPreview::Problems { problems } => {
                bound(problems.len() <= MAX_REPORTED_PROBLEMS, "a list of problems")?;
                problems.iter().try_for_each(|problem| {
                    text(&problem.file, "a file name")?;
                    text(&problem.message, "a message")?;
                    id(problem.instance.as_deref())
                })
            }
            FromPreview::Hovered { instance } | FromPreview::Picked { instance } => id(instance.as_deref()),
            FromPreview::Action { instance, action, value } => {
                id(Some(instance))?;
                id(Some(action))?;
                bound(
                    value.is_null() || value.is_boolean() || value.is_number() || value.is_string(),
                    "a value",
                )?;
                text(value.as_str().unwrap_or_default(), "a value")
            }
            FromPreview::Log { message, .. } => text(message, "a log line"),
            FromPreview::Pong { number } => {
                if *number <= self.last_pong || *number > self.last_ping {
                    return Err(PreviewProtocolViolation::NotGiven("a ping"));
                }
                self.last_pong = *number;
                Ok(())
            }
        }
    }

    fn check_revision(&self, revision: u64) -> Result<(), PreviewProtocolViolation> {
        if revision > self.revision { Err(PreviewProtocolViolation::NotGiven("a revision")) } else { Ok(()) }
    }
}

fn bound(holds: bool, what: &'static str) -> Result<(), PreviewProtocolViolation> {
    if holds { Ok(()) } else { Err(PreviewProtocolViolation::OutOfBounds(what)) }
}

fn text(text: &str, what: &'static str) -> Result<(), PreviewProtocolViolation> {
    bound(text.len() <= MAX_PREVIEW_TEXT_CHARS * 4, what)
}

fn id(id: Option<&str>) -> Result<(), PreviewProtocolViolation> {
    bound(id.is_none_or(|id| id.len() <= MAX_PREVIEW_ID_CHARS * 4), "an id")
}

fn check_box(instance: &InstanceBox) -> Result<(), PreviewProtocolViolation> {
    id(Some(&instance.id))?;
    id(Some(&instance.component))?;
    id(instance.parent.as_deref())?;
    text(&instance.file, "a file name")?;
    let mut sides = instance.rect.iter().chain(&instance.clip);
    bound(sides.all(|side| side.is_finite() && side.abs() < 1e7), "a rectangle")
}

#[cfg(test)]
mod tests {
    use super::super::{LandlockLevel, PreviewProblem, PreviewScreen, SandboxReport, ToPreview};
    use super::*;
    use crate::framing::decode_json;
    use proptest::prelude::*;

    fn hello(build: &str, system_calls: bool) -> FromPreview {
        let sandbox = SandboxReport {
            first_out_of_memory: true,
            not_root: true,
            namespaces: true,
            no_capabilities: true,
            no_new_privileges: true,
            not_dumpable: true,
            no_new_executable_memory: true,
            landlock: LandlockLevel::None,
            limits: true,
            system_calls,
        };
        FromPreview::Hello { protocol: PREVIEW_PROTOCOL_VERSION, build: build.into(), sandbox }
    }

    fn greeted() -> PreviewProtocolValidator {
        let mut conversation = PreviewProtocolValidator::new("b");
        conversation.check_received(&hello("b", true)).unwrap();
        conversation
    }

    #[test]
    fn the_hello_comes_first_once_and_from_the_same_build() {
        assert_eq!(
            PreviewProtocolValidator::new("b").check_received(&FromPreview::Pong { number: 1 }),
            Err(PreviewProtocolViolation::BeforeHello)
        );
        assert_eq!(greeted().check_received(&hello("b", true)), Err(PreviewProtocolViolation::SecondHello));
        assert!(matches!(
            PreviewProtocolValidator::new("b").check_received(&hello("c", true)),
            Err(PreviewProtocolViolation::OtherBuild(_))
        ));
        assert_eq!(
            PreviewProtocolValidator::new("b").check_received(&hello("b", false)),
            Err(PreviewProtocolViolation::NoSandbox)
        );
    }

    #[test]
    fn nothing_unasked_replayed_or_too_large() {
        let frame =
            |generation, sequence| FromPreview::Frame { generation, sequence, revision: 0, micros: 1 };
        let mut conversation = greeted();
        assert_eq!(
            conversation.check_received(&frame(1, 1)),
            Err(PreviewProtocolViolation::NotGiven("a frame"))
        );
        let screen = PreviewScreen::new(100, 100, 1.0, false).unwrap();
        conversation.record_sent(&ToPreview::Screen { generation: 1, screen });
        conversation.check_received(&frame(1, 1)).unwrap();
        assert_eq!(
            conversation.check_received(&frame(1, 1)),
            Err(PreviewProtocolViolation::NotGiven("a frame")),
            "replayed"
        );
        conversation.check_received(&frame(1, 2)).unwrap();
        assert_eq!(
            conversation.check_received(&FromPreview::Pong { number: 1 }),
            Err(PreviewProtocolViolation::NotGiven("a ping"))
        );
        conversation.record_sent(&ToPreview::Ping { number: 7 });
        conversation.check_received(&FromPreview::Pong { number: 7 }).unwrap();
        assert!(conversation.check_received(&FromPreview::Pong { number: 7 }).is_err());
        assert!(
            conversation.check_received(&FromPreview::Instances { revision: 9, instances: vec![] }).is_err()
        );
        let boxed = |rect| InstanceBox {
            id: "a".into(),
            component: "b".into(),
            parent: None,
            rect,
            clip: [0.0; 4],
            file: "f".into(),
            line: 1,
        };
        let of = |rect| FromPreview::Instances { revision: 0, instances: vec![boxed(rect)] };
        conversation.check_received(&of([0.0, 0.0, 1.0, 1.0])).unwrap();
        assert!(conversation.check_received(&of([f32::INFINITY, 0.0, 1.0, 1.0])).is_err());
        let many = vec![boxed([0.0; 4]); MAX_SCREEN_INSTANCES + 1];
        assert!(
            conversation.check_received(&FromPreview::Instances { revision: 0, instances: many }).is_err()
        );
        let problem = PreviewProblem {
            file: "f".into(),
            line: 1,
            column: 1,
            message: "x".repeat(1 << 20),
            instance: None,
        };
        assert!(conversation.check_received(&FromPreview::Problems { problems: vec![problem] }).is_err());
        let nested =
            FromPreview::Action { instance: "a".into(), action: "b".into(), value: serde_json::json!([1]) };
        assert!(conversation.check_received(&nested).is_err());
    }

    #[test]
    fn a_flood_is_noticed_and_answers_are_not_one() {
        let mut conversation = greeted();
        let log = FromPreview::Log { level: crate::v0::PreviewLogLevel::Info, message: "x".into() };
        for _ in 0..MESSAGE_ALLOWANCE {
            conversation.check_received(&log).unwrap();
        }
        assert_eq!(conversation.check_received(&log), Err(PreviewProtocolViolation::Flood));
        let mut conversation = greeted();
        for number in 1..10_000 {
            conversation.record_sent(&ToPreview::Ping { number });
            conversation.check_received(&FromPreview::Pong { number }).unwrap();
        }
    }

    #[test]
    fn decoding_is_strict() {
        let check = |text: &str, right: bool| {
            assert_eq!(decode_json::<FromPreview>(text.as_bytes()).is_ok(), right, "{text}");
        };
        check(r#"{"type":"pong","number":1}"#, true);
        check(r#"{"type":"pong","number":1,"more":2}"#, false);
        check(r#"{"type":"pong","number":-1}"#, false);
        check(r#"{"type":"runShell","command":"id"}"#, false);
        check(r#"{"type":"frame","generation":1,"sequence":1,"revision":0}"#, false);
        check(r#"{"type":"pong","number":1}{"type":"pong","number":2}"#, false);
        check(
            &format!(r#"{{"type":"action","instance":"a","action":"b","value":{}"#, "[".repeat(500_000)),
            false,
        );
        assert!(decode_json::<ToPreview>(br#"{"type":"mode","mode":"inspect","x":1}"#).is_err());
    }

    #[test]
    fn screens_have_bounds() {
        assert_eq!(PreviewScreen::new(1280, 800, 1.5, true).unwrap().pixels(), [1920, 1200]);
        for (width, height, scale) in [
            (0, 1, 1.0),
            (1, 0, 1.0),
            (5_000, 1, 1.0),
            (4_096, 4_096, 2.0),
            (10, 10, 0.1),
            (10, 10, f32::NAN),
            (10, 10, 1.3),
        ] {
            assert_eq!(PreviewScreen::new(width, height, scale, false), None, "{width} {height} {scale}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
            if let Ok(message) = decode_json::<FromPreview>(&bytes) {
                let _ = greeted().check_received(&message);
            }
            let _ = decode_json::<ToPreview>(&bytes);
        }
    }
}
