import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pace } from '../acp/pace.ts';
import type { Framing } from '../gateway/framing.ts';
import { createKeyMask, type MaskOf } from '../gateway/key-mask.ts';
import type { ActionSeal } from './action-seal.ts';
import { RefusedError } from './refusals.ts';
import {
  type GatewayRepository,
  type GitAccess,
  type GitCredential,
  isGitRefusal,
  type RepositoryAccess,
} from './repositories.ts';
import { basicOf, type Upstream } from './upstream.ts';

/** Limits of one git gateway. Sizes are in bytes. */
export interface GitGatewayLimits {
  /** The maximum number of concurrent requests; further ones are refused. */
  readonly maxExchanges: number;
  /** The maximum size of a request to git-upload-pack, compressed or not. */
  readonly maxRequestBytes: number;
  /** The maximum size of a pack that is pushed. As much of a refused push is read and dropped. */
  readonly maxPackBytes: number;
  /** The maximum size of a response to a fetch. */
  readonly maxFetchBytes: number;
  /** The maximum size of an LFS object. */
  readonly maxObjectBytes: number;
  /** The maximum size of the JSON of an LFS request or response. */
  readonly maxJsonBytes: number;
  /** Bounds of the part of a push before its pack. */
  readonly maxCommands: number;
  readonly maxHeadBytes: number;
  /** The time that a new connection may take to show the gateway's key, and each request to send its headers. */
  readonly keyTimeoutMs: number;
  /** The time that an agent may take to send a request with its body. */
  readonly requestTimeoutMs: number;
  /** The time without any data of the forge, or from the agent to it, after which a request fails. */
  readonly idleTimeoutMs: number;
}

/** The parts that all exchanges of a gateway share. */
export interface GitGatewayParts {
  readonly access: RepositoryAccess;
  readonly upstream: Upstream;
  readonly limits: GitGatewayLimits;
  /** Counts the work of all exchanges. */
  readonly pace: Pace;
  readonly seal: ActionSeal;
  /** Addresses of repositories that forges have moved, by the repositories' own addresses. */
  readonly moved: Map<string, URL>;
  readonly maskOf: MaskOf | undefined;
}

/** An accepted request for a repository. */
export interface GitExchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly framing: Exclude<Framing, { type: 'invalid' }>;
  readonly repository: GatewayRepository;
  /** Aborted when the agent disconnects or the gateway closes. */
  readonly signal: AbortSignal;
}

/** A credential for one exchange, and its secrets to be hidden from the agent. */
export interface ExchangeCredential {
  readonly credential: GitCredential | null;
  /** The exact secrets, as they could appear in a response. */
  readonly secrets: readonly string[];
  /** Replaces the secrets in a text, in all encodings. */
  mask(text: string): string;
}

/** Shorter names and passwords are words such as `git` or `x-access-token`, and no secrets. */
const minSecretLength = 16;

/** Asks for the credential of an exchange. Rejects with RefusedError if there is none. */
export async function credentialFor(
  { access, maskOf }: GitGatewayParts,
  repository: GatewayRepository,
  wanted: GitAccess,
): Promise<ExchangeCredential> {
  const credential = await access.credentialFor(repository, wanted);
  if (isGitRefusal(credential)) throw new RefusedError(credential.message);
  if (credential === null) return { credential, secrets: [], mask: (text) => text };
  const secrets = [credential.password, credential.username].filter((each) => each.length >= minSecretLength);
  const all = [...secrets, basicOf(credential)];
  const masks = createKeyMask(maskOf);
  for (const secret of all) masks.add(secret);
  return { credential, secrets: all, mask: (text) => masks.mask(text) };
}

/** Returns the address below which a repository's services are, after the forge's redirects so far. */
export function baseOf({ moved }: GitGatewayParts, { url }: GatewayRepository): URL {
  return moved.get(url) ?? new URL(url);
}

/** Appends a path to the address of a repository. */
export function below(base: URL, path: string): URL {
  const url = new URL(base);
  url.search = '';
  url.hash = '';
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`;
  return url;
}

/** Returns the credential if the URL has the origin of the repository, and null otherwise. */
export function ownCredential(
  credential: GitCredential | null,
  repository: GatewayRepository,
  url: URL,
): GitCredential | null {
  return new URL(repository.url).origin === url.origin ? credential : null;
}
