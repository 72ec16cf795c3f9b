import { beforeAll, expect, it } from 'vitest';
import { filtered, scim, scimProblem, scimUris } from '../support/scim.ts';
import { useApp } from '../support/use-app.ts';

const test = useApp();

const send = (method: string, path: string, body?: unknown) => scim(test, test.adminToken, method, path, body);

const people = [
  { userName: 'Ann.Smith@filter.example', displayName: 'Ann 100%', externalId: 'F-1', active: true },
  { userName: 'ben_jones@filter.example', name: { givenName: 'Ben', familyName: 'Jones' }, externalId: 'F-2' },
  { userName: 'cem@filter.example', displayName: 'Ünal "Cem" \\', externalId: 'f-3', active: false },
  { userName: 'dee@filter.example' },
];
const ids = new Map<string, string>();
let created: string[] = [];
beforeAll(async () => {
  for (const person of people) {
    const { body } = await send('POST', '/Users', person);
    ids.set(body.id, (person.userName.split(/[.@_]/)[0] ?? '').toLowerCase());
    created = [...created, body.meta.created];
  }
});

/** Returns the first parts of the addresses of those who are found, of the people of this file. */
async function find(filter: string): Promise<string> {
  const within = `emails ew "@FILTER.example" and (${filter})`;
  const { status, body } = await send('GET', filtered('Users', within));
  expect([status, body.detail], filter).toEqual([200, undefined]);
  return body.Resources.map(({ id }: any) => ids.get(id)).join(' ');
}

it('finds users by every operator', async () => {
  const found: [filter: string, names: string][] = [
    ['userName sw "ANN"', 'ann'],
    ['userName co "smith"', 'ann'],
    ['userName co "%"', ''],
    ['userName co "_"', 'ben'],
    ['userName ew ".example"', 'ann ben cem dee'],
    ['userName co ""', 'ann ben cem dee'],
    ['displayName ew "100%"', 'ann'],
    [String.raw`displayName co "\"cem\" \\"`, 'cem'],
    ['displayName sw "Üna"', 'cem'],
    ['displayName eq "BEN jones"', 'ben'],
    ['displayName ne "ben jones"', 'ann cem dee'],
    ['displayName pr', 'ann ben cem'],
    ['not (displayName pr)', 'dee'],
    ['not (displayName co "e")', 'ann dee'],
    ['name.familyName eq "jones" or name.givenName pr', 'ben'],
    ['externalId sw "F-"', 'ann ben'],
    ['externalId ne "F-1"', 'ben cem dee'],
    ['externalId PR and not (externalId sw "F")', 'cem'],
    ['active eq true', 'ann ben dee'],
    ['active ne true', 'cem'],
    ['active eq "False"', 'cem'],
    ['active pr and id pr', 'ann ben cem dee'],
    [`id ne "${[...ids.keys()][0]}"`, 'ben cem dee'],
    ['id ne "x"', 'ann ben cem dee'],
    ['emails[type eq "work" and value sw "dee"]', 'dee'],
    ['emails[type eq "home" or value sw "dee"].value co "@"', 'dee'],
    ['emails.type co "ORK" and emails.primary eq true', 'ann ben cem dee'],
    ['emails[type ne "work"]', ''],
    ['meta.resourceType eq "User" and schemas eq "urn:ietf:params:scim:schemas:core:2.0:User"', 'ann ben cem dee'],
    ['meta.resourceType eq "Group"', ''],
    [`meta.created ge "${created[2]}"`, 'cem dee'],
    [`meta.created gt "${created[2]}"`, 'dee'],
    [`meta.created lt "${created[2]}" or meta.created eq "${created[2]}"`, 'ann ben cem'],
    [`meta.created le "${created[0]?.replace('Z', '+00:00')}"`, 'ann'],
    ['meta.created lt "0001-01-01T00:00:00Z" or meta.created gt "9999-12-31T23:59:59.999999999Z"', ''],
    // "and" binds more tightly than "or".
    ['userName sw "ann" or userName sw "ben" and active eq false', 'ann'],
    ['(userName sw "ann" or userName sw "cem") and active eq false', 'cem'],
    ['not (userName sw "ann" or (userName sw "ben" and active eq true))', 'cem dee'],
  ];
  for (const [filter, names] of found) expect(await find(filter), filter).toBe(names);
});

it('refuses operators that do not fit, and filters beyond the limits', async () => {
  for (const [resources, filter] of [
    ['Users', 'active co "t"'],
    ['Users', 'active gt true'],
    ['Users', 'userName gt "a"'],
    ['Users', 'userName pr "a"'],
    ['Users', 'id co "user"'],
    ['Users', 'meta.created co "2026"'],
    ['Users', 'meta.created gt "yesterday"'],
    ['Users', 'meta.created gt "2026-13-45T99:99:99Z"'],
    ['Users', 'meta.created gt true'],
    ['Users', 'emails.primary eq "true"'],
    ['Users', 'userName xx "a"'],
    ['Users', 'not userName eq "a"'],
    ['Users', 'userName eq "a" or'],
    ['Users', 'userName eq "a" and or userName eq "b"'],
    ['Users', 'members pr'],
    ['Users', `${'not ('.repeat(6)}userName pr${')'.repeat(6)}`],
    ['Users', Array.from({ length: 21 }, () => 'userName pr').join(' or ')],
    ['Groups', 'userName pr'],
    ['Groups', 'members co "user"'],
    ['Groups', 'members[display eq "x"]'],
    ['Groups', 'members.display eq "x"'],
  ] as const) {
    const { status, body } = await send('GET', filtered(resources, filter));
    expect([status, body], filter).toEqual([400, { ...scimProblem(400, 'invalidFilter'), detail: expect.any(String) }]);
  }
  expect(await find(Array.from({ length: 19 }, () => 'userName sw "ann"').join(' or '))).toBe('ann');
});

it('reads a long filter in linear time', async () => {
  const texts = [`userName eq "${'\\n'.repeat(900)}"`, `${'('.repeat(1_900)}`, `userName eq "${'\\\\'.repeat(950)}`];
  const startedAt = process.cpuUsage();
  for (const text of texts) await send('GET', filtered('Users', text));
  expect(process.cpuUsage(startedAt).user).toBeLessThan(2_000_000);
});

it('finds groups by their names, dates and members', async () => {
  const [ann, ben] = [...ids.keys()] as [string, string];
  const group = async (displayName: string, members: string[]): Promise<any> =>
    (await send('POST', '/Groups', { displayName, externalId: 'fg', members: members.map((value) => ({ value })) }))
      .body;
  const made = [await group('Filter A', [ann]), await group('filter b', [ann, ben]), await group('Filter C', [])];
  const findGroups = async (filter: string) => {
    const { body } = await send('GET', filtered('Groups', `externalId eq "fg" and (${filter})`));
    return body.Resources?.map(({ displayName }: any) => displayName.slice(-1)).join('');
  };
  for (const [filter, names] of [
    ['displayName sw "FILTER"', 'AbC'],
    ['displayName ew "B" or displayName co "r a"', 'Ab'],
    ['members pr', 'Ab'],
    ['not (members pr)', 'C'],
    [`members eq "${ben}"`, 'b'],
    [`members[value eq "${ann}" or value eq "${ben}"]`, 'Ab'],
    // One member is not two users.
    [`members[value eq "${ann}" and value eq "${ben}"]`, ''],
    [`members eq "${ann}" and members eq "${ben}"`, 'b'],
    [`members[not (value eq "${ann}") and type eq "User"]`, 'b'],
    [`not (members.value eq "${ann}")`, 'C'],
    [`meta.created le "${made[1].meta.created}"`, 'Ab'],
    [`id eq "${made[2].id}"`, 'C'],
  ] as const) {
    expect(await findGroups(filter), filter).toBe(names);
  }
});

it('orders users and groups', async () => {
  const order = async (parameters: string) => {
    const path = `${filtered('Users', 'userName ew "@filter.example"')}&${parameters}`;
    const { body } = await send('GET', path);
    return body.Resources?.map(({ id }: any) => ids.get(id)).join(' ') ?? body;
  };
  expect(await order('sortBy=userName&sortOrder=descending')).toBe('dee cem ben ann');
  expect(await order('sortBy=USERNAME&sortOrder=Ascending&startIndex=2&count=2')).toBe('ben cem');
  expect(await order('sortBy=meta.created&sortOrder=descending')).toBe('dee cem ben ann');
  // Those without a value are last, and first in a descending order.
  expect((await order('sortBy=externalId')).split(' ').at(-1)).toBe('dee');
  expect((await order('sortBy=externalId&sortOrder=descending')).split(' ')[0]).toBe('dee');
  expect(await order('sortOrder=descending')).toBe('ann ben cem dee');
  const groups = await send(
    'GET',
    `${filtered('Groups', 'displayName sw "filter"')}&sortBy=displayName&sortOrder=descending`,
  );
  expect(groups.body.Resources.map(({ displayName }: any) => displayName.slice(-1)).join('')).toBe('CbA');
  for (const parameters of ['sortBy=displayName', 'sortBy=__proto__', 'sortBy=id&sortOrder=up']) {
    expect(await order(parameters), parameters).toMatchObject(scimProblem(400, 'invalidValue'));
  }
});

it('searches with the parameters in the body', async () => {
  const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'] };
  const users = await send('POST', '/Users/.search', {
    ...search,
    filter: 'userName ew "@filter.example"',
    sortBy: 'userName',
    sortOrder: 'descending',
    startIndex: 2,
    count: 2,
    attributes: ['userName'],
  });
  expect(users).toMatchObject({ status: 200, body: { schemas: [scimUris.list], totalResults: 4, startIndex: 2 } });
  expect(users.body.Resources).toEqual([
    { schemas: [scimUris.user], id: expect.any(String), userName: 'cem@filter.example' },
    { schemas: [scimUris.user], id: expect.any(String), userName: 'ben_jones@filter.example' },
  ]);
  const groups = { ...search, filter: 'externalId eq "fg"', excludedAttributes: ['members'], count: null };
  const found = await send('POST', '/Groups/.search', groups);
  expect(found.body.Resources).toHaveLength(3);
  expect(found.body.Resources[0]).not.toHaveProperty('members');
  const filter = 'userName ew "@filter.example" or externalId eq "fg"';
  const types = async (more: object) =>
    (await send('POST', '/.search', { ...search, filter, ...more })).body.Resources.map((each: any) =>
      each.meta.resourceType.charAt(0),
    ).join('');
  expect(await types({})).toBe('UUUUGGG');
  expect(await types({ startIndex: 4, count: 2 })).toBe('UG');
  expect(await types({ startIndex: 6 })).toBe('GG');
  expect(await types({ filter: `${filter} and meta.resourceType eq "Group"`, count: 5 })).toBe('UUUUG');
  for (const body of [
    { count: 'x' },
    { filter: 5 },
    { attributes: 'userName' },
    { startIndex: 1.5 },
    [],
    { sortBy: 'id' },
  ]) {
    const { status, body: answer } = await send('POST', '/.search', body);
    expect([status, answer], JSON.stringify(body)).toMatchObject([400, scimProblem(400, 'invalidValue')]);
  }
  const forbidden = await scim(test, null, 'POST', '/Users/.search', search);
  expect(forbidden.status).toBe(401);
});
