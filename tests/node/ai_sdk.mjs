// The AI SDK as a host that a test commands, with its client of events and its webhook receiver.
import { createServer } from "node:http";
import { createMCPClient, experimental_createMCPEventWebhook } from "@ai-sdk/mcp";
import { obey } from "./commands.mjs";

const [url, token, era, port] = process.argv.slice(2);
const callback = `http://127.0.0.1:${port}/hooks`;
const saved = new Map();
const seen = { versions: new Set(), received: [], statuses: [], refusals: 0 };

const store = {
  get: async (key) => saved.get(key),
  getById: async (id) => [...saved.values()].find((each) => each.id === id),
  set: async (subscription) => void saved.set(subscription.key, subscription),
  update: async (key, patch) => void Object.assign(saved.get(key) ?? {}, patch),
  delete: async (key) => void saved.delete(key),
};

const receive = experimental_createMCPEventWebhook({
  store,
  validatePayload: ({ definition, data }) => {
    for (const name of definition.payloadSchema.required) {
      if (!(name in data)) throw new Error(`the payload lacks ${name}`);
    }
  },
  onEvent: async ({ subscription, event }) => {
    if (seen.refusals > 0) {
      seen.refusals -= 1;
      throw new Error("not now");
    }
    seen.received.push({ subscription: subscription.id, ...event });
  },
});

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const answer = await receive(
    new Request(new URL(request.url, callback), {
      method: request.method,
      headers: request.headers,
      body: Buffer.concat(chunks),
    }),
  );
  seen.statuses.push(answer.status);
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}).listen(Number(port), "127.0.0.1");

const client = await createMCPClient({
  transport: {
    type: "http",
    url,
    headers: { Authorization: `Bearer ${token}` },
    fetch: (input, init) => {
      seen.versions.add(new Headers(init?.headers).get("mcp-protocol-version"));
      return fetch(input, init);
    },
  },
  protocolVersionDiscovery: era === "modern",
  experimental_events: { store },
});
const events = client.experimental_events;
const delivery = { mode: "webhook", url: callback, allowInsecureLocalhost: true };

await obey({
  versions: () => [...seen.versions],
  use: async ({ tool, given }) =>
    (await client.tools())[tool].execute(given, { toolCallId: "1", messages: [] }),
  events: async () => (await events.list()).events,
  subscribe: (given) => events.subscribe({ name: "response.submitted", delivery, ...given }),
  refresh: ({ id }) => events.refresh({ id }),
  unsubscribe: ({ id }) => events.unsubscribe({ id }),
  saved: () => [...saved.values()].map(({ definition, ...kept }) => kept),
  refuse: ({ times }) => void (seen.refusals = times),
  received: () => seen.received,
  statuses: () => seen.statuses,
});
