import type { ForgeAccount } from '../../forges/interface/account.ts';
import { isForgeError } from '../../forges/interface/errors.ts';
import type { Forge, ForgeIdentity } from '../../forges/interface/forge.ts';
import { agentReplyMark } from '../open-pull-requests/texts.ts';
import type { FollowUpSettings } from '../repositories/follow-up-settings.ts';

/** A text at a forge, and the account that wrote it. */
export interface Authored {
  readonly author: ForgeAccount | null;
  readonly body: string;
}

/** Tells which texts on the pull requests of a repository count. */
export type CountsAs = (text: Authored, settings: FollowUpSettings) => Promise<boolean>;

/**
 * Creates the check of authors in a repository. A text counts if its author may write to the repository, or the settings say
 * otherwise. Texts of the connection's own account and replies of agents never count, so that no session answers itself.
 * The check rejects with a ForgeError that may pass, so that nothing is lost; without an answer a text does not count.
 */
export function createAuthorCheck(forge: Forge, path: string): CountsAs {
  let own: Promise<ForgeIdentity> | null = null;
  return async ({ author, body }, { followUpAuthors, followUpBots, followUpBotLogins }) => {
    if (author === null || body.trimStart().startsWith(agentReplyMark)) return false;
    own ??= forge.identity();
    const { id, login } = await own;
    if (author.id === id || isSame(author.login, login)) return false;
    if (followUpBotLogins.some((each) => isSame(each, author.login))) return true;
    if (author.isBot) return followUpBots === 'all';
    if (followUpAuthors === 'everyone') return true;
    try {
      const access = await forge.accessOf(path, author.login);
      return access === 'write' || access === 'admin';
    } catch (error) {
      if (isForgeError(error, 'MISSING_PERMISSION', 'NOT_FOUND', 'UNSUPPORTED', 'REJECTED')) return false;
      throw error;
    }
  };
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
