// switchyard logout: revokes the token of the command line, and removes it from this computer.
import { commandPrefix } from '../common/command-line.ts';
import { oneAddress, requireSignIn, runClientCommand } from './client/client-command.ts';
import { removeCredential } from './client/credentials.ts';
import { revokeToken } from './client/device-sign-in.ts';

const usage = `Usage:
  ${commandPrefix('logout')} [ADDRESS]   revoke the token of a service, and remove it from this computer

Without ADDRESS, signs out of SWITCHYARD_URL, or of the service of the last sign-in.

Options:
  --local      remove the token from this computer alone, for example if the service no longer exists
  -h, --help   show this text`;

await runClientCommand(usage, { local: { type: 'boolean' } }, async ({ values, positionals }) => {
  const { address, token, isFromEnvironment } = await requireSignIn(oneAddress(positionals));
  if (isFromEnvironment)
    throw new Error('The token is in SWITCHYARD_TOKEN. Unset the variable, and revoke the token in the console.');
  if (!values.local) await revokeToken(address, token);
  await removeCredential(address);
  process.stdout.write(`Signed out of ${address}.\n`);
});
