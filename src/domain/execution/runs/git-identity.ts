import { posix } from 'node:path';
import type { AgentProfile } from '../../../agents/agent.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { appendGitConfig } from '../../../git/git-config.ts';
import type { Context } from '../../context.ts';

/** A name and an email address for Git. */
export interface GitIdentity {
  readonly name: string;
  readonly email: string;
}

const fileName = 'gitconfig';

/**
 * The variables that make Git read the file of {@link writeGitConfig}, by its name. It is
 * Git's system configuration, which all others override: the agent's own `git config --global` and each repository's.
 */
export const gitVariables: Readonly<Record<string, string>> = { GIT_CONFIG_SYSTEM: fileName };

/**
 * Returns the variables with which Git also reads the file for an agent whose commands have another system
 * configuration; `base` has the other variables of the agent.
 */
export function identityVariables(
  { gitIdentity }: Pick<AgentProfile, 'gitIdentity'>,
  { paths }: Pick<Sandbox, 'paths'>,
  base: Readonly<Record<string, string>>,
): Record<string, string> {
  if (gitIdentity === 'system') return {};
  return appendGitConfig(base, [['include.path', posix.join(paths.runtime, fileName)]]);
}

/** A domain whose addresses can't receive mail (RFC 2606). */
const noreplyDomain = 'noreply.switchyard.invalid';

const systemIdentity: GitIdentity = { name: 'Switchyard', email: `switchyard@${noreplyDomain}` };

interface AuthorRow {
  userName: string | null;
  userEmail: string | null;
  serviceUserId: string | null;
  serviceUserName: string | null;
}

/**
 * Reads the author of commits: the author of the message with this number, or the creator of the session if the message
 * has no author, or there is no message. A service user gets an address that can't receive mail; without an author, the
 * service commits.
 */
export async function readGitIdentity(context: Context, sessionId: string, seq: number | null): Promise<GitIdentity> {
  const [row] = await context.store.query<AuthorRow>(
    `select u.name as "userName", u.email as "userEmail", x.id as "serviceUserId", x.name as "serviceUserName"
       from (select user_id, service_user_id, 1 as priority from log_entry
              where session_id = $1 and seq = $2::int and coalesce(user_id, service_user_id) is not null
             union all
             select user_id, service_user_id, 2 from session where id = $1
              order by priority limit 1) asker
       left join user_account u on u.id = asker.user_id
       left join service_user x on x.id = asker.service_user_id`,
    [sessionId, seq],
  );
  if (row?.userEmail != null) return { name: row.userName ?? '', email: row.userEmail };
  if (row?.serviceUserId == null) return systemIdentity;
  return { name: row.serviceUserName ?? '', email: `${row.serviceUserId}@${noreplyDomain}` };
}

/**
 * Writes an identity into a sandbox, as a configuration of Git. As the system configuration, it includes that of the machine
 * after the identity. Rejects if the file cannot be written.
 */
export function writeGitConfig(
  sandbox: Sandbox,
  identity: GitIdentity,
  scope: AgentProfile['gitIdentity'],
): Promise<void> {
  return sandbox.writeRunFile(fileName, gitConfigOf(identity) + (scope === 'system' ? systemInclude : ''));
}

const systemInclude = '[include]\n\tpath = /etc/gitconfig\n';

/** Returns the configuration that sets an identity, made from names that users chose. */
export function gitConfigOf(identity: GitIdentity): string {
  const email = cleanName(identity.email).replaceAll(' ', '') || systemIdentity.email;
  const name = cleanName(identity.name) || cleanName(email.replace(/@.*$/, '')) || systemIdentity.name;
  return `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n`;
}

const maxCharacters = 200;

/**
 * Removes characters that Git refuses or drops in names, and control characters, line breaks and marks that change the
 * text direction.
 */
export function cleanName(text: string): string {
  const line = text.replace(/[\p{C}\s<>]+/gu, ' ');
  return [...line.replace(edges, '')].slice(0, maxCharacters).join('').replace(edges, '');
}

const edges = /^[ .,:;"'\\]+|[ .,:;"'\\]+$/g;

function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}
