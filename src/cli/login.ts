// switchyard login: signs the command line in to a service by a code, which a person enters in a browser.
import { hostname } from 'node:os';
import open from 'open';
import { commandPrefix } from '../common/command-line.ts';
import { oneAddress, runClientCommand, UsageError } from './client/client-command.ts';
import { credentialPath, defaultAddress, requireStorable, storeCredential } from './client/credentials.ts';
import { revokeToken, type ShownCode, signInByDevice } from './client/device-sign-in.ts';
import { readClientEnvironment } from './client/environment.ts';
import { plain } from './client/plain.ts';
import { readViewer } from './client/request.ts';

const prefix = commandPrefix('login');

const usage = `Usage:
  ${prefix} ADDRESS   sign in to the service at ADDRESS, such as https://switchyard.example.com

Shows a code. Enter it on the page /device of the service, in any browser, and approve. The token is stored in
${credentialPath()}, which only you can read.
Without ADDRESS, signs in again to SWITCHYARD_URL, or to the service of the last sign-in.

Options:
  --name NAME     the name of the token (default: "Command line on ${hostname()}")
  --no-browser    open no browser
  --allow-http    send the token unencrypted to an address other than this computer
  -h, --help      show this text`;

const options = {
  name: { type: 'string' },
  'no-browser': { type: 'boolean' },
  'allow-http': { type: 'boolean' },
} as const;

const isLoopback = (address: string) =>
  /^http:\/\/(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|$)/.test(address);

/** Opens a page if a person at this computer can see it. A failure is none: the address is in the output. */
async function openPage(page: string): Promise<void> {
  if (!process.stderr.isTTY || readClientEnvironment().isRemote) return;
  await open(page).then(
    (child) => child.on('error', () => undefined),
    () => undefined,
  );
}

await runClientCommand(usage, options, async ({ values, positionals }) => {
  const address = oneAddress(positionals) ?? (await defaultAddress());
  if (address === null) throw new UsageError('ADDRESS is missing.');
  if (address.startsWith('http:') && !isLoopback(address) && !values['allow-http']) {
    throw new Error(`${address} is not encrypted. Use https, or --allow-http if you trust the network.`);
  }
  await requireStorable();
  const show = async ({ userCode, page }: ShownCode) => {
    process.stderr.write(`Open ${page} and enter this code: ${userCode}\nWaiting for approval…\n`);
    if (!values['no-browser']) await openPage(page);
  };
  const granted = await signInByDevice(address, values.name ?? `Command line on ${hostname()}`.slice(0, 100), show);
  await storeCredential(address, granted).catch(async (error: unknown) => {
    // A token that nobody has must not stay valid.
    await revokeToken(address, granted.token);
    throw error;
  });
  const viewer = await readViewer({ address, token: granted.token });
  if (viewer === null) throw new Error('The service did not accept the new token. Sign in again.');
  const until = granted.tokenExpiresAt === null ? '' : ` The token expires on ${granted.tokenExpiresAt.slice(0, 10)}.`;
  process.stdout.write(`Signed in to ${address} as ${plain(viewer.name ?? 'a service key')}.${until}\n`);
  if (readClientEnvironment().token !== null)
    process.stderr.write('SWITCHYARD_TOKEN is set, and comes before this sign-in. Unset it to use the sign-in.\n');
});
