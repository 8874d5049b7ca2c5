//! Tests of the HTTP edge over real connections: accepted and refused requests, their statuses, and that the server
//! stays up.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{
    AgentWorkbenchFixture, TOKEN, edge, exchange, read_answer, request, service, text_of, tool_call,
};
use mcp_server::http::HttpLimits;
use std::time::Duration;
use test_support::wait_until_async;
use tokio::{io::AsyncWriteExt, net::TcpStream};

fn bearer() -> String {
    format!("Bearer {TOKEN}")
}

async fn assert_alive(address: std::net::SocketAddr) {
    let token = bearer();
    let answer = exchange(
        address,
        tool_call(address, "get_workbench_context", &[("authorization", &token)]).as_bytes(),
    )
    .await;
    assert_eq!(answer.status, 200, "{} {}", answer.head, answer.body);
    assert!(answer.body.contains(r#""structuredContent":{"ok":true"#), "{}", answer.body);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_wrong_way_in_gets_its_status_and_learns_nothing() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let edge = edge(&service, HttpLimits::default());
    let address = edge.address();
    let token = bearer();
    let good = ("authorization", token.as_str());
    let query = format!("/mcp?token={TOKEN}");
    let query_access = format!("/mcp?access_token={TOKEN}");
    let cases: Vec<(&str, String, u16)> = vec![
        ("no token", tool_call(address, "get_diagram", &[]), 401),
        ("wrong token", tool_call(address, "get_diagram", &[("authorization", "Bearer wrong")]), 401),
        ("basic", tool_call(address, "get_diagram", &[("authorization", "Basic x")]), 401),
        ("two tokens", tool_call(address, "get_diagram", &[good, good]), 401),
        ("token in query", request(address, "POST", &query, &[], "{}"), 401),
        ("access token in query", request(address, "GET", &query_access, &[], ""), 401),
        ("foreign host", tool_call(address, "get_diagram", &[good, ("host", "evil.test")]), 403),
        ("other port", tool_call(address, "get_diagram", &[good, ("host", "127.0.0.1:1")]), 403),
        (
            "two hosts",
            tool_call(address, "get_diagram", &[good, ("host", "localhost"), ("host", "evil.test")]),
            403,
        ),
        ("foreign origin", tool_call(address, "get_diagram", &[good, ("origin", "https://evil.test")]), 403),
        (
            "page on this machine",
            tool_call(address, "get_diagram", &[good, ("origin", "http://localhost:3000")]),
            403,
        ),
        ("null origin", tool_call(address, "get_diagram", &[good, ("origin", "null")]), 403),
        ("empty origin", tool_call(address, "get_diagram", &[good, ("origin", "")]), 403),
        (
            "preflight",
            request(
                address,
                "OPTIONS",
                "/mcp",
                &[("origin", "https://evil.test"), ("access-control-request-method", "POST")],
                "",
            ),
            403,
        ),
        ("options without origin", request(address, "OPTIONS", "/mcp", &[good], ""), 405),
        ("browser", request(address, "GET", "/mcp", &[("accept", "text/html")], ""), 401),
        ("browser with token", request(address, "GET", "/mcp", &[("accept", "text/html"), good], ""), 406),
        ("oauth discovery", request(address, "GET", "/.well-known/oauth-protected-resource", &[], ""), 404),
        (
            "oauth server",
            request(address, "GET", "/.well-known/oauth-authorization-server/mcp", &[], ""),
            404,
        ),
        ("unknown path", request(address, "GET", "/", &[], ""), 404),
        ("sessions without token", request(address, "GET", "/sessions", &[], ""), 401),
        ("health by post", request(address, "POST", "/health", &[], ""), 405),
        ("put", request(address, "PUT", "/mcp", &[good], "x"), 405),
    ];
    for (name, text, status) in cases {
        let answer = exchange(address, text.as_bytes()).await;
        assert_eq!(answer.status, status, "{name}: {} {}", answer.head, answer.body);
        assert!(!answer.head.contains("access-control"), "{name}: {}", answer.head);
        assert!(!answer.body.contains("bucket") && !answer.body.contains(TOKEN), "{name}: {}", answer.body);
        if status == 401 {
            assert!(answer.head.contains("www-authenticate: bearer"), "{name}: {}", answer.head);
        }
    }
    let health = exchange(address, request(address, "GET", "/health", &[], "").as_bytes()).await;
    assert_eq!((health.status, health.body.as_str()), (200, r#"{"status":"ok","version":"9.9.9"}"#));
    let sessions = exchange(address, request(address, "GET", "/sessions", &[good], "").as_bytes()).await;
    assert_eq!((sessions.status, sessions.body.as_str()), (200, r#"{"sessions":[]}"#));
    let own = format!("http://{address}");
    let own_page =
        exchange(address, tool_call(address, "get_diagram", &[good, ("origin", &own)]).as_bytes()).await;
    assert_eq!(own_page.status, 200);
    assert_alive(address).await;
    edge.stop().await;
    assert!(TcpStream::connect(address).await.is_err(), "the port is free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_much_or_too_slow_is_refused_and_the_server_stays_up() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let limits = HttpLimits {
        body_timeout: Duration::from_millis(300),
        header_timeout: Duration::from_millis(300),
        ..HttpLimits::default()
    };
    let edge = edge(&service, limits);
    let address = edge.address();
    let head = format!("POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: {}\r\n", bearer());

    let huge = format!("{head}content-length: 104857600\r\n\r\n");
    assert_eq!(exchange(address, huge.as_bytes()).await.status, 413);

    let mut chunked = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
    for _ in 0..100 {
        chunked.extend_from_slice(b"10000\r\n");
        chunked.resize(chunked.len() + 0x10000, b'x');
        chunked.extend_from_slice(b"\r\n");
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    let (mut read, mut write) = stream.split();
    let sending = async { drop(write.write_all(&chunked).await) };
    let reading = async {
        let mut first = vec![0; 12];
        tokio::io::AsyncReadExt::read_exact(&mut read, &mut first).await.map(|_| first)
    };
    let ((), first) = tokio::join!(sending, reading);
    assert_eq!(first.unwrap(), b"HTTP/1.1 413");

    let mut slow = TcpStream::connect(address).await.unwrap();
    slow.write_all(format!("{head}content-length: 100\r\n\r\n{{").as_bytes()).await.unwrap();
    assert_eq!(read_answer(&mut slow).await.status, 408);

    // The server closes a connection with half a request head.
    let mut half = TcpStream::connect(address).await.unwrap();
    half.write_all(b"POST /mcp HTTP/1.1\r\nhost: x").await.unwrap();
    let answer = read_answer(&mut half).await;
    assert!(answer.status == 0 || answer.status == 408, "{}", answer.head);
    for garbage in [&b"\0\0\0\0\r\n\r\n"[..], b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        assert!(read_answer(&mut stream).await.status / 100 != 2);
    }
    assert_alive(address).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_connections_do_not_keep_the_server_from_its_work() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let edge = edge(&service, HttpLimits::default());
    let address = edge.address();
    let mut open = Vec::new();
    for _ in 0..1_000 {
        // The operating system may refuse some of them.
        if let Ok(stream) = TcpStream::connect(address).await {
            open.push(stream);
        }
    }
    assert!(open.len() > 300, "{}", open.len());
    // Connections over the limit receive an answer.
    let told = read_answer(&mut open[280]).await;
    assert_eq!(told.status, 503, "{}", told.head);
    assert!(told.body.contains("LIMIT_EXCEEDED"));
    drop(open);
    // Slots become free as the connections close.
    wait_until_async("the server to come back", async || {
        let token = bearer();
        let call = tool_call(address, "get_workbench_context", &[("authorization", &token)]);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(call.as_bytes()).await.unwrap();
        read_answer(&mut stream).await.status == 200
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_asks_too_much_at_once_is_told_to_wait() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let edge = edge(&service, HttpLimits { requests_per_client: 0, ..HttpLimits::default() });
    let address = edge.address();
    let token = bearer();
    let answer =
        exchange(address, tool_call(address, "get_diagram", &[("authorization", &token)]).as_bytes()).await;
    assert_eq!(answer.status, 429);
    assert!(answer.head.contains("retry-after") && answer.body.contains("LIMIT_EXCEEDED"), "{}", answer.body);
}

/// Clients warn their users about any other status.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_ends_without_content_and_is_gone() {
    let bench = AgentWorkbenchFixture::new();
    let service = service(&bench);
    let edge = edge(&service, HttpLimits::default());
    let address = edge.address();
    let token = bearer();
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"leaver","version":"1"}}}"#;
    let headers = [
        ("authorization", token.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let begun = exchange(address, request(address, "POST", "/mcp", &headers, initialize).as_bytes()).await;
    let session = begun.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let end = [
        ("authorization", token.as_str()),
        ("mcp-session-id", session),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let ended = exchange(address, request(address, "DELETE", "/mcp", &end, "").as_bytes()).await;
    assert_eq!(ended.status, 204, "{} {}", ended.head, ended.body);
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let more: Vec<_> = headers.iter().chain(&end[1..]).copied().collect();
    let after = exchange(address, request(address, "POST", "/mcp", &more, list).as_bytes()).await;
    assert_eq!(after.status, 404, "{} {}", after.head, after.body);
}

/// Joins a chunked body.
fn unchunked(body: &str) -> String {
    let (mut rest, mut whole) = (body, String::new());
    while let Some((size, chunks)) = rest.split_once("\r\n") {
        let Some(chunk) = usize::from_str_radix(size, 16).ok().and_then(|size| chunks.get(..size)) else {
            break;
        };
        whole.push_str(chunk);
        rest = chunks.get(chunk.len() + 2..).unwrap_or_default();
    }
    whole
}

/// Over HTTP as over the bridge, the text is the whole answer in a session of every version.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_answer_is_text_in_sessions_of_every_version() {
    let bench = AgentWorkbenchFixture::new();
    bench.add_buckets(100);
    let service = service(&bench);
    let edge = edge(&service, HttpLimits::default());
    let (address, token) = (edge.address(), bearer());
    let headers = [
        ("authorization", token.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    for (version, knows_structured) in
        [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true), ("2025-11-25", true)]
    {
        let initialize = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"old","version":"1"}}}}}}"#
        );
        let begun =
            exchange(address, request(address, "POST", "/mcp", &headers, &initialize).as_bytes()).await;
        let session = begun.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        let mut of_session = headers.to_vec();
        of_session.push(("mcp-session-id", session));
        // Versions before 2025-06-18 do not have this header.
        if knows_structured {
            of_session.push(("mcp-protocol-version", version));
        }
        let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        exchange(address, request(address, "POST", "/mcp", &of_session, ready).as_bytes()).await;
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_resources","arguments":{}}}"#;
        let answer = exchange(address, request(address, "POST", "/mcp", &of_session, call).as_bytes()).await;
        let body = unchunked(&answer.body);
        let message = body
            .lines()
            .map(|line| line.strip_prefix("data:").unwrap_or(line).trim())
            .find(|line| line.starts_with('{'))
            .unwrap_or_else(|| panic!("{version}: {} {}", answer.head, answer.body));
        let message: serde_json::Value = serde_json::from_str(message).unwrap();
        let text = text_of(&message);
        assert_eq!(text["data"].as_array().unwrap().len(), 100, "{version}");
        assert_eq!(
            message["result"].get("structuredContent"),
            knows_structured.then_some(&text),
            "{version}"
        );
    }
}
