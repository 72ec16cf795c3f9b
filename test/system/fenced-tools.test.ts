import { afterAll, beforeAll, expect, it } from 'vitest';
import { call, startApp, type TestApp } from '../support/app.ts';
import { writeProfiles } from '../support/profiles.ts';
import { readSession, sendMessage } from '../support/reports.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { readEvents, waitUntilEnded } from '../support/session-waits.ts';
import { createSession } from '../support/sessions.ts';

let s3: S3Server;
let test: TestApp;
beforeAll(async () => {
  s3 = await startS3Server();
  const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'test-secret-key' };
  const bucket = { bucket: 'files', region: 'eu-central-1', endpoint: s3.endpoint, credentials };
  const agentsConfig = await writeProfiles({ warm_ttl_ms: 60_000 });
  test = await startApp({ roles: ['api', 'worker'], agentsConfig, s3: bucket, maxConcurrentSessions: 2 });
});
afterAll(async () => {
  await test.close();
  s3.close();
});

/** The stored objects without those of checkpoints. */
const countFiles = () => [...s3.objects.keys()].filter((key) => !key.includes('/checkpoints/')).length;

const toolsOf = async (id: string) =>
  (await readEvents(test, id)).filter(({ kind }) => kind === 'TOOL_CALL').map(({ toolStatus }) => toolStatus);

// The file is being uploaded to the bucket, and the log entry is still missing.
it.each([
  ['terminated', (id: string) => call(test, test.v1Key, 'DELETE', `/v1/sessions/${id}`)],
  [
    'suspended',
    (id: string) =>
      call(test, test.adminToken, 'POST', `/v3/organizations/${test.organizationId}/sessions/${id}/archive`),
  ],
])(
  'an open tool call of a session that is %s changes nothing and leaves nothing behind',
  async (_how, stop) => {
    const id = await createSession(test, { prompt: 'write report.txt all is well' });
    await waitUntilEnded(test, id);
    const before = countFiles();
    const { reached, release } = s3.holdNext();
    await sendMessage(test, id, 'mcp upload_attachment {"path": "report.txt"}\nsay never');
    await reached;
    expect((await toolsOf(id)).at(-1)).toBe('in_progress');
    expect((await stop(id)).status).toBe(200);
    const events = await readEvents(test, id);
    expect((await toolsOf(id)).at(-1)).toBe('failed');
    const deletions = () => s3.requests.filter((request) => request.startsWith('DELETE')).length;
    const deletedBefore = deletions();
    release();
    while (deletions() === deletedBefore) await new Promise((resolve) => setImmediate(resolve));
    while ((test.app.worker?.active() ?? 0) > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(countFiles()).toBe(before);
    expect(await readEvents(test, id)).toEqual(events);
    expect((await readSession(test, id)).attachments.nodes).toEqual([]);
  },
  90_000,
);
