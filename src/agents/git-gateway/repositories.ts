import type { LookupFunction } from 'node:net';
import type { PushRules } from './push-rules.ts';

/** A repository that a session may use. */
export interface GatewayRepository {
  /** The caller's id of it. */
  readonly id: string;
  /** The host as in addresses, with a port other than the scheme's: `github.com`, `git.example:8443`. */
  readonly host: string;
  /** The path at the host, without slashes at its ends and without `.git`: `acme/site`. */
  readonly path: string;
  /** The address at the forge from which git clones it, without a credential: `https://github.com/acme/site.git`. */
  readonly url: string;
}

/** The account with which a repository is read or written. Never log it, and never give it to an agent. */
export interface GitCredential {
  readonly username: string;
  readonly password: string;
  /** The name of the git connection that it belongs to, which errors show. */
  readonly connection?: string | undefined;
}

/** The reason for which a session may not use a repository, as a sentence for the agent. Contains no secret. */
export interface GitRefusal {
  readonly refused: 'NOT_FOUND' | 'NOT_PERMITTED' | 'READ_ONLY' | 'UNAVAILABLE';
  readonly message: string;
}

/** Write access includes read access. */
export type GitAccess = 'read' | 'write';

/** A value, now or later. A promise must not reject. */
export type Soon<T> = T | Promise<T>;

/** Rules for the addresses that the gateway connects to: those of repositories, redirects and LFS objects. */
export interface AddressRules {
  /** Resolves a host to allowed addresses only; null: any address is allowed. */
  readonly lookup: LookupFunction | null;
  /** Tells if the gateway may connect to a URL: checks the scheme, and an address that stands for a host name. */
  isAllowed(url: URL): boolean;
}

/** A ref of a push, with its outcome. */
export interface PushedRef {
  /** Full name: `refs/heads/main`. */
  readonly ref: string;
  /** Object ids; null: the ref did not exist before, or does not exist after the push. */
  readonly oldId: string | null;
  readonly newId: string | null;
  /**
   * `accepted` and `rejected` are the forge's answers. `refused`: the gateway refused it, and the forge did not see it.
   * `unknown`: the connection ended before the answer, so the forge may have accepted it.
   */
  readonly outcome: 'accepted' | 'rejected' | 'refused' | 'unknown';
  /** The reason of a rejection or refusal, as git shows it. A rejection's text is the forge's own. */
  readonly reason: string | null;
}

/** A push at its end. */
export interface PushReport {
  readonly repository: GatewayRepository;
  readonly refs: readonly PushedRef[];
  /** The size of the pack, in bytes. */
  readonly packBytes: number;
}

/** The session's repositories, as the gateway asks for them. */
export interface RepositoryAccess {
  /** The session's repositories. Called for each request. */
  repositories(): readonly GatewayRepository[];
  /**
   * Finds a further repository that the session may use, such as a submodule. If missing, there are none. The path has
   * the form of {@link GatewayRepository.path}, and is the agent's own text.
   */
  findRepository?(host: string, path: string): Soon<GatewayRepository | GitRefusal>;
  /** Returns the credential for one request; null: the forge is asked without one. */
  credentialFor(repository: GatewayRepository, access: GitAccess): Soon<GitCredential | GitRefusal | null>;
  /** Returns the rules for pushes; a refusal: the repository is read-only. Called for each push. */
  rulesFor(repository: GatewayRepository): Soon<PushRules | GitRefusal>;
  /**
   * Called with the refs of an allowed push before the forge sees any of it, for example to record it. A refusal ends
   * the push.
   */
  beforePush?(
    repository: GatewayRepository,
    refs: readonly Omit<PushedRef, 'outcome' | 'reason'>[],
  ): Soon<GitRefusal | null>;
  /** Called once at the end of each push that names refs, including refused ones. Must not throw. */
  onPush(report: PushReport): void;
}

/** Tells if a request is refused. */
export function isGitRefusal(found: object | null): found is GitRefusal {
  return found !== null && 'refused' in found;
}
