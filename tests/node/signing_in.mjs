// Any official TypeScript SDK, as a host that signs in by the SDK's own OAuth.
import { obey } from "./commands.mjs";

const [url, version, name, callback, scope] = process.argv.slice(2);
const isOld = version.startsWith("1.");
const old = (part) => import(`sdk-${version}/client/${part}.js`);
const { Client, StreamableHTTPClientTransport } = isOld
  ? { ...(await old("index")), ...(await old("streamableHttp")) }
  : await import("@modelcontextprotocol/client");
// 2.x checks `iss`, 1.x takes the code alone
const read = (parameters) => (isOld ? parameters.get("code") : parameters);

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
let client, transport;

async function connect() {
  client = new Client({ name, version: "1" });
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  await client.connect(transport);
}

console.log = console.warn = console.error; // lines on stdout are answers

await obey({
  sign_in: async () => {
    try {
      await connect();
    } catch (error) {
      if (!asked.length) throw error;
    }
    return asked.at(-1);
  },
  come_back: async ({ address }) => {
    await transport.finishAuth(read(new URL(address).searchParams));
    await connect();
  },
  tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
  use: ({ tool, given }) => client.callTool({ name: tool, arguments: given }),
  // the SDK looks at no clock: it sends its token until the server refuses it
  later: () => {},
  token: () => kept.tokens.access_token,
  consents: () => asked.length,
});
