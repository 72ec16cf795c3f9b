import { type GatewayHost, gitEnvironment } from '../../../agents/git-gateway/git-environment.ts';
import { type GitGateway, type GitGatewayOptions, openGitGateway } from '../../../agents/git-gateway/git-gateway.ts';
import type { GitCredential, RepositoryAccess } from '../../../agents/git-gateway/repositories.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { within } from '../../../common/within.ts';
import type { Clone } from '../../../git/clone.ts';
import type { MirrorKey } from '../../../git/mirrors.ts';
import type { RequestedState } from '../../../git/refs.ts';
import type { GitRemote } from '../../../git/remote.ts';
import { RepositoryError } from '../../../git/repository-error.ts';
import type { Context } from '../../context.ts';
import { openConnection } from '../../git-connections/open-connection.ts';
import { type UsableRepository, usableRepository } from '../../repositories/resolve-repositories.ts';
import { FencedError } from '../../sessions/log.ts';
import {
  type EnvironmentRecord,
  readEnvironmentRecord,
  writeEnvironmentRecord,
} from '../environments/environment-record.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import { RepositoryFailure } from '../runs/failures.ts';
import { cleanName } from '../runs/git-identity.ts';
import { createMask } from '../runs/masking.ts';
import { readFormerBranches } from './former-branches.ts';
import { addressRulesOf, createAccess, nameOf, type RunRepository } from './gateway-access.ts';
import { createPushLog } from './push-log.ts';
import { appendRepositoryEntry, createProgressPace, incompleteNotice, stepEntry } from './repository-log.ts';
import {
  mirrorKey,
  readSessionRepositories,
  recordRepositoryRead,
  recordRepositoryState,
  type SessionRepositoryRow,
} from './session-repositories.ts';

/** The repositories of a run, with the way of its agent's git to their forges. */
export interface PreparedRepositories {
  readonly repositories: readonly SessionRepositoryRow[];
  /** The commits of the clones that were made for this run, by the positions of their repositories. */
  readonly heads: ReadonlyMap<number, string>;
  /** Identifies the mirror of one of the repositories. */
  keyOf(row: SessionRepositoryRow): MirrorKey;
  /** Variables for the agent's git. */
  env(base: Readonly<Record<string, string>>): Record<string, string>;
  /** The keys and credentials to mask. */
  readonly secretValues: readonly string[];
  /** Resolves when the pushes so far are in the log. Never rejects. */
  pushesSettled(): Promise<void>;
  /** Ends the gateway, after the pushes so far are in the log. Never rejects. */
  close(): Promise<void>;
}

/** Options of {@link prepareRepositories}. */
export interface PrepareOptions {
  readonly organizationId: string;
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
}

type FoundRepository = RunRepository & { readonly usable: UsableRepository };

/** The silence after which a forge counts as unavailable. */
const forgeSilenceMs = 30_000;

/**
 * Clones the session's repositories that are not in its workspace, and opens the git gateway of its agent. Null: it has
 * none. Throws RepositoryFailure with a sentence for people, and FencedError.
 */
export async function prepareRepositories(
  context: Context,
  run: ClaimedRun,
  options: PrepareOptions,
): Promise<PreparedRepositories | null> {
  const { enterpriseId, repositories: rows } = await readSessionRepositories(context, run.sessionId);
  if (rows.length === 0) return null;
  const secrets = new Set<string>();
  const found: FoundRepository[] = [];
  for (const row of rows) found.push(await findOrFail(context, run, row, options));
  const onCredential = ({ username, password }: GitCredential) => {
    secrets.add(password);
    secrets.add(Buffer.from(`${username}:${password}`).toString('base64'));
  };
  const access = createAccess(context, { ...options, repositories: found, onCredential });
  const { maxPushBytes, maxFetchBytes } = context.gitLimits;
  const forClones = cloneGateway(access, found, { idleTimeoutMs: forgeSilenceMs, maxFetchBytes });
  // Read while the repositories are cloned.
  const readingCommitter = readCommitter(
    context,
    found.map(({ usable }) => usable.connectionId),
  );
  const isAnyNew = rows.some(({ state }) => state !== 'READY');
  const formerBranches = isAnyNew ? await readFormerBranches(context, run.sessionId) : new Map<string, string>();
  const { files } = options.sandbox;
  const record = await readEnvironmentRecord(files);
  const lent = record?.lent ?? null;
  const inputs = { ...options, enterpriseId, formerBranches, openRemote: forClones, lent };
  const heads = new Map<number, string>();
  const repositories: SessionRepositoryRow[] = [];
  for (const each of found) {
    const clone = await cloneOne(context, run, { ...inputs, each });
    repositories.push(clone === null ? each.row : { ...each.row, baseRef: clone.baseRef });
    if (clone?.head != null) heads.set(each.row.position, clone.head);
    if (record === null || lent === null || clone === null || lent.directory !== each.row.directory) continue;
    const { hash } = record.clones[lent.directory] ?? {};
    const result = hash === undefined || clone.isEmptied ? {} : { result: { directory: lent.directory, hash } };
    await writeEnvironmentRecord(files, { clones: {}, ...result });
  }
  const committer = await readingCommitter;
  const pushes = createPushLog(context, run, { sandbox: options.sandbox, enterpriseId, openRemote: forClones });
  for (const { row, cloneUrl } of found) await pushes.settlePending(row, cloneUrl);
  const { address, listening } = await options.sandbox.reach<GitGateway>({
    protocol: 'http',
    name: 'git',
    listen: (socketPath) =>
      openGitGateway({
        ...access,
        socketPath,
        beforePush: pushes.begin,
        onPush: pushes.take,
        addresses: addressRulesOf(found),
        maskOf: createMask,
        limits: { maxPackBytes: maxPushBytes, maxFetchBytes },
      }),
  });
  secrets.add(listening.key);
  secrets.add(Buffer.from(`switchyard:${listening.key}`).toString('base64'));
  return {
    repositories,
    heads,
    keyOf: ({ host, repositoryId }) => {
      const { cloneUrl } = found.find(({ row }) => row.repositoryId === repositoryId) as FoundRepository;
      return mirrorKey(enterpriseId, host, cloneUrl);
    },
    env: (base) => ({
      ...gitEnvironment({ url: address, key: listening.key }, hostsOf(found), base),
      ...committer,
    }),
    secretValues: [...secrets],
    pushesSettled: pushes.settled,
    async close() {
      await listening.close();
      await pushes.settled();
    },
  };
}

/** The way to one repository before its clone. */
export interface RepositoryRemote {
  readonly repository: MirrorKey;
  open(): Promise<GitRemote>;
}

/** Opens the way to a repository of a session that has no clone yet. Null: the organization may not use it any longer. */
export async function openForClone(
  context: Context,
  { organizationId, enterpriseId }: { readonly organizationId: string; readonly enterpriseId: string },
  row: SessionRepositoryRow,
): Promise<RepositoryRemote | null> {
  const usable = await usableRepository(context, organizationId, row.repositoryId);
  if (usable === null) return null;
  const repositories = [{ row, cloneUrl: usable.cloneUrl }];
  const access = createAccess(context, { organizationId, repositories, onCredential: () => undefined });
  const limits = { idleTimeoutMs: forgeSilenceMs, maxFetchBytes: context.gitLimits.maxFetchBytes };
  const openRemote = cloneGateway(access, repositories, limits);
  return { repository: mirrorKey(enterpriseId, row.host, usable.cloneUrl), open: () => openRemote(row) };
}

const identityMs = 3_000;

// The bot's identity at the forge. Without one, the author is also the committer.
async function readCommitter(context: Context, connectionIds: readonly string[]): Promise<Record<string, string>> {
  const [id, ...others] = new Set(connectionIds);
  if (id === undefined || others.length > 0) return {};
  let variables = {};
  const reading = openConnection(context, id)
    .then((forge) => forge.identity())
    .then(({ name, email }) => {
      variables = { GIT_COMMITTER_NAME: cleanName(name), GIT_COMMITTER_EMAIL: cleanName(email).replaceAll(' ', '') };
    });
  await within(reading, identityMs);
  return variables;
}

type OpenRemote = (repository: { readonly host: string; readonly path: string }) => Promise<GitRemote>;

// The service's own git, which runs outside of every sandbox, may only read.
function cloneGateway(
  access: Omit<RepositoryAccess, 'onPush'>,
  repositories: readonly RunRepository[],
  limits: GitGatewayOptions['limits'],
): OpenRemote {
  return async ({ host, path }) => {
    const gateway = await openGitGateway({
      ...access,
      socketPath: null,
      rulesFor: () => ({ refused: 'READ_ONLY', message: 'The service itself does not push.' }),
      onPush: () => undefined,
      addresses: addressRulesOf(repositories),
      maskOf: createMask,
      limits,
    });
    const url = `http://127.0.0.1:${gateway.port}`;
    const env = gitEnvironment({ url, key: gateway.key }, []);
    return { url: `${url}/${host}/${path}.git`, env, close: gateway.close };
  };
}

function hostsOf(repositories: readonly RunRepository[]): GatewayHost[] {
  const hosts = new Map(
    repositories.map(({ row, cloneUrl }) => [row.host, new URL(cloneUrl).protocol === 'http:'] as const),
  );
  return [...hosts].map(([host, isPlainHttp]) => ({ host, isPlainHttp }));
}

async function findOrFail(
  context: Context,
  run: ClaimedRun,
  row: SessionRepositoryRow,
  { organizationId }: PrepareOptions,
): Promise<FoundRepository> {
  const usable = await usableRepository(context, organizationId, row.repositoryId);
  if (usable !== null) return { row, cloneUrl: usable.cloneUrl, usable };
  return fail(context, run, row, 'The organization may no longer use it.');
}

/** Returns the state of its repository that a session was started with. */
export function requestedStateOf({ pullRequestNumber, requestedRef }: SessionRepositoryRow): RequestedState {
  return { ref: pullRequestNumber === null ? requestedRef : null, pullRequest: pullRequestNumber };
}

interface CloneInput extends PrepareOptions {
  readonly enterpriseId: string;
  readonly formerBranches: ReadonlyMap<string, string>;
  readonly openRemote: OpenRemote;
  readonly lent: EnvironmentRecord['lent'] | null;
  readonly each: FoundRepository;
}

async function cloneOne(context: Context, run: ClaimedRun, input: CloneInput): Promise<Clone | null> {
  const { sandbox, signal, enterpriseId, each } = input;
  const { row, cloneUrl } = each;
  const key = { sessionId: run.sessionId, position: row.position };
  if (sandbox.cloneRepository === undefined)
    return fail(context, run, row, 'The sandbox of this agent cannot clone repositories.');
  let entries: Promise<unknown> = Promise.resolve();
  const lost = new AbortController();
  const append = (step: { readonly percent: number; readonly text: string }) => {
    entries = entries
      .then(() => appendRepositoryEntry(context, run, stepEntry(row, 'CLONING', step)))
      .catch((error: unknown) => lost.abort(error));
  };
  const isNew = row.state !== 'READY';
  let incomplete = null as string | null;
  if (isNew) {
    await recordRepositoryState(context, key, { state: 'CLONING' });
    await appendRepositoryEntry(context, run, stepEntry(row, 'CLONING'));
  }
  try {
    const clone = await sandbox.cloneRepository({
      repository: mirrorKey(enterpriseId, row.host, cloneUrl),
      originUrl: cloneUrl,
      openRemote: () => input.openRemote(row),
      ...requestedStateOf(row),
      branch: row.branch,
      formerBranch: isNew ? (input.formerBranches.get(row.directory) ?? null) : null,
      directory: row.directory === '.' ? null : row.directory,
      base: row.baseCommit,
      replaced: input.lent?.directory === row.directory ? input.lent.commit : null,
      onIncomplete: (reason) => {
        incomplete = reason;
      },
      signal: AbortSignal.any([signal, lost.signal]),
      onProgress: createProgressPace(() => performance.now(), append),
    });
    await entries;
    const base = clone === null ? {} : { base: { ref: clone.baseRef, commit: clone.baseCommit } };
    if (incomplete !== null) await appendRepositoryEntry(context, run, incompleteNotice(row, incomplete));
    if (clone === null && !isNew) return null;
    await recordRepositoryRead(context, row.repositoryId, {
      connectionId: each.usable.connectionId,
      defaultBranch: clone?.defaultBranch ?? null,
    });
    await recordRepositoryState(context, key, { state: 'READY', ...base });
    await appendRepositoryEntry(context, run, stepEntry(row, 'READY'));
    return clone;
  } catch (error) {
    await entries;
    if (lost.signal.reason instanceof FencedError) throw lost.signal.reason;
    if (!(error instanceof RepositoryError) || error.code === 'STOPPED') throw error;
    return fail(context, run, row, error.message);
  }
}

async function fail(context: Context, run: ClaimedRun, row: SessionRepositoryRow, reason: string): Promise<never> {
  const message = `The repository ${nameOf(row)} cannot be used: ${reason}`;
  const key = { sessionId: run.sessionId, position: row.position };
  await recordRepositoryState(context, key, { state: 'FAILED', message: reason });
  await appendRepositoryEntry(context, run, stepEntry(row, 'FAILED', { text: reason }));
  throw new RepositoryFailure(message);
}
