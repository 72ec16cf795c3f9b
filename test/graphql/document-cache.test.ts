import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { weighDocument } from '../../src/api/graphql/plans/document-weight.ts';
import { createPlans } from '../../src/api/graphql/plans/plans.ts';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { graphql, startApp, type TestApp } from '../support/app.ts';

const textOf = (n: number, fields = 20) =>
  `query Q${n} { ${Array.from({ length: fields }, (_, f) => `a${f}x${n}: __typename`).join(' ')} }`;
const weight = weighDocument(parse(textOf(0)));

describe('the document cache', () => {
  const fill = (plans: ReturnType<typeof createPlans>, from: number, to: number) => {
    for (let n = from; n < to; n++) plans.remember(parse(textOf(n)));
  };
  const cachedIndexes = (plans: ReturnType<typeof createPlans>, count: number) =>
    Array.from({ length: count }, (_, n) => n).filter((n) => plans.find(textOf(n)) !== null);

  it('evicts by weight, the least recently used first', () => {
    const plans = createPlans(schema, { maxBytes: weight * 5.5 });
    fill(plans, 0, 5);
    expect(plans.find(textOf(0))).not.toBeNull();
    fill(plans, 5, 6);
    expect(cachedIndexes(plans, 6)).toEqual([0, 2, 3, 4, 5]);
    // One heavy document takes as much space as several light ones.
    plans.remember(parse(textOf(99, 100)));
    expect(plans.find(textOf(99, 100))).not.toBeNull();
    expect(cachedIndexes(plans, 6).length).toBeLessThan(5);
  });

  it('does not cache a document heavier than the cache, and evicts nothing for it', () => {
    const plans = createPlans(schema, { maxBytes: weight * 3.5 });
    fill(plans, 0, 3);
    expect(plans.remember(parse(textOf(99, 1_000)))).toBe(false);
    expect(plans.find(textOf(99, 1_000))).toBeNull();
    expect(cachedIndexes(plans, 3)).toEqual([0, 1, 2]);
  });

  it('never evicts trusted documents', () => {
    const plans = createPlans(schema, { maxBytes: weight * 2.5, isTrusted: (text) => text === textOf(0) });
    fill(plans, 0, 50);
    expect(cachedIndexes(plans, 50)).toEqual([0, 48, 49]);
  });

  it('counts parsed documents that have not passed the gate, and returns no plan for them', () => {
    const plans = createPlans(schema, { maxBytes: weight * 2.5 });
    for (let n = 0; n < 10; n++) plans.documents.set(textOf(n), parse(textOf(n)));
    expect(cachedIndexes(plans, 10)).toEqual([]);
    const found = Array.from({ length: 10 }, (_, n) => n).filter((n) => plans.documents.get(textOf(n)));
    expect(found).toEqual([8, 9]);
  });
});

describe('a service whose cache holds one document', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp({ graphqlCacheBytes: weighDocument(parse(textOf(0, 8))) * 1.2 });
  });
  afterAll(() => test.close());

  it('answers each document correctly, often and in any order, even if it is too large for the cache', async () => {
    const ask = async (n: number, fields = 8) => {
      const { data, errors } = await graphql(test, test.adminToken, textOf(n, fields));
      expect(errors).toBeUndefined();
      return data;
    };
    for (const n of [0, 1, 2, 0, 3, 3, 3, 1, 0, 4, 2, 2]) {
      expect(await ask(n)).toMatchObject({ [`a0x${n}`]: 'Query', [`a7x${n}`]: 'Query' });
    }
    for (let time = 0; time < 3; time++) expect(await ask(9, 20)).toMatchObject({ a19x9: 'Query' });
  });
});
