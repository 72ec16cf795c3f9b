import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createForges, type Forges } from '../../src/forges/forges.ts';
import { ForgeError } from '../../src/forges/interface/errors.ts';
import { type ForgeAnswer, type ForgeServer, startForgeServer } from '../support/forges/forge-server.ts';
import { runs, seed } from '../support/property-runs.ts';

const secret = 'a secret of webhooks';
const kinds = ['github_token', 'gitlab_token', 'gitea_token'] as const;
let server: ForgeServer;
let forges: Forges;
let answer: () => ForgeAnswer;

beforeAll(async () => {
  server = await startForgeServer(() => answer());
  forges = createForges({ allowHttp: true });
});
afterAll(async () => {
  await forges.close();
  await server.close();
});

function opened(kind: (typeof kinds)[number]) {
  const forge = forges.open({ kind, host: server.url, token: 'a-token', webhookSecret: secret });
  if (!forge.pullRequests || !forge.webhooks) throw new Error('The forge has no pull requests.');
  return { ...forge, pulls: forge.pullRequests, webhooks: forge.webhooks };
}
const repository = { id: 1, 'full_name': 'acme/site', name: 'site', private: false, 'default_branch': 'main' };
const pull = {
  number: 1,
  'html_url': 'https://github.test/acme/site/pull/1',
  title: 'A title',
  state: 'open',
  head: { ref: 'feature', sha: 'a'.repeat(40), repo: { 'full_name': 'acme/site' } },
  base: { ref: 'main' },
};

it('rejects with a ForgeError, or succeeds, whatever JSON the forge sends', async () => {
  const mutated = (value: object) =>
    fc.dictionary(fc.constantFrom(...Object.keys(value)), fc.jsonValue()).map((change) => ({ ...value, ...change }));
  const body = fc.oneof(fc.jsonValue(), mutated(repository), mutated(pull), fc.array(mutated(pull), { maxLength: 3 }));
  const sample = fc.tuple(
    fc.constantFrom(...kinds),
    body,
    fc.constantFrom(200, 200, 200, 201, 401, 403, 404, 409, 422, 500),
  );
  await fc.assert(
    fc.asyncProperty(sample, async ([kind, content, status]) => {
      answer = () => ({ status, body: content });
      const { pulls, ...forge } = opened(kind);
      const calls = [
        forge.getRepository('acme/site'),
        forge.accessOf('acme/site', 'octocat'),
        forge.listRepositories(),
        pulls.read('acme/site', 1),
        pulls.comments('acme/site', 1),
        pulls.create('acme/site', { title: 'x', body: '', headBranch: 'feature', baseBranch: 'main' }),
      ];
      for (const result of await Promise.allSettled(calls)) {
        if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(ForgeError);
      }
    }),
    { seed, ...runs(60) },
  );
});

it('throws a ForgeError, or reads it, whatever a signed webhook contains', () => {
  const payload = fc.record({
    'object_kind': fc.constantFrom('merge_request', 'note', 'build', 'pipeline', 'push'),
    repository: fc.constant(repository),
    project: fc.constant({ 'path_with_namespace': 'acme/site' }),
    'pull_request': fc.oneof(fc.constant(pull), fc.jsonValue()),
    comment: fc.jsonValue(),
    review: fc.jsonValue(),
    'check_run': fc.jsonValue(),
    'object_attributes': fc.jsonValue(),
  });
  const body = fc.oneof(
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value))),
    payload.map((value) => Buffer.from(JSON.stringify(value))),
    fc.uint8Array(),
  );
  const name = fc.constantFrom(
    'pull_request',
    'check_run',
    'status',
    'issue_comment',
    'pull_request_review',
    'push',
    'pull_request_approved',
    '__proto__',
    'constructor',
  );
  fc.assert(
    fc.property(fc.constantFrom(...kinds), body, name, (kind, bytes, event) => {
      const hex = createHmac('sha256', secret).update(bytes).digest('hex');
      const headers = {
        'x-hub-signature-256': `sha256=${hex}`,
        'x-github-event': event,
        'x-gitea-signature': hex,
        'x-gitea-event': event,
        'x-gitlab-token': secret,
      };
      try {
        expect(opened(kind).webhooks.parse(headers, bytes).digest).toHaveLength(64);
      } catch (error) {
        expect(error).toBeInstanceOf(ForgeError);
        expect((error as ForgeError).code).toBe('INVALID_RESPONSE');
      }
    }),
    { seed, ...runs(300) },
  );
});
