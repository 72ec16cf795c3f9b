import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { call, graphql } from '../support/app.ts';
import { createAutomation, recurring } from '../support/automations.ts';
import { PageReader } from '../support/page-reader.ts';
import { root } from '../support/tree.ts';
import { useApp } from '../support/use-app.ts';

const app = useApp();

const page = readFileSync(join(root, 'docs/automations.md'), 'utf8');
const blocks = [...page.matchAll(/^```(graphql|http)\n([\s\S]*?)^```/gm)].map(([, kind, text]) => ({
  kind: kind as 'graphql' | 'http',
  text: text as string,
}));

/** Sends a request from its printed form: the method and the path, headers, a blank line, the body. */
async function send(text: string): Promise<unknown> {
  const [head = '', json] = text.split('\n\n', 2).map((part) => part.trim());
  const [line = '', ...headers] = head.split('\n');
  const [method = '', path = ''] = line.split(' ');
  const extraHeaders = Object.fromEntries(headers.map((header) => header.split(': ') as [string, string]));
  const body = json === undefined ? undefined : JSON.parse(json);
  const answer = await call(app, app.adminToken, method, path, body, extraHeaders);
  expect([answer.status >= 200 && answer.status < 300, answer.body], text).toEqual([true, answer.body]);
  return answer.body;
}

test('every example of the page on automations works in sequence', async () => {
  const reader = new PageReader(app.organizationId);
  expect(blocks.length).toBeGreaterThan(8);
  for (const { kind, text } of blocks) {
    const filled = reader.fill(text);
    if (kind === 'http') {
      reader.see(await send(filled));
      continue;
    }
    expect(validate(schema, parse(filled)), text).toEqual([]);
    const { data, errors } = await graphql(app, app.adminToken, filled);
    expect(errors, text).toBe(undefined);
    expect(JSON.stringify(data).match(/"userErrors":\[[^\]]+\]/g), text).toBe(null);
    reader.see(data);
  }
});

test('its runs have started sessions', async () => {
  const { data } = await graphql(
    app,
    app.adminToken,
    `query($id: ID!) { organization(id: $id) { automations(first: 20) { nodes { runs(first: 20) { nodes { status error { message } } } } } } }`,
    { id: app.organizationId },
  );
  const runs = data.organization.automations.nodes.flatMap((each: any) => each.runs.nodes);
  expect(runs.length).toBeGreaterThan(1);
  expect(runs.filter(({ status }: any) => status === 'FAILED')).toEqual([]);
});

const rules = [...page.matchAll(/^\| `([^`]*FREQ=[^`]*)` \| [^|]* \| (\d{4}-\d\d-\d\d \d\d:\d\d) \|$/gm)].map(
  ([, rule = '', first = '']) => [rule, first] as const,
);

test('its table contains rules', () => {
  expect(rules.length).toBeGreaterThan(10);
});

test.each(rules)(
  'the rule %s of its table is accepted, and its first occurrence is the documented one',
  async (rule, first) => {
    (app.app.services as { now: () => Date }).now = () => new Date('2026-12-01T00:00:00Z');
    const triggers = [recurring(rule.replaceAll('\\n', '\n'))];
    const input = { organizationId: app.organizationId, triggers };
    const made = await createAutomation(app, input, app.adminToken, 'nextRunAt');
    expect(made).toMatchObject({
      userErrors: [],
      automation: { nextRunAt: `${first.replace(' ', 'T')}:00.000Z` },
    });
  },
);
