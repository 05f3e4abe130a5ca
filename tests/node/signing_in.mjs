// The official TypeScript SDKs and the AI SDK, as a host that signs in by the SDK's own OAuth.
import { obey } from "./commands.mjs";

const [url, sdk, version, name, callback, scope] = process.argv.slice(2);

const kept = {};
const asked = [];
const provider = {
  redirectUrl: callback,
  clientMetadata: {
    client_name: name,
    redirect_uris: [callback],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    scope: scope || undefined,
  },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  redirectToAuthorization: (address) => void asked.push(address.href),
};

async function official() {
  const isOld = version.startsWith("1.");
  const old = (part) => import(`sdk-${version}/client/${part}.js`);
  const { Client, StreamableHTTPClientTransport } = isOld
    ? { ...(await old("index")), ...(await old("streamableHttp")) }
    : await import("@modelcontextprotocol/client");
  let client, transport;
  return {
    connect: async () => {
      client = new Client({ name, version: "1" });
      transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
      await client.connect(transport);
    },
    // 2.x checks `iss`, 1.x takes the code alone
    redeem: (answer) => transport.finishAuth(isOld ? answer.get("code") : answer),
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    use: (tool, given) => client.callTool({ name: tool, arguments: given }),
  };
}

async function ai() {
  const { auth, createMCPClient } = await import("@ai-sdk/mcp");
  let client;
  return {
    connect: async () => {
      client = await createMCPClient({ transport: { type: "http", url, authProvider: provider } });
    },
    redeem: (answer) =>
      auth(provider, {
        serverUrl: url,
        authorizationCode: answer.get("code"),
        callbackIssuer: answer.get("iss"),
      }),
    tools: async () => Object.keys(await client.tools()),
    use: async (tool, given) =>
      (await client.tools())[tool].execute(given, { toolCallId: "1", messages: [] }),
  };
}

console.log = console.warn = console.error; // lines on stdout are answers
const host = await (sdk === "ai" ? ai() : official());

await obey({
  sign_in: async () => {
    try {
      await host.connect();
    } catch (error) {
      if (!asked.length) throw error;
    }
    return asked.at(-1);
  },
  come_back: async ({ address }) => {
    await host.redeem(new URL(address).searchParams);
    await host.connect();
  },
  tools: () => host.tools(),
  use: ({ tool, given }) => host.use(tool, given),
  // no SDK looks at its clock: each sends its token until the server refuses it
  later: () => {},
  token: () => kept.tokens.access_token,
  consents: () => asked.length,
});
