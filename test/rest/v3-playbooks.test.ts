import { describe, expect, test } from 'vitest';
import { findPlaybooks } from '../../src/domain/library/playbooks/playbooks.ts';
import { readAuditActions, readIds } from '../support/knowledge.ts';
import { useApp } from '../support/use-app.ts';
import {
  asAdministrator,
  call,
  makeOrganization,
  makeServiceKey,
  makeServiceUser,
  makeUser,
  startApp,
} from './rest-app.ts';

const app = useApp();

const admin = (method: string, path: string, body?: unknown) => call(app, app.adminToken, method, path, body);
const playbooksOf = (id: string) => `/v3/organizations/${id}/playbooks`;
const sessionsOf = (id: string) => `/v3/organizations/${id}/sessions`;
const enterprisePlaybooks = '/v3/enterprise/playbooks';
const playbook = { title: 'Release', body: 'Tag, build, publish.' };
const schema = { type: 'object', properties: { version: { type: 'string' } }, required: ['version'] };
const missing = `playbook-${'0'.repeat(32)}`;
const bare = (id: string) => id.replace(/^\w+-/, '');

describe('a playbook of an organization', () => {
  test('POST returns all its fields, and GET does by any form of its id', async () => {
    const id = await makeOrganization(app);
    const { v3Token, userId } = await makeUser(app, id, 'org_admin');
    const input = { ...playbook, macro: '!release-2_x', structured_output_schema: schema };
    const made = await call(app, v3Token, 'POST', playbooksOf(id), input);
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      playbook_id: expect.stringMatching(/^playbook-[0-9a-f]{32}$/),
      access_type: 'org',
      org_id: `org-${id}`,
      ...input,
      created_at: expect.any(Number),
      created_by: `user-${userId}`,
      updated_at: made.body.created_at,
      updated_by: `user-${userId}`,
    });
    for (const form of [made.body.playbook_id, bare(made.body.playbook_id)]) {
      expect((await admin('GET', `${playbooksOf(id)}/${form}`)).body).toEqual(made.body);
    }
    const plain = (await admin('POST', playbooksOf(id), playbook)).body;
    expect(plain).toMatchObject({ macro: null, structured_output_schema: null });
    expect(plain.created_by).toMatch(/^service-user-/);
  });

  test('PUT keeps an omitted macro and schema, and clears them for null', async () => {
    const id = await makeOrganization(app);
    const { v3Token, userId } = await makeUser(app, id, 'org_admin');
    const input = { ...playbook, macro: '!keep', structured_output_schema: schema };
    const made = (await admin('POST', playbooksOf(id), input)).body;
    const path = `${playbooksOf(id)}/${made.playbook_id}`;
    const updated = (await call(app, v3Token, 'PUT', path, { title: 'New', body: 'Other' })).body;
    expect(updated).toMatchObject({ ...input, title: 'New', body: 'Other', updated_by: `user-${userId}` });
    expect(updated.created_by).toBe(made.created_by);
    const cleared = { ...playbook, macro: null, structured_output_schema: null };
    expect((await admin('PUT', path, cleared)).body).toMatchObject(cleared);
    expect((await admin('GET', path)).body).toMatchObject(cleared);
    expect((await readAuditActions(app, id, '_playbook')).map(({ action, data }) => [action, data])).toEqual([
      ['create_playbook', { title: 'Release' }],
      ['update_playbook', { title: 'New', changed: 'title body' }],
      ['update_playbook', { title: 'Release', changed: 'title body macro structuredOutputSchema' }],
    ]);
    expect((await admin('PATCH', path, { title: 'x' })).status).toBe(405);
    expect((await admin('PUT', path, { title: 'only' })).body.detail[0].loc).toEqual(['body', 'body']);
  });

  test.each([
    ['one space', ' '],
    ['10,000 characters', 't'.repeat(10_000)],
  ])('a title of %s is accepted, and a body of one space', async (_what, title) => {
    const id = await makeOrganization(app);
    const made = await admin('POST', playbooksOf(id), { title, body: ' ' });
    expect(made).toMatchObject({ status: 200, body: { title, body: ' ' } });
    const v1Key = (await makeUser(app, id, 'org_admin')).v1Key;
    expect(await call(app, v1Key, 'POST', '/v1/playbooks', { title, body: ' ' })).toMatchObject({
      status: 200,
      body: { title, body: ' ' },
    });
  });

  test('PUT without a change writes nothing, with any order in its schema', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', playbooksOf(id), { ...playbook, structured_output_schema: schema })).body;
    const turned = Object.fromEntries(Object.entries(schema).reverse());
    const again = { ...playbook, structured_output_schema: turned };
    expect((await admin('PUT', `${playbooksOf(id)}/${made.playbook_id}`, again)).body).toEqual(made);
    expect(await readAuditActions(app, id, 'update_playbook')).toEqual([]);
  });

  test.each([
    ['an empty title', { title: '' }, 'title', /empty/],
    ['a title of 10,001', { title: 't'.repeat(10_001) }, 'title', /10000/],
    ['an empty body', { body: '' }, 'body', /empty/],
    ['a body of 100,001', { body: 'b'.repeat(100_001) }, 'body', /100000/],
    ['no body', { body: undefined }, 'body', /required/],
    ['a macro without its mark', { macro: 'deploy' }, 'macro', /"macro".*"deploy"/],
    ['a macro that is only the mark', { macro: '!' }, 'macro', /"macro"/],
    ['a macro with a space', { macro: '!a b' }, 'macro', /"macro"/],
    ['a macro with a line after it', { macro: '!a\n' }, 'macro', /"macro"/],
    ['a macro of other letters', { macro: '!größe' }, 'macro', /"macro"/],
    ['a macro of 101', { macro: `!${'m'.repeat(100)}` }, 'macro', /"macro"/],
    ['a schema that is none', { structured_output_schema: { type: 7 } }, 'structured_output_schema', /JSON Schema/],
    [
      'a schema that points outside',
      { structured_output_schema: { $ref: 'http://x/y' } },
      'structured_output_schema',
      /self-contained/,
    ],
    [
      'a schema over 64 KB',
      { structured_output_schema: { title: 's'.repeat(65_536) } },
      'structured_output_schema',
      /64 KB/,
    ],
    ['a list as schema', { structured_output_schema: [] }, 'structured_output_schema', /object/],
  ])('%s is 422 at the field, and nothing is written', async (_what, wrong, field, message) => {
    const id = await makeOrganization(app);
    const { playbook_id: playbookId } = (await admin('POST', playbooksOf(id), playbook)).body;
    for (const [method, path] of [
      ['POST', playbooksOf(id)],
      ['PUT', `${playbooksOf(id)}/${playbookId}`],
    ] as const) {
      const { status, body } = await admin(method, path, { ...playbook, ...wrong });
      expect({ status, loc: body.detail[0].loc }).toEqual({ status: 422, loc: ['body', field] });
      expect(body.detail[0].msg).toMatch(message);
    }
    expect((await admin('GET', playbooksOf(id))).body.items).toMatchObject([playbook]);
  });
});

describe('macros', () => {
  test('are unique in each scope, ignoring case', async () => {
    const [id, other] = [await makeOrganization(app), await makeOrganization(app)];
    const macro = `!m${id}`;
    const make = (path: string, ownMacro = macro) => admin('POST', path, { ...playbook, macro: ownMacro });
    const first = (await make(playbooksOf(id))).body;
    const taken = await make(playbooksOf(id), macro.toUpperCase());
    expect(taken).toMatchObject({
      status: 409,
      body: { title: 'Conflict', detail: expect.stringContaining('"macro"') },
    });
    const second = (await make(playbooksOf(id), `${macro}2`)).body;
    const path = `${playbooksOf(id)}/${second.playbook_id}`;
    expect((await admin('PUT', path, { ...playbook, macro })).status).toBe(409);
    expect((await make(playbooksOf(other))).status).toBe(200);
    expect((await make(enterprisePlaybooks)).status).toBe(200);
    expect((await admin('PUT', `${playbooksOf(id)}/${first.playbook_id}`, { ...playbook, macro })).status).toBe(200);
    await admin('DELETE', `${playbooksOf(id)}/${first.playbook_id}`);
    expect((await admin('PUT', path, { ...playbook, macro })).body.macro).toBe(macro);
  });

  test('only one of many concurrent requests gets a macro', async () => {
    const id = await makeOrganization(app);
    const others = await Promise.all([1, 2].map(async () => (await admin('POST', playbooksOf(id), playbook)).body));
    const body = { ...playbook, macro: '!once' };
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => admin('POST', playbooksOf(id), body)),
      ...others.map(({ playbook_id }) => admin('PUT', `${playbooksOf(id)}/${playbook_id}`, body)),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  });
});

describe('a deleted playbook', () => {
  test('DELETE answers 200 with the playbook; after that it is in no list and at no path', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', playbooksOf(id), playbook)).body;
    const path = `${playbooksOf(id)}/${made.playbook_id}`;
    expect(await admin('DELETE', path)).toMatchObject({
      status: 200,
      body: { ...made, updated_at: expect.any(Number), updated_by: expect.any(String) },
    });
    for (const method of ['GET', 'DELETE']) expect((await admin(method, path)).status).toBe(404);
    expect((await admin('PUT', path, playbook)).status).toBe(404);
    expect((await admin('GET', playbooksOf(id))).body.items).toEqual([]);
    expect((await readAuditActions(app, id, 'delete_playbook')).map(({ data }) => data)).toEqual([
      { title: 'Release' },
    ]);
  });

  test('stays visible in its sessions, and starts no others', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', playbooksOf(id), playbook)).body;
    const start = () => admin('POST', sessionsOf(id), { prompt: 'x', playbook_id: made.playbook_id });
    const session = (await start()).body;
    await admin('DELETE', `${playbooksOf(id)}/${made.playbook_id}`);
    const read = (await admin('GET', `${sessionsOf(id)}/${session.session_id}`)).body;
    expect(read.playbook_id).toBe(made.playbook_id);
    const refused = await start();
    expect(refused.status).toBe(400);
    expect(refused.body.detail).toBe(`"playbook_id" refers to "${made.playbook_id}", which does not exist.`);
    const context = await asAdministrator(app);
    const found = await findPlaybooks(context, [bare(made.playbook_id), '0'.repeat(32)]);
    expect(found).toMatchObject([{ title: 'Release', deletedAt: expect.any(Date) }, null]);
  });
});

describe('sessions', () => {
  test('can use a playbook and notes of the organization or the enterprise, and are found by the playbook', async () => {
    const id = await makeOrganization(app);
    const [mine, shared] = [
      (await admin('POST', playbooksOf(id), { ...playbook, structured_output_schema: schema })).body.playbook_id,
      (await admin('POST', enterprisePlaybooks, playbook)).body.playbook_id,
    ];
    const note = { name: 'n', trigger: 't', body: 'b' };
    const notes = [
      (await admin('POST', `/v3/organizations/${id}/knowledge/notes`, note)).body.note_id,
      (await admin('POST', '/v3/enterprise/knowledge/notes', note)).body.note_id,
    ];
    const start = async (more: object) => (await admin('POST', sessionsOf(id), { prompt: 'x', ...more })).body;
    const first = await start({ playbook_id: bare(mine), knowledge_ids: notes });
    expect(first.playbook_id).toBe(mine);
    const second = await start({ playbook_id: shared, knowledge_ids: [] });
    await start({});
    const list = async (playbookId: string) =>
      (await admin('GET', `${sessionsOf(id)}?playbook_id=${playbookId}`)).body.items.map(
        (item: { session_id: string }) => item.session_id,
      );
    expect(await list(mine)).toEqual([first.session_id]);
    expect(await list(bare(shared))).toEqual([second.session_id]);
    expect(await list(missing)).toEqual([]);
    const v1Key = await makeServiceKey(app, id);
    const { body } = await call(app, v1Key, 'GET', `/v1/sessions/${first.session_id}`);
    expect(body.playbook_id).toBe(mine);
    const rows = await app.app.services.store.query(
      'select knowledge_ids as notes, structured_output_schema as schema from session where id = any($1::text[]) order by id',
      [[first.session_id, second.session_id]],
    );
    expect(rows).toEqual([
      { notes: notes.map(bare), schema },
      { notes: [], schema: null },
    ]);
  });

  test('refuse objects of another organization like unknown ones, and write nothing', async () => {
    const [id, there] = [await makeOrganization(app), await makeOrganization(app)];
    const foreign = (await admin('POST', playbooksOf(there), playbook)).body.playbook_id;
    const note = { name: 'n', trigger: 't', body: 'b' };
    const foreignNote = (await admin('POST', `/v3/organizations/${there}/knowledge/notes`, note)).body.note_id;
    for (const [field, value, reference] of [
      ['playbook_id', foreign, foreign],
      ['playbook_id', missing, missing],
      ['knowledge_ids', foreignNote, [foreignNote]],
      ['knowledge_ids', 'note-nonsense', ['note-nonsense']],
    ]) {
      const refused = await admin('POST', sessionsOf(id), { prompt: 'x', [field as string]: reference });
      expect(refused.status).toBe(400);
      expect(refused.body.detail).toBe(`"${field}" refers to "${value}", which does not exist.`);
    }
    expect((await admin('GET', sessionsOf(id))).body.items).toEqual([]);
  });

  test('returned for an idempotency key survive the deletion of their playbook', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', playbooksOf(id), playbook)).body.playbook_id;
    const start = () =>
      call(app, app.adminToken, 'POST', sessionsOf(id), { prompt: 'x', playbook_id: made }, { 'idempotency-key': 'k' });
    const { session_id } = (await start()).body;
    await admin('DELETE', `${playbooksOf(id)}/${made}`);
    expect(await start()).toMatchObject({ status: 200, body: { session_id } });
  });
});

describe('playbooks of others', () => {
  test('a playbook of another organization is answered like an unknown one', async () => {
    const [here, there] = [await makeOrganization(app), await makeOrganization(app)];
    const foreign = (await admin('POST', playbooksOf(there), playbook)).body.playbook_id;
    const { v3Token } = await makeUser(app, here, 'org_admin');
    for (const [method, body] of [['GET'], ['PUT', playbook], ['DELETE']] as const) {
      const answers = await Promise.all(
        [foreign, missing].map((each) => call(app, v3Token, method, `${playbooksOf(here)}/${each}`, body)),
      );
      const [known, unknown] = answers.map((each) =>
        JSON.stringify([each.status, each.body]).replace(foreign, missing),
      );
      expect(known).toBe(unknown);
      expect(answers[0]?.status).toBe(404);
    }
    expect((await admin('GET', `${playbooksOf(there)}/${foreign}`)).status).toBe(200);
  });

  test('a reader gets the missing permission', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', playbooksOf(id), playbook)).body.playbook_id;
    const { v3Token } = await makeUser(app, id);
    expect((await call(app, v3Token, 'GET', `${playbooksOf(id)}/${made}`)).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', playbooksOf(id), playbook],
      ['PUT', `${playbooksOf(id)}/${made}`, playbook],
      ['DELETE', `${playbooksOf(id)}/${made}`],
    ] as const) {
      const refused = await call(app, v3Token, method, path, body);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageOrgPlaybooks' } });
    }
    const { token } = await makeServiceUser(app, { roleId: 'account_member' });
    for (const [method, path, body] of [
      ['GET', enterprisePlaybooks],
      ['POST', enterprisePlaybooks, playbook],
      ['GET', `${enterprisePlaybooks}/${made}`],
      ['PUT', `${enterprisePlaybooks}/${made}`, playbook],
      ['DELETE', `${enterprisePlaybooks}/${made}`],
    ] as const) {
      const refused = await call(app, token, method, path, body);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageAccountPlaybooks' } });
    }
  });
});

describe('lists and the enterprise', () => {
  test('the enterprise’s are readable in every organization and changed with its own permission', async () => {
    const id = await makeOrganization(app);
    const made = (await admin('POST', enterprisePlaybooks, playbook)).body;
    expect(made).toMatchObject({ access_type: 'enterprise', org_id: null });
    const { v3Token } = await makeUser(app, id, 'org_admin');
    const path = `${playbooksOf(id)}/${made.playbook_id}`;
    expect((await call(app, v3Token, 'GET', path)).body).toEqual(made);
    const shared = await call(app, v3Token, 'GET', `${playbooksOf(id)}?access_type=enterprise&first=200`);
    expect(shared.body.items).toContainEqual(made);
    expect((await call(app, v3Token, 'GET', playbooksOf(id))).body.items).toEqual([]);
    for (const [method, body] of [['PUT', playbook], ['DELETE']] as const) {
      const refused = await call(app, v3Token, method, path, body);
      expect(refused).toMatchObject({ status: 403, body: { detail: 'Missing permission ManageAccountPlaybooks' } });
    }
    expect((await readAuditActions(app, null, 'create_playbook')).at(-1)?.targetId).toBe(bare(made.playbook_id));
  });

  test('each playbook once, newest first, while others are created and deleted; the enterprise lists all', async () => {
    const own = await startApp();
    try {
      const mine = (method: string, path: string, body?: unknown) => call(own, own.adminToken, method, path, body);
      const paths = [playbooksOf(own.organizationId), playbooksOf(await makeOrganization(own)), enterprisePlaybooks];
      const made: { id: string; path: string }[] = [];
      for (let n = 0; n < 9; n++) {
        const path = paths[n % 3] as string;
        made.unshift({ path, id: (await mine('POST', path, { ...playbook, title: `p${n}` })).body.playbook_id });
      }
      let page = 0;
      const list = { token: own.adminToken, path: enterprisePlaybooks, id: 'playbook_id' };
      const seen = await readIds(own, list, async () => {
        await mine('POST', paths[page % 3] as string, { ...playbook, title: 'later' });
        await mine('DELETE', `${enterprisePlaybooks}/${made[page++]?.id}`);
      });
      expect(seen).toEqual(made.map(({ id }) => id));
      expect((await mine('GET', `${enterprisePlaybooks}?access_type=team`)).body.detail[0].loc).toEqual([
        'query',
        'access_type',
      ]);
    } finally {
      await own.close();
    }
  });
});
