import { expect, it } from 'vitest';
import { continueAfterBudgets } from '../../src/domain/execution/provider-keys/continue-sessions.ts';
import { reachedBudget } from '../../src/domain/execution/provider-keys/key-budgets.ts';
import { resolveStoredKey } from '../../src/domain/library/provider-keys/resolve.ts';
import { asSystem } from '../../src/domain/sessions/as-system.ts';
import { graphql } from '../support/app.ts';
import { runMutation } from '../support/people.ts';
import { createSession, makeOrganization } from '../support/sessions.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

it.each([
  ['2026-10-31', '2026-11-01'],
  ['2026-12-31', '2027-01-01'],
  ['2028-02-29', '2028-03-01'],
])('a budget that is used up on %s starts again on %s, at midnight in UTC', async (lastDay, firstDay) => {
  const { services, installation } = test.app;
  const clock = services as { now: () => Date };
  const realNow = services.now;
  const { organizationId, token } = await makeOrganization(test, `Months ${lastDay}`);
  const made = await runMutation(test, 'createProviderKey', 'providerKey { providerKeyId }', {
    ...{ scope: { organizationId }, provider: 'OPENAI', name: '__proto__', key: 'sk-c4n4ry', monthlyBudgetUsd: 10 },
  });
  const keyId = made.providerKey.providerKeyId.replace('provider-key-', '');
  const sessionId = (await createSession(test, { prompt: 'say hi' }, token)).replace('devin-', '');
  const { prisma } = services.store;
  const ids = { providerKeyId: keyId, organizationId: organizationId.replace('org-', ''), userId: '' };
  const spend = (day: string, costUsd: number) =>
    prisma.providerKeyUsage.create({ data: { ...ids, day: new Date(day), calls: 1n, costUsd } });
  const suspend = async () => {
    await prisma.session.update({
      where: { id: sessionId },
      data: { status: 'suspended', statusDetail: 'out_of_credits' },
    });
    await prisma.run.update({ where: { sessionId }, data: { budgetKeyId: keyId } });
  };
  const read = async () => {
    const key = await resolveStoredKey(services, { ...ids, userId: null, providers: ['openai'] });
    const document = '{ organization(id: $id) { providerKeys { nodes { name spentThisMonthUsd } } } }';
    const { data } = await graphql(test, test.adminToken, `query($id: ID!) ${document}`, { id: organizationId });
    const [shown] = data.organization.providerKeys.nodes;
    expect(shown).toEqual({ name: '__proto__', spentThisMonthUsd: key?.spentThisMonthUsd });
    return { spent: shown.spentThisMonthUsd, isReached: key !== null && reachedBudget(key) !== null };
  };
  const continued = async () => {
    await continueAfterBudgets(asSystem(services, installation.enterpriseId));
    return (await prisma.session.findUniqueOrThrow({ where: { id: sessionId } })).status !== 'suspended';
  };
  try {
    await spend(lastDay, 10);
    await suspend();
    clock.now = () => new Date(`${lastDay}T23:59:59.999Z`);
    expect([await read(), await continued()]).toEqual([{ spent: 10, isReached: true }, false]);
    clock.now = () => new Date(`${firstDay}T00:00:00.000Z`);
    expect([await read(), await continued()]).toEqual([{ spent: 0, isReached: false }, true]);
    await spend(firstDay, 10);
    await suspend();
    expect([await read(), await continued()]).toEqual([{ spent: 10, isReached: true }, false]);
  } finally {
    clock.now = realNow;
  }
});
