"""The Python SDK, which starts the bridge with the environment that it hands down by itself. Says which variables those are."""

import asyncio
import json
import os

from mcp import Client, StdioServerParameters
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS


async def main():
    command, *arguments = json.loads(os.environ["DRAFTBOARD_BRIDGE"])
    async with Client(StdioServerParameters(command=command, args=arguments)) as client:
        answer = await client.call_tool("get_workbench_context", {})
        assert not answer.is_error and json.loads(answer.content[0].text)["ok"] is True, answer
    print(json.dumps(sorted(DEFAULT_INHERITED_ENV_VARS)))


asyncio.run(main())
