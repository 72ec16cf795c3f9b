import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { createApp } from './app.ts';
import { readConfig } from './config/config.ts';
import type { FirstStart } from './domain/bootstrap.ts';
import { consoleLinkAddress, createConsoleLink } from './domain/identity/keys/console-sessions.ts';

/** How long a stop may take before the process ends anyway. */
const stopTimeoutMs = 30_000;

// V8 makes objects as old ones from the beginning where those of the same place in the code outlived a few collections. Here
// these are parts of answers, which die with their request: as old objects they keep what they refer to, most of a page, alive
// through every collection of young ones. Without this a page takes a third less of CPU (docs/performance.md).
setFlagsFromString('--no-allocation-site-pretenuring');
const { app, config } = await readAndCreate();
const { roles } = config;
// graphql-js leaves promises alone where something beside them is thrown: who asks so must not end the service for all.
process.on('unhandledRejection', (error) => {
  app.services.log.error({ err: error }, 'A promise was rejected that nobody waited for.');
});
const { url } = await app.start().catch(async (error: unknown) => {
  await app.stop();
  return giveUp(error);
});
const { firstStart } = app.installation;
if (firstStart) process.stdout.write(firstStartText(url, firstStart, await signInLink(firstStart.adminToken)));
else process.stdout.write(`Switchyard is at ${url}. ${hint()}\n`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    setTimeout(() => process.exit(1), config.stopDelayMs + stopTimeoutMs).unref();
    app.stop().then(() => process.exit(0), giveUp);
  });
}

async function readAndCreate() {
  try {
    const { values } = parseArgs({ options: { maintenance: { type: 'boolean' } } });
    const config = { ...readConfig(), ...(values.maintenance && { maintenance: true }) };
    return { app: await createApp(config), config };
  } catch (error) {
    return giveUp(error);
  }
}

function hint(): string {
  if (roles.includes('api')) return 'If you lose the administrator token, "npm run token" creates a new one.';
  return `This process runs only as ${roles.join(' and ')}. It does not serve the API; its address is for health checks.`;
}

function giveUp(error: unknown): never {
  process.stderr.write(`Switchyard cannot start.\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

// A start is one also without it: the token signs in as well.
async function signInLink(token: string): Promise<string> {
  const code = roles.includes('api') ? await createConsoleLink(app.services, token).catch(() => null) : null;
  return code === null
    ? ''
    : `  Console                 ${consoleLinkAddress(app.services.baseUrl, code)}\n                          (works once, within 15 minutes; after that, sign in with the token)\n`;
}

function firstStartText(address: string, { adminToken, v1Key, organizationId }: FirstStart, link: string): string {
  const graphql = JSON.stringify({
    query:
      'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId url status } userErrors { message } } }',
    variables: { input: { organizationId: `org-${organizationId}`, prompt: 'Write a haiku into haiku.txt' } },
  });
  const read = JSON.stringify({
    query:
      '{ organizations(first: 1) { nodes { sessions(first: 1) { nodes { sessionId title status messages(first: 20) { nodes { type body } } } } } } }',
  });
  return `
Switchyard is at ${address}. Keep the following: it is shown only once.

  Administrator's token   ${adminToken}
  v1 key                  ${v1Key}
  Organization            org-${organizationId}
${link}
Start a session and read the newest one with GraphQL (in a browser: ${address}/graphql):

curl -s ${address}/graphql -H 'Authorization: Bearer ${adminToken}' -H 'Content-Type: application/json' \\
  -d '${graphql}'

curl -s ${address}/graphql -H 'Authorization: Bearer ${adminToken}' -H 'Content-Type: application/json' \\
  -d '${read}'

The same with REST v1:

curl -s ${address}/v1/sessions -H 'Authorization: Bearer ${v1Key}' -H 'Content-Type: application/json' \\
  -d '{"prompt": "Write a haiku into haiku.txt"}'

curl -s '${address}/v1/sessions?limit=1' -H 'Authorization: Bearer ${v1Key}'

`;
}
