// switchyard whoami: says as whom the command line is signed in.
import { commandPrefix } from '../common/command-line.ts';
import { oneAddress, requireSignIn, runClientCommand } from './client/client-command.ts';
import { plain } from './client/plain.ts';
import { readViewer } from './client/request.ts';

const usage = `Usage:
  ${commandPrefix('whoami')} [ADDRESS]   say as whom you are signed in, and in which organizations

Without ADDRESS, asks SWITCHYARD_URL, or the service of the last sign-in. SWITCHYARD_TOKEN comes before a sign-in.

Options:
  --json       print JSON
  -h, --help   show this text`;

await runClientCommand(usage, { json: { type: 'boolean' } }, async ({ values, positionals }) => {
  const signedIn = await requireSignIn(oneAddress(positionals));
  const { address, tokenExpiresAt } = signedIn;
  const viewer = await readViewer(signedIn);
  if (viewer === null) {
    throw new Error(
      `${address} does not accept the token: it has expired or was revoked. Run "${commandPrefix('login')} ${address}".`,
    );
  }
  const { name, organizations } = viewer;
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ address, name, tokenExpiresAt, organizations }, null, 2)}\n`);
    return;
  }
  const lines = [
    `${plain(name ?? 'A service key')} at ${address}`,
    ...(tokenExpiresAt === null ? [] : [`The token expires on ${tokenExpiresAt.slice(0, 10)}.`]),
    ...organizations.map((each) => `  ${plain(each.organizationId)}  ${plain(each.name)}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
});
