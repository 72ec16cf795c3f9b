import { expect, it } from 'vitest';
import type { ProviderRoute } from '../../../src/agents/provider.ts';
import type { Context } from '../../../src/domain/context.ts';
import type { Reservations } from '../../../src/domain/execution/provider-keys/reservations.ts';
import { createRunCredential } from '../../../src/domain/execution/provider-keys/run-credential.ts';
import type { StoredKey } from '../../../src/domain/library/provider-keys/stored-key.ts';

const key: StoredKey = {
  id: 'k',
  scope: 'ORGANIZATION',
  name: 'Team',
  provider: 'compatible',
  baseUrl: 'http://models.example/v1',
  key: null,
  monthlyBudgetUsd: null,
  spentThisMonthUsd: null,
  inputUsdPerMillion: 1,
  cachedUsdPerMillion: null,
  outputUsdPerMillion: 2,
};
const route: ProviderRoute = {
  provider: 'compatible',
  api: 'openai',
  own: null,
  defaultModel: null,
  modelPrefix: '',
  env: () => ({}),
};

/** Returns a credential for whose calls the database answers with these rows, one for each; an error rejects. */
function credentialWith(...answers: (readonly object[] | Error)[]) {
  const reached: string[] = [];
  const query = async () => {
    const next = answers.shift() ?? [];
    if (next instanceof Error) throw next;
    return next;
  };
  const context = {
    store: { query },
    keyring: {},
    now: () => new Date(0),
    log: { error: () => undefined },
    isPrivateProviderAllowed: false,
  } as unknown as Context;
  const reservations = { budget: () => ({ reserve: async () => 'BUSY' }) } as unknown as Reservations;
  const scope = { organizationId: 'o', userId: null, route, first: key, reservations };
  return { ...createRunCredential(context, scope, ({ message }) => reached.push(message)), reached };
}
const row = { ...key, enterpriseId: 'e', level: 2, sealed: null };

it('uses the last answer for a moment while the database cannot be reached', async () => {
  const { ask } = credentialWith(new Error('down'), [row], new Error('down'));
  expect(await ask()).toMatchObject({ refused: 'UNAVAILABLE' });
  expect(await ask()).toMatchObject({ keyId: 'k', isPrivateAllowed: false });
  expect(await ask()).toMatchObject({ keyId: 'k' });
});

it('does not use a key again that was deleted before the database failed', async () => {
  const { ask } = credentialWith([row], [], new Error('down'));
  expect(await ask()).toMatchObject({ keyId: 'k' });
  expect(await ask()).toMatchObject({ refused: 'KEY_MISSING' });
  expect(await ask()).toMatchObject({ refused: 'UNAVAILABLE' });
});

it('refuses a call when the budget is reached, and reports it', async () => {
  const spent = { ...row, monthlyBudgetUsd: 5, spentThisMonthUsd: 5 };
  const { ask, reached } = credentialWith([{ ...spent, spentThisMonthUsd: 4.99 }], [spent]);
  expect(await ask()).toMatchObject({ keyId: 'k', budget: { reserve: expect.any(Function) } });
  expect(await ask()).toMatchObject({ refused: 'BUDGET_REACHED' });
  expect(reached).toEqual([
    expect.stringContaining('The key "Team" of the organization has reached its budget of $5.00'),
  ]);
});

it('refuses another compatible server in the same run, but not a new address of the same key', async () => {
  const moved = { ...row, baseUrl: 'http://other.example/v1' };
  const { ask } = credentialWith([moved], [{ ...moved, id: 'k2' }]);
  expect(await ask()).toMatchObject({ baseUrl: 'http://other.example/v1' });
  expect(await ask()).toMatchObject({ refused: 'KEY_CHANGED' });
});
