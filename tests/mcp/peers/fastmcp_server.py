"""FastMCP. Arguments: the file of answers, the port."""

import json
import sys

from fastmcp import FastMCP
from fastmcp.tools import ToolResult
from mcp.types import TextContent

with open(sys.argv[1]) as file:
    answers = json.load(file)

server = FastMCP("peer")


def answer(result):
    content = [TextContent(type="text", text=block["text"]) for block in result["content"]]
    return ToolResult(content=content, structured_content=result.get("structuredContent"))


def tool_of(name):
    result = answers["calls"].get(name, {"content": []})

    def call() -> ToolResult:
        return answer(result)

    call.__name__ = name
    return call


for tool in answers["list"]["tools"]:
    name = tool["name"]
    server.tool(tool_of(name), name=name, description=tool.get("description"), output_schema=tool.get("outputSchema"))

text = answers["read"]["contents"][0]["text"]


@server.resource(answers["read"]["contents"][0]["uri"], mime_type="application/json")
def read() -> str:
    return text


print("ready", flush=True)
server.run(
    transport="http",
    host="127.0.0.1",
    port=int(sys.argv[2]),
    path="/mcp",
    show_banner=False,
    log_level="error",
    uvicorn_config={"timeout_keep_alive": 600},  # connections stay open between rounds
)
