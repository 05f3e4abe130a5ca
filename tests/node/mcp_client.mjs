// The official TypeScript client, as a host that a test commands.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { obey } from "./commands.mjs";

const [url, token, mode] = process.argv.slice(2);
const shown = [];
let accept, pending;
const accepted = new Promise((resolve) => (accept = resolve));
const client = new Client(
  { name: "typescript host", version: "1" },
  { versionNegotiation: { mode }, capabilities: { elicitation: { url: {} } } },
);
client.setRequestHandler("elicitation/create", async ({ params }) => {
  shown.push({ mode: params.mode, url: params.url, message: params.message });
  await accepted;
  return { action: "accept" };
});
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);

await obey({
  about: () => ({
    era: client.getProtocolEra?.() ?? null,
    capabilities: client.getServerCapabilities(),
    server: client.getServerVersion(),
    instructions: client.getInstructions(),
  }),
  tools: async () => (await client.listTools()).tools,
  use: ({ tool, given }) => client.callTool({ name: tool, arguments: given }),
  begin: ({ tool, given }) => void (pending = client.callTool({ name: tool, arguments: given })),
  end: () => pending,
  shown: () => shown,
  accept: () => accept(),
});
