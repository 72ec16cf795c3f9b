import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getOperationAST, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/api/graphql/schema/index.ts';
import { graphql } from '../support/app.ts';
import { createAutomation } from '../support/automations.ts';
import { PageReader } from '../support/page-reader.ts';
import { runMutation } from '../support/people.ts';
import { seedQuestion } from '../support/questions.ts';
import { saveCheckpoint } from '../support/session-checkpoints.ts';
import { createSession } from '../support/sessions.ts';
import { connect, follow } from '../support/sockets.ts';
import { root } from '../support/tree.ts';
import { useApp } from '../support/use-app.ts';
import { makeEndpoint } from '../support/webhooks.ts';

const app = useApp();

const page = readFileSync(join(root, 'docs/graphql.md'), 'utf8');
const blocks = [...page.matchAll(/^```graphql\n([\s\S]*?)^```/gm)].map(([, text]) => text as string);

test('every document of the tour works in sequence', async () => {
  const reader = new PageReader(app.organizationId);
  expect(blocks.length).toBeGreaterThan(4);
  // A run and a delivery, which subscriptions of the page report.
  const organizationId = `org-${app.organizationId}`;
  const { automation } = await createAutomation(app, { organizationId });
  await runMutation(app, 'runAutomation', 'run { automationRunId }', { automationId: automation.automationId });
  const endpoint = { organizationId, url: 'https://hooks.example/', eventTypes: ['SESSION_MESSAGE'] };
  const { webhookEndpointId } = await makeEndpoint(app, app.adminToken, endpoint);
  await runMutation(app, 'testWebhookEndpoint', 'webhookDelivery { id }', { webhookEndpointId });
  for (const block of blocks) {
    // No worker runs the agent in this test, so the test writes its question.
    if (block.includes('pendingQuestion { questionId reason')) {
      await seedQuestion(app, reader.fill('devin-…'), 'question', 'Which colour?');
    }
    // Nor does it save a workspace. The session so far is archived.
    if (block.includes('rewindSession(')) {
      const id = await createSession(app, { prompt: 'Write a test' });
      reader.see([`devin-${id}`]);
      await app.app.services.store.execute('update run set turn_count = 1 where session_id = $1', [id]);
      await saveCheckpoint(app, id, { kind: 'TURN_END', turn: 1 });
    }
    const query = reader.fill(block);
    const document = parse(query);
    expect(validate(schema, document), block).toEqual([]);
    const variables = { id: query.includes('$id') ? reader.fill('devin-…') : undefined };
    if (getOperationAST(document)?.operation === 'subscription') {
      const { watches, services } = app.app;
      const before = watches.active();
      const following = follow(connect(app.url, app.adminToken), query, variables);
      while (watches.active() === before) await new Promise((resolve) => setImmediate(resolve));
      // A change for the subscriptions that report only changes after their start.
      await services.store.execute('update session set is_fresh = not is_fresh');
      await services.store.execute('update automation_run set attempts = attempts + 1');
      await services.store.execute('update webhook_delivery set attempt_count = attempt_count + 1');
      const [first] = await following.take(1);
      expect(first, block).toEqual({ data: expect.anything() });
      continue;
    }
    const { data, errors } = await graphql(app, app.adminToken, query, variables);
    expect(errors, block).toBe(undefined);
    expect(JSON.stringify(data).match(/"userErrors":\[[^\]]+\]/g), block).toBe(null);
    reader.see(data);
  }
});
