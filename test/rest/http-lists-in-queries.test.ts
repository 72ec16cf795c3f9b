import { beforeAll, expect, it } from 'vitest';
import { useApp } from '../support/use-app.ts';
import { call, makeOrganization } from './rest-app.ts';

const test = useApp();
let organizationId: string;
let others: string[];
beforeAll(async () => {
  organizationId = test.organizationId;
  others = [await makeOrganization(test, 'One'), await makeOrganization(test, 'Two')];
  // Two matching objects among others: a list parameter that is read as a single value finds one.
  for (const [id, tags] of [
    [organizationId, ['first']],
    [organizationId, ['second']],
    [organizationId, ['third']],
    [others[0], ['first']],
    [others[1], ['second']],
  ] as const) {
    await call(test, test.adminToken, 'POST', `/v3/organizations/${id}/sessions`, { prompt: 'say hello', tags });
  }
});

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly schema: { readonly type?: string };
}

/** Every list parameter of every GET route. */
async function listParameters(version: string): Promise<{ path: string; name: string }[]> {
  const { body } = await call(test, null, 'GET', `/openapi/${version}.json`);
  return Object.entries(body.paths as Record<string, { get?: { parameters?: Parameter[] } }>).flatMap(
    ([path, { get }]) =>
      (get?.parameters ?? [])
        .filter((each) => each.in === 'query' && each.schema.type === 'array')
        .map(({ name }) => ({ path, name })),
  );
}

/** Two values of a list, each of which matches a different object where one exists. */
const valuesOf = (name: string): [string, string] => {
  if (name === 'tags') return ['first', 'second'];
  if (name === 'action') return ['create_session', 'create_org'];
  if (name === 'org_ids') return [others[0] as string, others[1] as string];
  if (name === 'origins') return ['api', 'webapp'];
  return ['nothing', 'nobody'];
};

const forms = {
  repeated: (name, a, b) => `${name}=${a}&${name}=${b}`,
  bracketed: (name, a, b) => `${name}[]=${a}&${name}[]=${b}`,
  encoded: (name, a, b) => `${name}%5B%5D=${a}&${name}%5B%5D=${b}`,
  joined: (name, a, b) => `${name}=${a},${b}`,
  'joined with spaces': (name, a, b) => `${name}=${a},%20${b}`,
  mixed: (name, a, b) => `${name}=${a}&${name}[]=${b}`,
  'as qs': (name, a, b) => `qs=${encodeURIComponent(JSON.stringify({ [name]: [a, b] }))}`,
  'joined as qs': (name, a, b) => `qs=${encodeURIComponent(JSON.stringify({ [name]: `${a},${b}` }))}`,
} satisfies Record<string, (name: string, a: string, b: string) => string>;

it.each([
  ['v1', 1],
  ['v2', 1],
  ['v3', 30],
])('%s: reads every list in a query in every form', async (version, minimum) => {
  const token = version === 'v3' ? test.adminToken : test.v1Key;
  const parameters = await listParameters(version);
  expect(parameters.length).toBeGreaterThanOrEqual(minimum);
  for (const { path, name } of parameters) {
    const address = path.replace('{org_id}', organizationId);
    const read = async (query: string) => {
      const { status, body } = await call(test, token, 'GET', `${address}?${query}`);
      return { path, name, status, body };
    };
    const [a, b] = valuesOf(name);
    const expected = await read(forms.repeated(name, a, b));
    expect(expected).toMatchObject({ path, name, status: 200 });
    for (const [form, write] of Object.entries(forms)) {
      expect({ form, ...(await read(write(name, a, b))) }).toEqual({ form, ...expected });
    }
  }
});

it('a list matches objects with any of its values', async () => {
  const count = async (path: string, query: string, token = test.adminToken) => {
    const { body } = await call(test, token, 'GET', `${path}?${query}`);
    return (body.items ?? body.sessions).length;
  };
  expect(await count(`/v3/organizations/${organizationId}/sessions`, 'tags=first,second')).toBe(2);
  expect(await count('/v3/enterprise/sessions', 'tags[]=first&tags[]=second')).toBe(4);
  expect(await count('/v3/enterprise/sessions', `org_ids=${others.join()}`)).toBe(2);
  expect(await count('/v3/enterprise/sessions', `org_ids=${others[0]}&tags=first&tags=second`)).toBe(1);
  expect(await count('/v1/sessions', 'tags=first,second', test.v1Key)).toBe(2);
});
