import { z } from 'zod';
import { refuse } from '../../common/errors.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import { type ForgeKind, forgeKinds } from '../../forges/interface/forge.ts';
import type { Services } from '../context.ts';
import { text } from '../input.ts';
import { type ConnectionSecrets, type ConnectionSettings, toForgeConnection } from './open-connection.ts';

const line = (name: string, max: number) =>
  text(name, { min: 1, max, isBlankRefused: true }).refine((value) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(value), {
    error: `"${name}" must have no control characters and no line breaks.`,
  });

/** The values of a git connection in inputs. Messages never repeat a credential. */
export const gitConnectionSchema = z.object({
  providerType: z.enum(forgeKinds, { error: `"providerType" must be one of ${forgeKinds.join(', ')}.` }),
  name: line('name', 100),
  host: line('host', 500),
  username: line('username', 255).nullish(),
  token: text('token', { min: 1, max: 4_096 }).nullish(),
  appId: line('appId', 64).nullish(),
  installationId: line('installationId', 64).nullish(),
  privateKey: text('privateKey', { min: 1, max: 20_000 }).nullish(),
  webhookSecret: text('webhookSecret', { min: 1, max: 255 }).nullish(),
});

/** The part of {@link gitConnectionSchema} that a test needs. */
export const connectionAccessSchema = gitConnectionSchema
  .omit({ name: true, webhookSecret: true })
  .extend({ repositoryPath: text('repositoryPath', { max: 500 }).nullish() });

/** A new git connection. Each kind takes its own members only. */
export type CreateGitConnectionInput = z.input<typeof gitConnectionSchema>;

type Member = 'username' | 'token' | 'appId' | 'installationId' | 'privateKey' | 'webhookSecret';

/** The members that each kind takes: true if it needs them. */
const membersOf: Readonly<Record<ForgeKind, Readonly<Partial<Record<Member, boolean>>>>> = {
  'github_app': { appId: true, privateKey: true, installationId: false, webhookSecret: false },
  'github_token': { token: true, webhookSecret: false },
  'gitlab_token': { token: true, webhookSecret: false },
  'gitea_token': { token: true, webhookSecret: false },
  'git_https': { username: false, token: false },
};
const allMembers: readonly Member[] = ['username', 'token', 'appId', 'installationId', 'privateKey', 'webhookSecret'];

/** The members of a connection that are secret. */
export const secretNames = ['token', 'privateKey', 'webhookSecret'] as const satisfies readonly Member[];

/**
 * Checks the members of a connection for its kind, and its host and credential without a request. Returns the host name with
 * the port if it is not the default, in lower case. Throws INVALID_INPUT.
 */
export function checkConnection(
  { forges }: Pick<Services, 'forges'>,
  settings: ConnectionSettings,
  secrets: ConnectionSecrets,
): string {
  const values = { ...settings, ...secrets };
  const taken = membersOf[settings.providerType];
  for (const name of allMembers) {
    const isEntered = (values[name] ?? null) !== null;
    if (isEntered && taken[name] === undefined) {
      throw refuse([name], `"${name}" is not for connections of the type ${settings.providerType}.`);
    }
    if (!isEntered && taken[name] === true) {
      throw refuse([name], `"${name}" must be given for connections of the type ${settings.providerType}.`);
    }
  }
  const { host } = orRefuse('host', () => forges.readAddress(settings.host));
  orRefuse(settings.providerType === 'github_app' ? 'privateKey' : 'token', () =>
    forges.open(toForgeConnection(settings, secrets)),
  );
  return host.toLowerCase();
}

/** Converts a ForgeError of `read` into INVALID_INPUT for a member of the input. */
export function orRefuse<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isForgeError(error)) throw refuse([name], error.message);
    throw error;
  }
}
