"""An agent on the Python SDK. For each line of JSON on standard input, a tool and its arguments, it calls the tool and prints the envelope."""

import asyncio
import json
import os
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

PATIENCE = 60


async def main():
    headers = {"Authorization": "Bearer " + os.environ["DRAFTBOARD_TOKEN"]}
    http = httpx2.AsyncClient(headers=headers, timeout=PATIENCE)
    server = streamable_http_client(os.environ["DRAFTBOARD_URL"], http_client=http)
    async with Client(server, mode="legacy") as client:
        while line := await anyio.to_thread.run_sync(sys.stdin.readline):
            tool, arguments = json.loads(line)
            answer = await client.call_tool(tool, arguments)
            print(json.dumps(answer.structured_content), flush=True)


asyncio.run(main())
