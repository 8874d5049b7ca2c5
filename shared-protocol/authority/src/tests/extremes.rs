//! Input at and beyond the limits is accepted or refused, and never panics.

use super::AuthorityFixture;
use shared_protocol::{RefusalCode, limits::MAX_REFERENCE_TARGETS};

fn bucket(bench: &mut AuthorityFixture, name: &str, at: &str) {
    let add = r#"{"board":"main","type":"aws/storage/s3_bucket","name":"#;
    bench.json(&format!(r#"{{"addNode":{add}"{name}","at":{at}}}}}"#));
}

#[test]
fn far_places_and_offsets_are_refused() {
    let mut bench = AuthorityFixture::with_board();
    bucket(&mut bench, "a", r#"{"x":1000000,"y":1000000}"#);
    bucket(&mut bench, "b", r#"{"x":-1000000,"y":-1000000}"#);
    let fragment =
        serde_json::to_string(&bench.state.copy_fragment(&[bench.node("a"), bench.node("b")])).unwrap();
    for far in [i32::MAX, i32::MIN, 1_000_001] {
        for command in [
            format!(
                r#"{{"addNode":{{"board":"main","type":"aws/storage/s3_bucket","at":{{"x":{far},"y":0}}}}}}"#
            ),
            format!(r#"{{"duplicate":{{"nodes":["a","b"],"offset":{{"x":{far},"y":{far}}}}}}}"#),
            format!(r#"{{"paste":{{"board":"main","fragment":{fragment},"at":{{"x":0,"y":{far}}}}}}}"#),
            format!(r#"{{"reparent":{{"nodes":["a"],"parent":null,"delta":{{"x":{far},"y":0}}}}}}"#),
            format!(r#"{{"place":{{"items":[{{"node":"a","x":{far},"y":0}}]}}}}"#),
        ] {
            assert_eq!(bench.refused(&command).code, RefusalCode::LimitExceeded, "{command}");
        }
    }
    // A position at the limit is clamped, not refused.
    bench.json(r#"{"duplicate":{"nodes":["a","b"],"offset":{"x":1000000,"y":1000000}}}"#);
    for to in ["left", "centre", "right", "top", "middle", "bottom"] {
        bench.json(&format!(r#"{{"align":{{"nodes":["a","b"],"to":"{to}"}}}}"#));
    }
}

#[test]
fn many_large_nodes_are_arranged_without_overflow() {
    let mut bench = AuthorityFixture::with_board();
    let nodes: Vec<String> = (0..11_000).map(|i| format!("b{i}")).collect();
    for part in nodes.chunks(5_500) {
        let adds: Vec<String> = part
            .iter()
            .map(|name| {
                format!(r#"{{"addNode":{{"board":"main","type":"aws/storage/s3_bucket","name":"{name}","at":{{"x":0,"y":0}}}}}}"#)
            })
            .collect();
        bench.json(&format!(r#"{{"batch":{{"commands":[{}]}}}}"#, adds.join(",")));
        let items: Vec<String> = part
            .iter()
            .map(|name| format!(r#"{{"node":"{name}","x":0,"y":0,"w":200000,"h":200000}}"#))
            .collect();
        bench.json(&format!(r#"{{"place":{{"items":[{}]}}}}"#, items.join(",")));
    }
    let all = serde_json::to_string(&nodes).unwrap();
    bench.json(&format!(r#"{{"distribute":{{"nodes":{all},"along":"horizontal"}}}}"#));
    bench.json(&format!(r#"{{"tidy":{{"nodes":{all}}}}}"#));
}

#[test]
fn a_connection_does_not_make_a_reference_longer_than_a_file_may_hold() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/compute/lambda_function","name":"f"}}"#);
    let connect = |name: &str| {
        let (source, target) = (format!(r#"{{"node":"{name}"}}"#), r#"{"node":"f","port":"subnets"}"#);
        format!(r#"{{"connect":{{"source":{source},"target":{target}}}}}"#)
    };
    let commands: Vec<String> = (0..=MAX_REFERENCE_TARGETS)
        .flat_map(|i| {
            let (name, kind) = (format!("s{i}"), r#""type":"aws/networking/subnet""#);
            let add = format!(r#"{{"addNode":{{"board":"main",{kind},"parent":"net","name":"{name}"}}}}"#);
            if i < MAX_REFERENCE_TARGETS { vec![add, connect(&name)] } else { vec![add] }
        })
        .collect();
    bench.json(&format!(r#"{{"batch":{{"commands":[{}]}}}}"#, commands.join(",")));
    let refusal = bench.refused(&connect(&format!("s{MAX_REFERENCE_TARGETS}")));
    assert_eq!(refusal.code, RefusalCode::LimitExceeded, "{refusal}");
}

#[test]
fn labels_and_summaries_are_one_line_that_can_be_shown() {
    let mut bench = AuthorityFixture::with_board();
    bucket(&mut bench, "a", r#"{"x":0,"y":0}"#);
    for command in [
        r#"{"updateNode":{"node":"a","label":"one\ntwo"}}"#,
        r#"{"addBoard":{"kind":"spec","title":"\u001b[31mred"}}"#,
        r#"{"batch":{"summary":"one\ntwo","commands":[]}}"#,
    ] {
        let refusal = bench.refused(command);
        assert_eq!(refusal.code, RefusalCode::ValidationError, "{command}");
        assert!(refusal.message.contains("contains a control character"), "{refusal}");
    }
}

#[test]
fn a_container_on_another_board_is_refused_by_name() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addBoard":{"kind":"infrastructure","title":"Second"}}"#);
    bench.json(r#"{"addNode":{"board":"second","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"own"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"own","name":"a"}}"#);
    for command in [
        r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net"}}"#,
        r#"{"reparent":{"nodes":["a"],"parent":"net"}}"#,
    ] {
        let refusal = bench.refused(command);
        assert_eq!(refusal.code, RefusalCode::ContainmentError, "{refusal}");
        assert!(refusal.message.contains("on another board"), "{refusal}");
    }
}

#[test]
fn address_ranges_are_written_as_others_read_them() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    for range in ["10.0.0.0/+8", "10.0.0.0/08"] {
        let set = format!(r#"{{"updateNode":{{"node":"net","set":{{"cidr_block":"{range}"}}}}}}"#);
        assert_eq!(bench.refused(&set).code, RefusalCode::ValidationError, "{range}");
    }
}
