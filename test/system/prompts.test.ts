import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, graphql, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readMessages, waitUntilEnded } from '../support/session-waits.ts';
import { makeOrganization } from '../support/sessions.ts';
import { uploadTo } from '../support/uploads.ts';

let test: TestApp;
beforeAll(async () => {
  // No agent stays for another turn: each follow-up goes to a process that has loaded the session.
  const agentsConfig = await writeProfiles({ warm_ttl_ms: 0 });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, maxConcurrentSessions: 2 });
});
afterAll(() => test.close());

const admin = async (method: string, path: string, body?: unknown) => {
  const answer = await call(test, test.adminToken, method, path, body);
  expect({ path, status: answer.status }).toEqual({ path, status: 200 });
  return answer.body;
};
const makeOrganizationPath = async (name: string) => {
  const { organizationId } = await makeOrganization(test, name);
  return `/v3/organizations/${organizationId.replace('org-', '')}`;
};
const note = (organizationPath: string, name: string, more: object = {}) =>
  admin('POST', `${organizationPath}/knowledge/notes`, {
    name,
    body: `All about ${name}.`,
    trigger: `When ${name} comes up`,
    ...more,
  });
// Version 3 has no macros of notes.
const noteWithMacro = async (organizationPath: string, name: string, macro: string) => {
  const organizationId = organizationPath.split('/').at(-1);
  const scope = { organizationId };
  const input = { scope, name, body: `All about ${name}.`, trigger: `When ${name} comes up`, macro };
  const { data } = await graphql(
    test,
    test.adminToken,
    'mutation($input: CreateKnowledgeNoteInput!) { createKnowledgeNote(input: $input) { knowledgeNote { macro } } }',
    { input },
  );
  expect(data.createKnowledgeNote.knowledgeNote).toEqual({ macro });
};
const playbook = (organizationPath: string, title: string, more: object = {}) =>
  admin('POST', `${organizationPath}/playbooks`, { title, body: `Steps of ${title}.`, ...more });
/** Starts a session and returns the blocks of its agent's prompt, each beginning with `[type]`. */
const start = async (organizationPath: string, body: object) => {
  const { session_id: id } = await admin('POST', `${organizationPath}/sessions`, { prompt: 'prompt', ...body });
  await waitUntilEnded(test, id);
  return { id: id as string, blocks: await blocksOf(id) };
};
const sendFollowUp = async (organizationPath: string, id: string, message: string, more: object = {}) => {
  await admin('POST', `${organizationPath}/sessions/${id}/messages`, { message, ...more });
  await waitUntilEnded(test, id);
  return blocksOf(id);
};
// The demo agent's `prompt` prints all of them in one message.
const blocksOf = async (id: string) => {
  const message = (await readMessages(test, id)).filter((line) => line.startsWith('AGENT_MESSAGE: [')).at(-1) ?? '';
  return message.slice('AGENT_MESSAGE: '.length).split(/\n\n(?=\[(?:preface|user|link)\])/);
};
const workspaceOf = (id: string) => join(test.dataDir, 'sessions', id.replace('devin-', ''), 'ws');

describe('the first prompt', () => {
  it('contains the preamble, the playbook, the knowledge, the schema, the attachments, and the user’s message last', async () => {
    const organizationPath = await makeOrganizationPath('Orderly');
    const { playbook_id } = await playbook(organizationPath, 'Release');
    await note(organizationPath, 'Pinned', { pinned_repo: 'all' });
    await note(organizationPath, 'Loose');
    const secret = { type: 'key-value', key: 'A_KEY', value: 'c4n4ry-prompts' };
    await admin('POST', `${organizationPath}/secrets`, secret);
    const file = await uploadTo(test, organizationPath.split('/').at(-1) as string, {
      name: 'a b.txt',
      content: 'attached',
    });
    const schema = { type: 'object', properties: { answer: { type: 'number' } } };
    const { id, blocks } = await start(organizationPath, {
      prompt: '  prompt\nsay <b>verbatim</b>  ',
      playbook_id,
      structured_output_schema: schema,
      attachment_urls: [file.url],
    });
    expect(blocks).toEqual([
      expect.stringMatching(/^\[preface\]\nYou are at work in a session of Switchyard/),
      '[preface]\n# Playbook: Release\n\nWork by this playbook.\n\nSteps of Release.',
      expect.stringMatching(
        /^\[preface\]\n# Knowledge\n\n## Pinned\n\nWhen: When Pinned comes up\n\nAll about Pinned\.\n\nMore notes/,
      ),
      expect.stringContaining(JSON.stringify(schema)),
      expect.stringContaining('- `.session/attachments/a b.txt` (text/plain, 8 bytes)'),
      expect.stringMatching(/^\[link\] file:\/\/.*\/\.session\/attachments\/a%20b\.txt \(a b\.txt, text\/plain\)$/),
      expect.stringMatching(/^\[user\]\n {2}prompt\nsay <b>verbatim<\/b> {2}\n\nATTACHMENT:"[^"]+"$/),
    ]);
    // The path that the agent sees: inside a sandbox it differs.
    const workspace = /Your workspace is (\S+):/.exec(blocks[0] as string)?.[1] as string;
    expect(blocks[0]).toContain('`A_KEY`');
    expect(blocks[2]).toContain('- Loose — When Loose comes up (');
    expect(blocks[2]).not.toContain('All about Loose.');
    const link = fileURLToPath(/^\[link\] (\S+)/.exec(blocks[5] as string)?.[1] as string);
    expect(await readFile(link.replace(workspace, workspaceOf(id)), 'utf8')).toBe('attached');
  });

  it('is the introduction once: a follow-up has the user’s message and what it refers to', async () => {
    const organizationPath = await makeOrganizationPath('Once');
    await note(organizationPath, 'Pinned', { pinned_repo: 'all' });
    const { id, blocks } = await start(organizationPath, {});
    expect(blocks).toHaveLength(3);
    expect(await sendFollowUp(organizationPath, id, 'prompt\nsay again')).toEqual(['[user]\nprompt\nsay again']);
    const file = await uploadTo(test, organizationPath.split('/').at(-1) as string, { name: 'late.txt', content: 'x' });
    const follow = await sendFollowUp(organizationPath, id, 'prompt', { attachment_urls: [file.url] });
    expect(follow.map((block) => block.split(/[\n ]/, 1)[0])).toEqual(['[preface]', '[link]', '[user]']);
  });
});

describe('knowledge', () => {
  const knowledge = (blocks: readonly string[]) =>
    blocks.find((block) => block.startsWith('[preface]\n# Knowledge')) ?? '';

  it('is complete for null, empty for [], and the named notes in full for a list', async () => {
    const organizationPath = await makeOrganizationPath('Selective');
    const one = await note(organizationPath, 'One');
    await note(organizationPath, 'Two');
    for (const options of [{}, { knowledge_ids: null }]) {
      const all = knowledge((await start(organizationPath, options)).blocks);
      expect(all).toContain('- One — ');
      expect(all).toContain('- Two — ');
    }
    expect(knowledge((await start(organizationPath, { knowledge_ids: [] })).blocks)).toBe('');
    const named = knowledge((await start(organizationPath, { knowledge_ids: [one.note_id] })).blocks);
    expect(named).toContain('All about One.');
    expect(named).not.toContain('Two');
  });

  it('comes from the organization and the enterprise, without disabled notes and other organizations’', async () => {
    const [organizationPath, other] = [await makeOrganizationPath('Mine'), await makeOrganizationPath('Theirs')];
    const shared = await note('/v3/enterprise', 'Shared by all');
    await note(organizationPath, 'Own');
    await note(other, 'Foreign');
    const off = await note(organizationPath, 'Switched off');
    const path = `${organizationPath}/knowledge/notes/${off.note_id}`;
    await admin('PUT', path, { name: off.name, body: off.body, trigger: off.trigger, is_enabled: false });
    const { id, blocks } = await start(organizationPath, {});
    await admin('DELETE', `/v3/enterprise/knowledge/notes/${shared.note_id}`);
    expect(knowledge(blocks)).toContain('- Own — ');
    expect(knowledge(blocks)).toContain('- Shared by all — ');
    expect(knowledge(blocks)).not.toMatch(/Foreign|Switched off/);
    const names = await readdir(join(workspaceOf(id), '.session/knowledge'));
    expect(names.map((name) => name.replace(/-[0-9a-f]{6}\.md$/, '')).sort()).toEqual(['own', 'shared-by-all']);
  });

  it('is in full within the budget, for a pinned repository only if it is mentioned, and always in files', async () => {
    const organizationPath = await makeOrganizationPath('Budget');
    await note(organizationPath, 'Rails', { pinned_repo: 'acme/rails' });
    await note(organizationPath, 'Hosted', { pinned_repo: 'git.example.com/acme/sub/tools' });
    await note(organizationPath, 'Big', { pinned_repo: 'all', body: `BIG ${'b'.repeat(23_000)}` });
    await note(organizationPath, 'Bigger', { pinned_repo: 'all', body: `BIGGER ${'b'.repeat(24_000)}` });
    const silent = knowledge((await start(organizationPath, {})).blocks);
    expect(silent).not.toContain('All about Rails.');
    expect(silent).not.toContain('All about Hosted.');
    expect(silent).toMatch(/BIG(GER)? b/);
    for (const [message, isMeant] of [
      ['https://git.example.com/acme/sub/tools', true],
      ['git@git.example.com:acme/sub/tools.git', true],
      ['acme/sub/tools', true],
      ['https://elsewhere.example/acme/sub/tools', false],
    ] as const) {
      const { blocks } = await start(organizationPath, { prompt: `prompt\nsay look at ${message}` });
      expect({ message, isMeant: knowledge(blocks).includes('All about Hosted.') }).toEqual({
        message,
        isMeant,
      });
    }
    const { id, blocks } = await start(organizationPath, { prompt: 'prompt\nsay look at Acme/Rails' });
    expect(knowledge(blocks)).toContain('All about Rails.');
    const full = ['BIG b', 'BIGGER b'].filter((words) => knowledge(blocks).includes(words));
    expect(full).toHaveLength(1);
    const path = /`(\.session\/knowledge\/[^`]+)`/.exec(knowledge(blocks))?.[1] as string;
    const text = await readFile(join(workspaceOf(id), path), 'utf8');
    expect(text).toContain(full[0] === 'BIG b' ? 'BIGGER b' : 'BIG b');
  });
});

describe('a macro', () => {
  it('is expanded in the first prompt and in follow-ups, and the message stays unchanged', async () => {
    const organizationPath = await makeOrganizationPath('Macros');
    await playbook(organizationPath, 'Deploy', { macro: '!deploy' });
    await noteWithMacro(organizationPath, 'Style', '!style');
    const { id, blocks } = await start(organizationPath, {
      prompt: 'prompt\nsay please !Deploy, but not a!style or !none',
      knowledge_ids: [],
    });
    expect(blocks.slice(1)).toEqual([
      '[preface]\nThe user\'s !deploy is the playbook "Deploy":\n\nSteps of Deploy.',
      '[user]\nprompt\nsay please !Deploy, but not a!style or !none',
    ]);
    expect(await sendFollowUp(organizationPath, id, 'prompt\nsay !style.')).toEqual([
      '[preface]\nThe user\'s !style is the note "Style":\n\nAll about Style.',
      '[user]\nprompt\nsay !style.',
    ]);
  });

  it('is looked up in the organization before the enterprise, and never in another organization', async () => {
    const [organizationPath, other] = [await makeOrganizationPath('Here'), await makeOrganizationPath('There')];
    const shared = await playbook('/v3/enterprise', 'Of all', { macro: '!shared-one' });
    const common = await playbook('/v3/enterprise', 'Of all too', { macro: '!common-one' });
    await playbook(organizationPath, 'Of us', { macro: '!shared-one' });
    await playbook(other, 'Of them', { macro: '!theirs' });
    const { blocks } = await start(organizationPath, {
      prompt: 'prompt\nsay !shared-one !common-one !theirs',
      knowledge_ids: [],
    });
    for (const each of [shared, common]) await admin('DELETE', `/v3/enterprise/playbooks/${each.playbook_id}`);
    expect(blocks.slice(1, -1)).toEqual([expect.stringContaining('"Of us"'), expect.stringContaining('"Of all too"')]);
  });
});

it('summarizes the events for an agent that lost its memory, and introduces the work again', async () => {
  const organizationPath = await makeOrganizationPath('Forgetful');
  const { id } = await start(organizationPath, { prompt: 'say the first answer\nwrite kept.txt still here' });
  await test.app.services.store.execute(
    `update run set agent_session_id = 'gone' where session_id = $1 returning session_id`,
    [id.replace('devin-', '')],
  );
  const blocks = await sendFollowUp(organizationPath, id, 'prompt\ncat kept.txt');
  expect(blocks).toEqual([
    expect.stringMatching(/^\[preface\]\nYou are at work/),
    expect.stringMatching(/^\[preface\]\nYou have worked on this before/),
    '[user]\nprompt\ncat kept.txt',
  ]);
  expect(blocks[1]).toMatch(
    /as you left it[\s\S]*User: say the first answer[\s\S]*You: the first answer\n\[tool\] Write kept.txt: completed$/,
  );
  expect(blocks[1]).not.toContain('cat kept.txt');
});
