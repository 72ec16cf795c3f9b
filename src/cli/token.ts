// npm run token: creates a new administrator token, for an operator who has access to the host but has lost the token.
import { commandLine } from '../common/command-line.ts';
import { readConfig } from '../config/config.ts';
import { consoleLinkAddress, createConsoleLink } from '../domain/identity/keys/console-links.ts';
import { findEnterpriseId, newAdministratorToken, prepareInstallation } from '../domain/installation/bootstrap.ts';
import { serviceAddress } from '../http/listen.ts';
import { createKeyring, loadSecretKey } from '../store/cipher.ts';
import { commandLog, openForCommand } from './command-store.ts';

const usage = `Usage:
  ${commandLine('token')}   print a new administrator’s token, and a link that signs in to the console once

Uses the database of the variables of the service. Stop a service with the embedded database before.`;

async function makeToken(): Promise<void> {
  const config = readConfig();
  const store = await openForCommand(config);
  try {
    // A token is useless in a database without an enterprise.
    await findEnterpriseId({ store });
    const { secretKey, isGenerated } = await loadSecretKey({ dataDir: config.dataDir, fromEnv: config.secretKey });
    const keyring = createKeyring({ secretKey, previousSecretKey: config.previousSecretKey });
    const services = { store, keyring, log: commandLog, now: () => new Date() };
    const { enterpriseId } = await prepareInstallation(services, {
      bootstrapToken: null,
      isKeyGenerated: isGenerated,
      isShared: config.databaseUrl !== null,
    });
    const token = await newAdministratorToken(services, enterpriseId);
    process.stdout.write(`${token}\n`);
    const code = await createConsoleLink(services, token);
    const address = consoleLinkAddress(serviceAddress(config), code ?? '');
    // On stderr, so that scripts that read stdout get the token only.
    process.stderr.write(`Or sign in to the console with this, once and within 15 minutes: ${address}\n`);
  } finally {
    await store.close();
  }
}

const [option, ...more] = process.argv.slice(2);
try {
  if (option === undefined) await makeToken();
  else if ((option === '--help' || option === '-h') && more.length === 0) process.stdout.write(`${usage}\n`);
  else {
    process.stderr.write(`Unexpected argument: ${option}\n\n${usage}\n`);
    process.exitCode = 2;
  }
} catch (error) {
  process.stderr.write(`No token was made.\n${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
