//! One case per rule, with commands as a script writes them.

use super::AuthorityFixture;
use shared_protocol::{PropValue, RefusalCode, messages::ProblemSeverity};

#[test]
fn an_unknown_type_is_refused_with_similar_ids() {
    let refusal = AuthorityFixture::with_board()
        .refused(r#"{"addNode":{"board":"main","type":"aws/compute/instanse"}}"#);
    assert_eq!(refusal.code, RefusalCode::NotFound);
    assert_eq!(refusal.suggestions[0], "aws/compute/instance");
    assert!(refusal.suggestions.len() <= 5);
}

#[test]
fn containment_is_enforced_and_the_rule_is_named() {
    let mut bench = AuthorityFixture::with_board();
    let refusal = bench.refused(r#"{"addNode":{"board":"main","type":"aws/networking/subnet"}}"#);
    assert_eq!(refusal.code, RefusalCode::ContainmentError);
    assert!(refusal.hints[0].contains("VPC"), "{refusal}");
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}}"#);
    let refusal = bench.refused(r#"{"addNode":{"board":"main","type":"ui.button"}}"#);
    assert!(refusal.message.contains("infrastructure board"), "{refusal}");
    let refusal = bench.refused(r#"{"reparent":{"nodes":["net"],"parent":"a"}}"#);
    assert_eq!(refusal.code, RefusalCode::ContainmentError);
}

#[test]
fn standing_in_a_container_sets_the_reference_and_leaving_clears_it() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"other"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}}"#);
    let (net, other, subnet) = (bench.node("net"), bench.node("other"), bench.node("a"));
    assert_eq!(bench.state.node(subnet).unwrap().references["vpc_id"], [net]);
    bench.json(r#"{"reparent":{"nodes":["a"],"parent":"other"}}"#);
    assert_eq!(bench.state.node(subnet).unwrap().references["vpc_id"], [other]);
}

#[test]
fn values_are_checked_by_kind_range_pattern_and_options() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    for (set, reason) in [
        (r#"{"cidr_block":5}"#, "expected a CIDR range"),
        (r#"{"cidr_block":"10.0.0.1/16"}"#, "has host bits set"),
        (r#"{"cidr_block":"10.0.0.0/40"}"#, "not a CIDR range"),
        (r#"{"cidr_blok":"10.0.0.0/16"}"#, "has no property"),
        (r#"{"instance_tenancy":"shared"}"#, "is not one of"),
        (r#"{"enable_dns_support":"yes"}"#, "expected true or false, found text"),
        (r#"{"tags":{"a":1}}"#, "should be text"),
    ] {
        let refusal = bench.refused(&format!(r#"{{"updateNode":{{"node":"net","set":{set}}}}}"#));
        assert_eq!(refusal.code, RefusalCode::ValidationError, "{set}");
        assert!(refusal.message.contains(reason), "{set}: {refusal}");
        assert!(refusal.field.is_some());
    }
    bench.json(r#"{"updateNode":{"node":"net","set":{"cidr_block":"10.1.0.0/16","tags":{"team":"core"}}}}"#);
    // Null unsets a value; only the given keys are touched.
    bench.json(r#"{"updateNode":{"node":"net","set":{"cidr_block":null}}}"#);
    let node = bench.state.node(bench.node("net")).unwrap();
    assert_eq!(node.props.keys().map(ToString::to_string).collect::<Vec<_>>(), ["tags"]);
}

#[test]
fn hidden_properties_cannot_be_set_but_keep_their_values() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"azurerm/core/resource_group","name":"rg"}}"#);
    bench.json(
        r#"{"addNode":{"board":"main","type":"azurerm/compute/virtual_machine","parent":"rg","name":"vm"}}"#,
    );
    let registry = bench.state.registry().clone();
    let def = registry.get(&"azurerm/compute/virtual_machine".parse().unwrap()).unwrap();
    let vm = bench.state.nodes().find(|node| node.name.as_str() == "vm").unwrap().clone();
    let hidden = def
        .props
        .iter()
        .find(|prop| {
            !crate::is_visible(def, &vm, prop) && prop.kind == shared_protocol::registry::PropKind::Text
        })
        .expect("a property that depends on another");
    let refusal = bench
        .refused(&format!(r#"{{"updateNode":{{"node":"vm","set":{{"{}":"secret-Value1"}}}}}}"#, hidden.key));
    assert!(refusal.message.contains("does not apply"), "{refusal}");
}

#[test]
fn names_are_unique_and_made_so() {
    let mut bench = AuthorityFixture::with_board();
    let add = r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","label":"My bucket"}}"#;
    for _ in 0..5 {
        bench.json(add);
    }
    let names: Vec<String> = bench.state.nodes().map(|node| node.name.to_string()).collect();
    assert_eq!(names.len(), 5);
    for name in ["my_bucket", "my_bucket_2", "my_bucket_5"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    let refusal =
        bench.refused(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"my_bucket"}}"#);
    assert_eq!(refusal.suggestions, ["my_bucket_6"]);
    let refusal = bench.refused(r#"{"updateNode":{"node":"my_bucket_2","name":"my_bucket"}}"#);
    assert_eq!(refusal.field.as_deref(), Some("name"));
}

#[test]
fn connections_follow_the_rules_and_ports_their_limits() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"azurerm/core/resource_group","name":"rg"}}"#);
    for name in ["plan", "other_plan"] {
        bench.json(&format!(r#"{{"addNode":{{"board":"main","type":"azurerm/compute/app_service_plan","parent":"rg","name":"{name}"}}}}"#));
    }
    bench.json(
        r#"{"addNode":{"board":"main","type":"azurerm/compute/app_service","parent":"rg","name":"web"}}"#,
    );
    let connect = |from: &str| {
        format!(
            r#"{{"connect":{{"source":{{"node":"{from}","port":"plan-out"}},"target":{{"node":"web","port":"plan-in"}}}}}}"#
        )
    };
    bench.json(&connect("plan"));
    let (plan, web) = (bench.node("plan"), bench.node("web"));
    assert_eq!(bench.state.node(web).unwrap().references["service_plan_id"], [plan]);
    let refusal = bench.refused(&connect("plan"));
    assert!(refusal.message.contains("already connected by these ports"), "{refusal}");
    let refusal = bench.refused(&connect("other_plan"));
    assert!(refusal.message.contains("connection limit of 1"), "{refusal}");
    let refusal = bench.refused(r#"{"connect":{"source":{"node":"web"},"target":{"node":"web"}}}"#);
    assert_eq!(refusal.code, RefusalCode::ConnectionError);

    // The edge and the reference that it represents are removed together, from either side.
    let edge = bench.state.edges_of(web).next().unwrap().id;
    let mut by_edge = AuthorityFixture { state: bench.state.clone(), seed: 1, log: Vec::new() };
    by_edge.json(&format!(r#"{{"remove":{{"edges":["{edge}"]}}}}"#));
    assert_eq!(by_edge.state.node(web).unwrap().references.get("service_plan_id"), None);
    bench.json(r#"{"updateNode":{"node":"web","references":{"service_plan_id":[]}}}"#);
    assert_eq!(bench.state.edge_count(), 0);
}

#[test]
fn removing_takes_content_edges_and_references_along() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"web"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"files"}}"#);
    bench.json(r#"{"connect":{"source":{"node":"web"},"target":{"node":"files"}}}"#);
    bench.json(r#"{"remove":{"nodes":["net","web"]}}"#);
    assert_eq!((bench.state.node_count(), bench.state.edge_count()), (1, 0));
}

#[test]
fn new_nodes_find_a_free_place_and_containers_grow() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net","at":{"x":0,"y":0}}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"beside"}}"#);
    for _ in 0..9 {
        bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net"}}"#);
        bench.json(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket"}}"#);
    }
    no_overlap(&bench);
    let (net, content) = (
        bench.state.placement(bench.node("net")).unwrap(),
        bench.state.children(bench.state.boards().next().unwrap().id, Some(bench.node("net"))),
    );
    for child in content {
        let child = bench.state.placement(child).unwrap();
        assert!(
            child.x > 0 && child.y > 0 && child.right() < net.w && child.bottom() < net.h,
            "{child:?} in {net:?}"
        );
    }
}

fn no_overlap(bench: &AuthorityFixture) {
    let nodes: Vec<_> = bench
        .state
        .nodes()
        .map(|node| (node.parent, node.name.clone(), bench.state.placement(node.id).unwrap()))
        .collect();
    for (i, (parent, name, place)) in nodes.iter().enumerate() {
        for (other_parent, other_name, other) in &nodes[..i] {
            assert!(
                parent != other_parent || !place.overlaps(*other),
                "{name} {place:?} over {other_name} {other:?}"
            );
        }
    }
}

#[test]
fn a_batch_is_all_or_nothing_and_later_commands_see_earlier_ones() {
    let mut bench = AuthorityFixture::with_board();
    let refusal = bench.refused(
        r#"{"batch":{"commands":[
            {"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}},
            {"addNode":{"board":"main","type":"aws/networking/subnet","parent":"nett"}}]}}"#,
    );
    assert!(refusal.message.starts_with("command 1:"), "{refusal}");
    assert_eq!(refusal.suggestions, ["net"]);
    let done = bench.json(
        r#"{"batch":{"summary":"Network","commands":[
            {"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}},
            {"addNode":{"board":"main","type":"aws/networking/subnet","parent":"main/net"}}]}}"#,
    );
    assert_eq!((done.summary.as_str(), done.created.len(), bench.log.len()), ("Network", 2, 2));
    let refusal = bench.refused(r#"{"batch":{"commands":[{"batch":{"commands":[]}}]}}"#);
    assert_eq!(refusal.code, RefusalCode::BadRequest);
}

#[test]
fn copies_keep_inner_edges_references_and_nesting() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addBoard":{"kind":"infrastructure","title":"Second"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"web"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/compute/instance","parent":"a","name":"app"}}"#);
    bench.json(r#"{"connect":{"source":{"node":"web"},"target":{"node":"app"}}}"#);
    let made = bench.json(r#"{"duplicate":{"nodes":["net"]}}"#);
    assert_eq!(made.created.len(), 1);
    assert_eq!((bench.state.node_count(), bench.state.edge_count()), (8, 2));
    let (copy, copied_net) = (bench.node("web_2"), bench.node("net_2"));
    let subnet = bench.state.node(copy).unwrap().parent.unwrap();
    assert_eq!(bench.state.node(subnet).unwrap().references["vpc_id"], [copied_net]);

    let fragment = serde_json::to_string(&bench.state.copy_fragment(&[bench.node("a")])).unwrap();
    let refusal = bench.refused(&format!(r#"{{"paste":{{"board":"second","fragment":{fragment}}}}}"#));
    assert_eq!(refusal.code, RefusalCode::ContainmentError);
    let fragment = serde_json::to_string(&bench.state.copy_fragment(&[bench.node("net")])).unwrap();
    bench.json(&format!(r#"{{"paste":{{"board":"second","fragment":{fragment},"at":{{"x":100,"y":50}}}}}}"#));
    let pasted = bench
        .state
        .node_named(bench.state.board_named(&"second".parse().unwrap()).unwrap().id, &"net".parse().unwrap())
        .unwrap();
    let place = bench.state.placement(pasted.id).unwrap();
    assert_eq!((place.x, place.y), (100, 50));
}

#[test]
fn layout_commands_move_and_change_nothing_else() {
    let mut bench = AuthorityFixture::with_board();
    for (name, x, y) in [("a", 0, 0), ("b", 300, 90), ("c", 1000, 40)] {
        bench.json(&format!(r#"{{"addNode":{{"board":"main","type":"aws/storage/s3_bucket","name":"{name}","at":{{"x":{x},"y":{y}}}}}}}"#));
    }
    bench.json(r#"{"connect":{"source":{"node":"c"},"target":{"node":"a"}}}"#);
    let at = |bench: &AuthorityFixture, name: &str| bench.state.placement(bench.node(name)).unwrap();
    let done = bench.json(r#"{"align":{"nodes":["a","b","c"],"to":"top"}}"#);
    assert!(done.changes.iter().all(shared_protocol::Change::is_layout));
    assert_eq!([at(&bench, "a").y, at(&bench, "b").y, at(&bench, "c").y], [0, 0, 0]);
    bench.json(r#"{"distribute":{"nodes":["a","b","c"],"along":"horizontal"}}"#);
    assert_eq!(at(&bench, "b").x - at(&bench, "a").right(), at(&bench, "c").x - at(&bench, "b").right());
    bench.json(r#"{"tidy":{"nodes":["a","b","c"]}}"#);
    assert!(at(&bench, "c").right() < at(&bench, "a").x, "an edge leads from left to right");
    no_overlap(&bench);
    assert_eq!(
        bench.refused(r#"{"distribute":{"nodes":["a","b"],"along":"vertical"}}"#).code,
        RefusalCode::BadRequest
    );
}

#[test]
fn a_container_never_gets_smaller_than_its_content() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/subnet","parent":"net","name":"a","at":{"x":100,"y":100}}}"#);
    bench.json(r#"{"place":{"items":[{"node":"net","x":0,"y":0,"w":20,"h":20}]}}"#);
    let (net, a) =
        (bench.state.placement(bench.node("net")).unwrap(), bench.state.placement(bench.node("a")).unwrap());
    assert!(net.w >= a.right() && net.h >= a.bottom());
}

#[test]
fn problems_name_what_is_missing_and_go_when_it_is_there() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/compute/lambda_function","name":"f"}}"#);
    let problems = crate::ProblemIndex::check_all(&bench.state);
    assert!(problems.errors() > 0);
    let problem = problems.of_node(bench.node("f"))[0].clone();
    assert_eq!(problem.severity, ProblemSeverity::Error);
    assert!(problem.message.ends_with("is required"), "{problem:?}");
}

#[test]
fn reverting_keeps_later_work_and_names_conflicts() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/networking/vpc","name":"net"}}"#);
    bench.json(r#"{"updateNode":{"node":"net","set":{"cidr_block":"10.1.0.0/16"}}}"#);
    bench.json(r#"{"updateNode":{"node":"net","set":{"enable_dns_support":false}}}"#);
    let revert = |bench: &AuthorityFixture, index: usize| {
        crate::rebase(&bench.state, &shared_protocol::change::inverse(&bench.log[index]))
    };
    let mut state = bench.state.clone();
    let changes = revert(&bench, 2).require_complete(&bench.state, "it").unwrap();
    state.apply(state.revision().next(), &changes).unwrap();
    let props = &state.node(bench.node("net")).unwrap().props;
    assert_eq!(props.get("enable_dns_support"), Some(&PropValue::Bool(false)));
    assert_eq!(props.get("cidr_block"), None);
    // The node was changed after it was added, so the addition cannot be reverted exactly.
    let refusal = revert(&bench, 1).require_complete(&bench.state, "Adding net").unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Conflict);
    assert!(refusal.message.contains("of net was changed in the meantime"), "{refusal}");
}

#[test]
fn a_property_becomes_a_variable_and_back_without_loss() {
    let mut bench = AuthorityFixture::with_board();
    bench.json(r#"{"addNode":{"board":"main","type":"aws/storage/s3_bucket","name":"photos","props":{"bucket":"pictures"}}}"#);
    bench.json(r#"{"addNode":{"board":"main","type":"notes/sticky","name":"note"}}"#);
    let photos = bench.node("photos");
    let decision = bench.json(r#"{"setVariable":{"nodes":["photos"],"key":"bucket","variable":true}}"#);
    assert_eq!((decision.changes.len(), decision.summary.as_str()), (1, "Make bucket of photos a variable"));
    let node = bench.state.node(photos).unwrap();
    assert!(
        node.variables.contains("bucket") && node.props.contains_key("bucket"),
        "the value is the default"
    );
    assert!(
        bench
            .json(r#"{"setVariable":{"nodes":["photos"],"key":"bucket","variable":true}}"#)
            .changes
            .is_empty()
    );
    bench.json(r#"{"updateNode":{"node":"photos","unset":["bucket"]}}"#);
    assert!(
        crate::ProblemIndex::check_all(&bench.state).of_node(photos).is_empty(),
        "a required variable needs no value here"
    );
    bench.json(r#"{"setVariable":{"nodes":["photos"],"key":"bucket","variable":false}}"#);
    assert_eq!(crate::ProblemIndex::check_all(&bench.state).of_node(photos).len(), 1);
    for (node, key) in [("photos", "nonsense"), ("note", "text")] {
        let command = format!(r#"{{"setVariable":{{"nodes":["{node}"],"key":"{key}","variable":true}}}}"#);
        assert_eq!(bench.refused(&command).field.as_deref(), Some(key));
    }
}
