"""An agent on the Python SDK that is in a hurry: calls one after the other, then many at once, all into one draft. Prints what was answered."""

import asyncio
import json
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

PATIENCE = 120
RAPID, MANY = 20, 50


def bucket(name, draft):
    arguments = {"typeId": "aws/storage/s3_bucket", "name": name, "properties": {"bucket": name}}
    return {**arguments, "proposal": draft} if draft else arguments


async def main():
    headers = {"Authorization": "Bearer " + os.environ["DRAFTBOARD_TOKEN"]}
    limits = httpx2.Limits(max_connections=MANY + 10)
    http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE, limits=limits)
    server = streamable_http_client(os.environ["DRAFTBOARD_URL"], http_client=http)
    async with Client(server, mode=sys.argv[1]) as client:

        async def call(tool, arguments):
            answer = await client.call_tool(tool, arguments)
            envelope = answer.structured_content
            assert envelope["ok"], envelope
            return envelope["data"]

        rapid, draft = [], None
        for index in range(RAPID):
            rapid.append(await call("add_resource", bucket(f"rapid{index}", draft)))
            draft = rapid[0]["proposal"]["id"]
        many = await asyncio.gather(*(call("add_resource", bucket(f"many{index}", draft)) for index in range(MANY)))
        of_draft = {"view": "draft", "proposal": draft, "limit": 1000}
        nodes = await call("list_resources", of_draft)
        proposal = await call("get_proposal", {"id": draft})
        print(json.dumps({"rapid": rapid, "many": many, "nodes": nodes, "proposal": proposal}))


asyncio.run(main())
