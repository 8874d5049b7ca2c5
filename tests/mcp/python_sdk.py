"""The Python SDK. Arguments: http | bridge, then legacy | auto | 2026-07-28."""

import asyncio
import json
import os
import subprocess
import sys

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourceUpdated

CONTEXT = "draftboard://workspace/context"
PATIENCE = 30


async def listed(method, key):
    items, cursor = [], None
    while True:
        page = await method(cursor=cursor, cache_mode="refresh")
        items += getattr(page, key)
        cursor = page.next_cursor
        if cursor is None:
            return items


async def revision(client):
    answer = await client.read_resource(CONTEXT, cache_mode="refresh")
    return json.loads(answer.contents[0].text)["revision"]


def edit():
    subprocess.run(json.loads(os.environ["DRAFTBOARD_EDIT"]), check=True, stdout=subprocess.DEVNULL)


async def watch_session(client, told):
    """Before 2026-07-28: one request, and notices on the session."""
    await client.subscribe_resource(CONTEXT)
    await anyio.to_thread.run_sync(edit)
    await told.wait()


async def watch_stream(client):
    """Since 2026-07-28: a stream of its own."""
    async with client.listen(resource_subscriptions=[CONTEXT]) as stream:
        await anyio.to_thread.run_sync(edit)
        async for event in stream:
            if isinstance(event, ResourceUpdated) and str(event.uri) == CONTEXT:
                return


async def tour(client, told, stateless):
    tools = [tool.name for tool in await listed(client.list_tools, "tools")]
    for name in ("get_workbench_context", "list_resources", "get_diagram", "search"):
        assert name in tools, (name, tools)
    resources = [str(resource.uri) for resource in await listed(client.list_resources, "resources")]
    assert CONTEXT in resources, resources
    assert await listed(client.list_resource_templates, "resource_templates")
    assert "review-diagram" in [prompt.name for prompt in await listed(client.list_prompts, "prompts")]

    before = await revision(client)
    called = await client.call_tool("get_workbench_context", {})
    assert called.structured_content["ok"] is True
    assert called.structured_content["meta"]["revision"] == before
    refused = await client.call_tool("list_resources", {"board": "no-such-board"})
    assert refused.is_error and refused.structured_content["error"]["code"] == "NOT_FOUND", refused

    found, cursor = [], None
    while True:
        page = {"limit": 7} | ({"cursor": cursor} if cursor else {})
        called = await client.call_tool("list_resources", page)
        answer = called.structured_content
        # Frameworks that forward `content` alone show their model the same.
        assert json.loads(called.content[0].text) == answer
        items = answer["data"] if isinstance(answer["data"], list) else answer["data"]["resources"]
        assert len(items) == answer["meta"]["returned"]
        found += [item["instanceId"] for item in items]
        if not answer["meta"]["hasMore"]:
            break
        cursor = answer["meta"]["cursor"]
    total = answer["meta"]["total"]
    assert len(set(found)) == total > 14, (len(found), total)

    with anyio.fail_after(PATIENCE):
        await (watch_stream(client) if stateless else watch_session(client, told))
    assert await revision(client) > before

    with anyio.move_on_after(0.001) as leaving:
        await client.call_tool("get_board_image", {})
        await anyio.sleep_forever()
    assert leaving.cancelled_caught
    again = await client.call_tool("get_workbench_context", {})
    assert again.structured_content["ok"] is True


async def main():
    transport, mode = sys.argv[1:]
    told = anyio.Event()

    async def heard(message):
        root = getattr(message, "root", message)
        if getattr(root, "method", None) == "notifications/resources/updated" and str(root.params.uri) == CONTEXT:
            told.set()

    if transport == "http":
        headers = {"Authorization": "Bearer " + os.environ["DRAFTBOARD_TOKEN"]}
        http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE)
        server = streamable_http_client(os.environ["DRAFTBOARD_URL"], http_client=http)
    else:
        command, *arguments = json.loads(os.environ["DRAFTBOARD_BRIDGE"])
        server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with Client(server, mode=mode, message_handler=heard) as client:
        stateless = mode != "legacy"
        assert client.protocol_version == ("2026-07-28" if stateless else "2025-11-25"), client.protocol_version
        await tour(client, told, stateless)
    print("ok")


asyncio.run(main())
