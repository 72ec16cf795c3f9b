import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { parseUrl } from '../../common/parse-url.ts';
import { readClientEnvironment } from './environment.ts';

const entrySchema = z.object({ token: z.string(), tokenExpiresAt: z.string().nullable() });
const fileSchema = z.object({ current: z.string().nullable(), services: z.record(z.string(), entrySchema) });

/** A token of a service, and the time at which it expires in ISO 8601; null: never. */
export type Credential = z.infer<typeof entrySchema>;

/** The stored sign-ins, by the address of the service. */
type CredentialFile = z.infer<typeof fileSchema>;

/** Returns the path of the file with the sign-ins. */
export const credentialPath = (): string =>
  join(readClientEnvironment().configDirectory, 'switchyard', 'credentials.json');

async function readCredentials(): Promise<CredentialFile> {
  const path = credentialPath();
  try {
    return fileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, services: {} };
    if (error instanceof SyntaxError || error instanceof z.ZodError)
      throw new Error(`${path} isn’t valid. Delete it, and sign in again.`, { cause: error });
    throw error;
  }
}

async function writeCredentials(file: CredentialFile): Promise<void> {
  await mkdir(dirname(credentialPath()), { recursive: true, mode: 0o700 });
  // A link to another place stays one.
  const path = await realpath(credentialPath()).catch(() => credentialPath());
  // Another process never reads half of it, and nobody else reads any of it: not by a link that somebody prepared either.
  const temporary = `${path}.${process.pid}`;
  await rm(temporary, { force: true });
  await writeFile(temporary, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(temporary, path);
}

/** Throws an error if sign-ins cannot be stored, before a person approves one in vain. */
export const requireStorable = async (): Promise<void> => writeCredentials(await readCredentials());

/** Stores the sign-in to a service, which becomes the current one. */
export async function storeCredential(address: string, credential: Credential): Promise<void> {
  const { services } = await readCredentials();
  await writeCredentials({ current: address, services: { ...services, [address]: credential } });
}

/** Removes the sign-in to a service. */
export async function removeCredential(address: string): Promise<void> {
  const { current, services } = await readCredentials();
  const { [address]: _removed, ...others } = services;
  await writeCredentials({
    current: current === address ? (Object.keys(others)[0] ?? null) : current,
    services: others,
  });
}

/** A service and the token for it. */
export interface SignedIn {
  readonly address: string;
  readonly token: string;
  /** Null: never, or unknown. */
  readonly tokenExpiresAt: string | null;
  /** True if the token comes from SWITCHYARD_TOKEN. */
  readonly isFromEnvironment: boolean;
}

/**
 * Returns the service to use and its token: of `address`, else of SWITCHYARD_URL, else of the last sign-in. SWITCHYARD_TOKEN comes
 * before a stored token, needs an address, and is that of SWITCHYARD_URL alone if this is set. Null if there is no token.
 */
export async function findSignIn(address: string | null): Promise<SignedIn | null> {
  const environment = readClientEnvironment();
  const own = environment.address === null ? null : readAddress(environment.address);
  const wanted = address ?? own;
  // The token of one service is not sent to another.
  if (environment.token !== null && (own === null || own === wanted)) {
    if (wanted === null) throw new Error('SWITCHYARD_TOKEN needs SWITCHYARD_URL, the address of its service.');
    return { address: wanted, token: environment.token, tokenExpiresAt: null, isFromEnvironment: true };
  }
  const { current, services } = await readCredentials();
  const chosen = wanted ?? current;
  const credential = chosen === null ? undefined : services[chosen];
  return chosen === null || credential === undefined
    ? null
    : { address: chosen, ...credential, isFromEnvironment: false };
}

/** Normalizes the address of a service: without a slash at the end. Throws for a text that is no address of the web. */
export function readAddress(text: string): string {
  const expected = 'Expected an address such as https://switchyard.example.com';
  const url = parseUrl(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`"${text.replace(/\/\/.*@/, '//…@')}" isn’t the address of a service. ${expected}.`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new Error(`${expected}, without a user name, a password, a query or a fragment.`);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Returns the address to sign in to without one as an argument: SWITCHYARD_URL, or that of the last sign-in; null if there is none. */
export async function defaultAddress(): Promise<string | null> {
  const { address } = readClientEnvironment();
  return address === null ? (await readCredentials()).current : readAddress(address);
}
