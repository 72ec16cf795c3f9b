import { z } from 'zod';
import { account, issueComment, pullRequestShape, toPullRequest } from '../github/shapes.ts';
import { briefly, type WebhookOptions } from '../github/webhooks.ts';
import { checkShape, parseJson } from '../http/responses.ts';
import { invalidResponse } from '../interface/errors.ts';
import type { ForgeEvent, Webhooks } from '../interface/events.ts';
import type { ReviewState } from '../interface/pull-requests.ts';
import { lookUp } from '../support/lookup.ts';
import { repositoryPath } from '../support/paths.ts';
import { bodyText, commitId } from '../support/text.ts';
import { digestOf, invalidSignature, isHmac, limitBody, toPayload } from '../support/verify-webhook.ts';
import { commitStatus } from './shapes.ts';

const envelope = z.looseObject({
  action: z.string().max(100).nullish(),
  repository: z.object({ 'full_name': repositoryPath() }).nullish(),
  sender: account.catch(null),
});

/** Creates the webhooks of Gitea and Forgejo. */
export function createGiteaWebhooks({ host, baseUrl, secret }: WebhookOptions): Webhooks {
  return {
    parse(headers, body) {
      limitBody(body, host);
      const signature = headers['x-gitea-signature'] ?? headers['x-forgejo-signature'] ?? '';
      const isSigned = isHmac(secret || 'no secret', body, signature);
      if (!secret || !isSigned) throw invalidSignature(Boolean(secret));
      const name = headers['x-gitea-event'] ?? headers['x-forgejo-event'] ?? '';
      if (!/^[a-z_]{1,100}$/.test(name)) throw invalidResponse(host, 'its webhook has no name of an event');
      const payload = parseJson(body, host);
      const { action, repository, sender } = checkShape(envelope, payload, host);
      const path = repository?.full_name ?? null;
      const readEvent = path === null ? undefined : lookUp(events, name);
      const digest = digestOf(body);
      const id = headers['x-gitea-delivery'] ?? headers['x-forgejo-delivery'] ?? '';
      return {
        id: /^[\w-]{1,100}$/.test(id) ? id : digest,
        digest,
        name,
        action: action ?? null,
        repository: path,
        sender,
        event: readEvent?.(payload, (number) => `${baseUrl}/${path}/pulls/${number}`, host) ?? null,
        payload: toPayload(payload),
      };
    },
  };
}

type EventReader = (payload: unknown, urlOf: (number: number) => string, host: string) => ForgeEvent | null;

const pullShape = z.object({ 'pull_request': pullRequestShape });
const number = z.number().int().positive();
const commentShape = z.object({
  'comment': issueComment,
  'is_pull': z.boolean().nullish(),
  'issue': z.object({ number, 'pull_request': z.object({}).nullish() }),
});
const reviewShape = z.object({
  'sender': account,
  'pull_request': z.object({ number }),
  'review': z.object({ content: bodyText() }).nullish(),
});
const statusShape = z.object({ sha: commitId }).and(commitStatus);
const pushShape = z.object({ ref: z.string().max(300).startsWith('refs/'), before: commitId, after: commitId });

const readPull: EventReader = (payload, urlOf, host) => {
  const { 'pull_request': pull } = checkShape(pullShape, payload, host);
  return { type: 'pull_request', pullRequest: briefly(toPullRequest(pull, urlOf(pull.number))) };
};

const readComment: EventReader = (payload, _urlOf, host) => {
  const data = checkShape(commentShape, payload, host);
  if (!data.is_pull && !data.issue.pull_request) return null;
  const { id, author, body, url, location } = data.comment;
  return { type: 'comment', number: data.issue.number, comment: { id, author, body, url, location } };
};

// The payload has no id of the review.
const reviewReader =
  (state: ReviewState): EventReader =>
  (payload, _urlOf, host) => {
    const { sender, 'pull_request': pull, review } = checkShape(reviewShape, payload, host);
    const id = `${state}:${sender?.id ?? '0'}`;
    return { type: 'review', number: pull.number, review: { id, author: sender, state, body: review?.content ?? '' } };
  };

const events: Readonly<Record<string, EventReader>> = {
  'pull_request': readPull,
  'pull_request_sync': readPull,
  'pull_request_label': readPull,
  'pull_request_approved': reviewReader('approved'),
  'pull_request_rejected': reviewReader('changes_requested'),
  'pull_request_comment': reviewReader('commented'),
  'issue_comment': readComment,
  status: (payload, _urlOf, host) => {
    const { sha, ...check } = checkShape(statusShape, payload, host);
    return { type: 'check', commit: sha, branch: null, check, pullRequests: [] };
  },
  push: (payload, _urlOf, host) => {
    const data = checkShape(pushShape, payload, host);
    const orNull = (commit: string) => (/^0+$/.test(commit) ? null : commit);
    return { type: 'push', ref: data.ref, before: orNull(data.before), after: orNull(data.after) };
  },
};
