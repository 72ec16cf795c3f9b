import { permissionFor } from '../../../auth/permissions.ts';
import { missingPermission, organizationsWith } from '../../../auth/viewer.ts';
import { refuse } from '../../../common/errors.ts';
import type { ProviderFailureCode } from '../../../providers/failures.ts';
import { checkAccess, maxModels } from '../../../providers/list-models.ts';
import type { ModelProvider } from '../../../providers/model-providers.ts';
import { type ProviderAccess, ProviderRequestError } from '../../../providers/request-provider.ts';
import type { Store } from '../../../store/store.ts';
import type { Context } from '../../context.ts';
import { parseInput } from '../../input.ts';
import { auditKey } from './change-provider-keys.ts';
import { accessSchema, combinationProblem, normalizeBaseUrl } from './key-input.ts';
import { openProviderKey, requestForViewer } from './key-models.ts';
import {
  getProviderKey,
  type KeyFailure,
  mayUseSessions,
  ownKeysOf,
  type ProviderKeyRecord,
  scopeOf,
} from './provider-keys.ts';
import { describeKey } from './stored-key.ts';

/** The result of a test. */
export interface KeyCheck {
  readonly isOk: boolean;
  /** Null: the provider accepts the key. */
  readonly code: ProviderFailureCode | null;
  /** Names the key and, after a failure, the remedy. */
  readonly message: string;
  /** At most {@link maxModels}. Null: unknown. */
  readonly modelCount: number | null;
  readonly tookMs: number;
}

/** A key that is not stored, in the form of an input. */
export interface UnsavedKey {
  readonly provider: ModelProvider | null | undefined;
  readonly key: string | null | undefined;
  readonly baseUrl: string | null | undefined;
}

const remedies: Readonly<Record<ProviderFailureCode, string>> = {
  KEY_REFUSED: 'Enter a valid key of the provider.',
  ACCOUNT_EMPTY: 'Add credit at the provider, raise the limit there, or use another key.',
  RATE_LIMITED: 'Wait and try again.',
  NOT_FOUND: 'Check the base URL: most servers need /v1 at its end.',
  NOT_REACHABLE: 'Check the base URL, and that the server is running.',
  PROVIDER_ERROR: 'Try again later.',
  UNEXPECTED_ANSWER: 'Check the base URL: most servers need /v1 at its end.',
};

// The address of a provider is known to be right.
const unreachableProvider =
  'Check that the machine of the service has internet access: a firewall or a proxy may block the provider.';

const privateNetworks = ' Only the operator can allow private networks (PROVIDER_ALLOW_PRIVATE).';

/**
 * Makes one cheap request with a stored key and records the result as its last failure. Throws NOT_FOUND, and RATE_LIMITED
 * after too many requests of the viewer in this minute.
 */
export async function checkStoredKey(
  context: Context,
  id: string,
): Promise<{ readonly test: KeyCheck; readonly providerKey: ProviderKeyRecord }> {
  const record = await getProviderKey(context, id);
  const access = await openProviderKey(context, record.id);
  const test = await runCheck(context, access, describeKey({ name: record.name, scope: scopeOf(record) }));
  const lastFailure = failureOf(context, test);
  await context.store.transact(async (tx) => {
    await recordKeyFailure(tx, record.id, lastFailure);
    await auditKey(context, tx, 'test_provider_key', record, { isOk: test.isOk });
  });
  return { test, providerKey: { ...record, lastFailure } };
}

/**
 * Makes one cheap request with a key that is not stored, and stores nothing. Throws FORBIDDEN unless the viewer may create
 * some key; INVALID_INPUT; RATE_LIMITED.
 */
export async function checkUnsavedKey(context: Context, raw: UnsavedKey): Promise<KeyCheck> {
  requireSomeOwner(context);
  const input = parseInput(accessSchema(context.isPrivateProviderAllowed), raw);
  const { provider, key = null } = input;
  const baseUrl = normalizeBaseUrl(input.baseUrl ?? null);
  const problem = combinationProblem({ provider, baseUrl, hasKey: key !== null });
  if (problem) throw refuse(problem.path, problem.message);
  return runCheck(context, { provider, baseUrl, key }, 'the key');
}

function requireSomeOwner({ viewer }: Context): void {
  const { all, ids } = organizationsWith(viewer, permissionFor.manageProviderKeys);
  const isManager =
    all || ids.length > 0 || viewer.enterprisePermissions.has(permissionFor.manageEnterpriseProviderKeys);
  if (isManager) return;
  if (ownKeysOf(viewer) === null) throw missingPermission(permissionFor.manageProviderKeys);
  if (!mayUseSessions(viewer)) throw missingPermission(permissionFor.manageOwnProviderKeys);
}

async function runCheck(context: Context, access: ProviderAccess, label: string): Promise<KeyCheck> {
  const { isPrivateProviderAllowed: allowPrivate } = context;
  const startedAt = performance.now();
  const took = () => Math.round(performance.now() - startedAt);
  return requestForViewer(context, async () => {
    try {
      const modelCount = await checkAccess(access, { allowPrivate });
      const models = modelCount === null ? '' : ` and offers ${describeCount(modelCount)}`;
      return { isOk: true, code: null, message: `The provider accepts ${label}${models}.`, modelCount, tookMs: took() };
    } catch (error) {
      if (!(error instanceof ProviderRequestError)) throw error;
      const message = `The test of ${label} failed. ${error.message} ${remedyOf(error.code, access, allowPrivate)}`;
      return { isOk: false, code: error.code, message, modelCount: null, tookMs: took() };
    }
  });
}

/** Returns the advice for a failed test of a key. `allowPrivate`: keys may lead to private networks. */
export function remedyOf(
  code: ProviderFailureCode,
  { baseUrl }: Pick<ProviderAccess, 'baseUrl'>,
  allowPrivate: boolean,
): string {
  if (code !== 'NOT_REACHABLE') return remedies[code];
  if (baseUrl === null) return unreachableProvider;
  return allowPrivate ? remedies[code] : `${remedies[code]}${privateNetworks}`;
}

function describeCount(models: number): string {
  if (models >= maxModels) return `at least ${maxModels.toLocaleString('en-US')} models`;
  return `${models} ${models === 1 ? 'model' : 'models'}`;
}

const failureOf = ({ now }: Context, { code, message }: KeyCheck): KeyFailure | null =>
  code === null ? null : { code, message, at: now().toISOString() };

/** Records the last failed call of a key by its unprefixed id, or with null that a call succeeded. */
export async function recordKeyFailure(
  store: Pick<Store, 'query'>,
  id: string,
  failure: KeyFailure | null,
): Promise<void> {
  await store.query(
    'update provider_key set last_failure = $2::jsonb where id = $1 and deleted_at is null returning id',
    [id, failure === null ? null : JSON.stringify(failure)],
  );
}
