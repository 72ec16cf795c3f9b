import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { sharedNetworkWarning } from './agents/profiles/shared-networks.ts';
import { createApp } from './app.ts';
import { describeAgents } from './assembly/describe-agents.ts';
import { commandLine } from './common/command-line.ts';
import { readConfig } from './config/config.ts';
import { consoleLinkAddress, createConsoleLink } from './domain/identity/keys/console-links.ts';
import type { FirstStart } from './domain/installation/bootstrap.ts';

// V8 allocates objects directly in the old generation if earlier ones from the same code survived a few collections.
// Here these objects are parts of responses and die with their request. As old objects they would keep most of a page
// alive through every minor collection. Without pretenuring, a page takes a third less CPU (docs/performance.md).
setFlagsFromString('--no-allocation-site-pretenuring');
const { app, config } = await readAndCreate();
const { roles } = config;
// graphql-js abandons promises when something beside them throws. Such a request must not end the service.
process.on('unhandledRejection', (error) => {
  app.services.log.error({ err: error }, 'A promise was rejected that nobody waited for.');
});
const { url } = await app.start().catch(async (error: unknown) => {
  await app.stop();
  return giveUp(error);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    setTimeout(endStop, config.stopDelayMs + config.stopTimeoutMs).unref();
    app.stop().then(
      () => process.exit(0),
      (error: unknown) => giveUp(error, 'Switchyard did not stop as it should.'),
    );
  });
}

const { firstStart } = app.installation;
const agentsText = describeAgents(app.services.agents, config);
if (firstStart) {
  const link = await signInLink(firstStart.adminToken);
  process.stdout.write(firstStartText(url, firstStart, { link, agentsText }));
} else process.stdout.write(`Switchyard is at ${url}. Its data is in ${config.dataDir}. ${hint()}\n${agentsText}\n`);
warnOfSharedNetworks();

async function readAndCreate() {
  try {
    const { values } = parseArgs({ options: { maintenance: { type: 'boolean' } } });
    const config = { ...readConfig(), ...(values.maintenance && { maintenance: true }) };
    return { app: await createApp(config), config };
  } catch (error) {
    return giveUp(error);
  }
}

function endStop(): never {
  const sessions = app.worker?.active() ?? 0;
  const seconds = config.stopTimeoutMs / 1_000;
  const text = `Switchyard did not stop within ${seconds === 1 ? '1 second' : `${seconds} seconds`} (STOP_TIMEOUT_SECONDS).`;
  const rest =
    sessions === 0 ? '' : ` It has not handed over ${sessions === 1 ? 'a session' : `${sessions} sessions`}.`;
  process.stderr.write(`${text}${rest}\n`);
  process.exit(1);
}

function hint(): string {
  if (roles.includes('api')) {
    const isEmbedded = config.databaseUrl === null;
    return `If you lose the administrator token, ${isEmbedded ? 'stop the service and ' : ''}run "${commandLine('token')}" with the same variables.`;
  }
  return `This process runs only as ${roles.join(' and ')}. It does not serve the API; its address is for health checks.`;
}

function giveUp(error: unknown, summary: string = 'Switchyard cannot start.'): never {
  process.stderr.write(`${summary}\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

// Comes after what a new user needs first.
function warnOfSharedNetworks(): void {
  const isExposed = roles.includes('api') || roles.includes('worker');
  const warning = isExposed ? sharedNetworkWarning(app.services.agentProfiles.values()) : null;
  if (warning !== null) app.services.log.warn({}, warning);
}

// The service starts without the link too: the token also signs in.
async function signInLink(token: string): Promise<string> {
  const code = roles.includes('api') ? await createConsoleLink(app.services, token).catch(() => null) : null;
  return code === null
    ? ''
    : `  Sign in                 ${consoleLinkAddress(app.services.baseUrl, code)}\n                          (works once, within 15 minutes; after that, sign in with the token)\n`;
}

function firstStartText(
  address: string,
  { adminToken, v1Key, organizationId }: FirstStart,
  { link, agentsText }: { readonly link: string; readonly agentsText: string },
): string {
  const graphql = JSON.stringify({
    query:
      'mutation($input: CreateSessionInput!) { createSession(input: $input) { session { sessionId url status } userErrors { message } } }',
    variables: { input: { organizationId: `org-${organizationId}`, prompt: 'Write a haiku into haiku.txt' } },
  });
  const read = JSON.stringify({
    query:
      '{ organizations(first: 1) { nodes { sessions(first: 1) { nodes { sessionId title status messages(first: 20) { nodes { type body } } } } } } }',
  });
  // A token of the configuration is known to the operator, and the log of a container is read by others.
  const isConfigured = config.bootstrapToken !== null;
  const bearer = isConfigured ? `"Authorization: Bearer $BOOTSTRAP_TOKEN"` : `'Authorization: Bearer ${adminToken}'`;
  return `
Switchyard is at ${address}. Keep the following: it is shown only once.

${link}  Administrator's token   ${isConfigured ? 'that of BOOTSTRAP_TOKEN' : adminToken}
  v1 key                  ${v1Key}
  Organization            org-${organizationId}
  Data                    ${config.dataDir}

${agentsText}

Start a session and read the newest one with GraphQL (in a browser: ${address}/graphql):

curl -s ${address}/graphql -H ${bearer} -H 'Content-Type: application/json' \\
  -d '${graphql}'

curl -s ${address}/graphql -H ${bearer} -H 'Content-Type: application/json' \\
  -d '${read}'

The same with REST v1:

curl -s ${address}/v1/sessions -H 'Authorization: Bearer ${v1Key}' -H 'Content-Type: application/json' \\
  -d '{"prompt": "Write a haiku into haiku.txt"}'

curl -s '${address}/v1/sessions?limit=1' -H 'Authorization: Bearer ${v1Key}'
`;
}
