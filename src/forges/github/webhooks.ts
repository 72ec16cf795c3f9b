import { z } from 'zod';
import { checkShape } from '../http/responses.ts';
import { invalidResponse } from '../interface/errors.ts';
import type { EventPullRequest, ForgeEvent, Webhooks } from '../interface/events.ts';
import type { PullRequest } from '../interface/pull-requests.ts';
import { lookUp } from '../support/lookup.ts';
import { repositoryPath } from '../support/paths.ts';
import { commitId, optionalBranch } from '../support/text.ts';
import { digestOf, invalidSignature, isHmac, limitBody, parsePayload, toPayload } from '../support/verify-webhook.ts';
import {
  account,
  checkRun,
  commitStatus,
  issueComment,
  pullRequestShape,
  review,
  reviewComment,
  toPullRequest,
} from './shapes.ts';

/** Options of {@link createGithubWebhooks}. */
export interface WebhookOptions {
  readonly host: string;
  readonly baseUrl: string;
  /** Null: every webhook is refused. */
  readonly secret: string | null;
}

const envelope = z.looseObject({
  action: z.string().max(100).nullish(),
  repository: z.object({ 'full_name': repositoryPath() }).nullish(),
  sender: account,
});

const number = z.number().int().positive();
const pullNumber = z.object({ number });

/** Creates the webhooks of GitHub. Unsigned and SHA-1 signatures are refused. */
export function createGithubWebhooks({ host, baseUrl, secret }: WebhookOptions): Webhooks {
  return {
    parse(headers, body) {
      limitBody(body, host);
      const signature = /^sha256=([0-9a-f]{64})$/i.exec(headers['x-hub-signature-256'] ?? '')?.[1] ?? '';
      // Without a secret the comparison still takes as long.
      const isSigned = isHmac(secret || 'no secret', body, signature);
      if (!secret || !isSigned) throw invalidSignature(Boolean(secret));
      const name = headers['x-github-event'] ?? '';
      if (!/^[a-z_]{1,100}$/.test(name)) throw invalidResponse(host, 'its webhook has no name of an event');
      const payload = parsePayload(body, headers['content-type'], host);
      const { action, repository, sender } = checkShape(envelope, payload, host);
      const path = repository?.full_name ?? null;
      const urlOf = (pull: number) => `${baseUrl}/${path}/pull/${pull}`;
      const readEvent = path === null ? undefined : lookUp(events, name);
      const digest = digestOf(body);
      const id = headers['x-github-delivery'] ?? '';
      return {
        id: /^[\w-]{1,100}$/.test(id) ? id : digest,
        digest,
        name,
        action: action ?? null,
        repository: path,
        sender,
        event: readEvent?.(payload, urlOf, host) ?? null,
        payload: toPayload(payload),
      };
    },
  };
}

type EventReader = (payload: unknown, urlOf: (number: number) => string, host: string) => ForgeEvent | null;

const ref = z.string().max(300).startsWith('refs/');
const pullShape = z.object({ 'pull_request': pullRequestShape });
const runShape = z.object({
  'check_run': z.object({ 'head_sha': commitId }).and(checkRun),
});
const runLinks = z.object({
  'check_run': z.object({
    'check_suite': z.object({ 'head_branch': optionalBranch }).nullish(),
    'pull_requests': pullNumber.array().max(100).nullish(),
  }),
});
const statusShape = z.object({ sha: commitId }).and(commitStatus);
const reviewShape = z.object({ review, 'pull_request': pullNumber });
const lineCommentShape = z.object({ comment: reviewComment, 'pull_request': pullNumber });
const commentShape = z.object({
  comment: issueComment,
  issue: z.object({ number, 'pull_request': z.object({}).nullish() }),
});
const pushShape = z.object({ ref, before: commitId, after: commitId });

const events: Readonly<Record<string, EventReader>> = {
  'pull_request': (payload, urlOf, host) => {
    const { 'pull_request': pull } = checkShape(pullShape, payload, host);
    return { type: 'pull_request', pullRequest: briefly(toPullRequest(pull, urlOf(pull.number))) };
  },
  'check_run': (payload, _urlOf, host) => {
    const { 'check_run': run } = checkShape(runShape, payload, host);
    const { 'check_run': links } = checkShape(runLinks, payload, host);
    const { commit: _, 'head_sha': commit, ...check } = run;
    const pullRequests = (links.pull_requests ?? []).map((each) => each.number);
    return { type: 'check', commit, branch: links.check_suite?.head_branch ?? null, check, pullRequests };
  },
  status: (payload, _urlOf, host) => {
    const { sha, ...check } = checkShape(statusShape, payload, host);
    return { type: 'check', commit: sha, branch: null, check, pullRequests: [] };
  },
  'pull_request_review': (payload, _urlOf, host) => {
    const data = checkShape(reviewShape, payload, host);
    const { id, author, state, body } = data.review;
    return { type: 'review', number: data.pull_request.number, review: { id, author, state, body } };
  },
  'pull_request_review_comment': (payload, _urlOf, host) => {
    const data = checkShape(lineCommentShape, payload, host);
    const { id, author, body, url, location } = data.comment;
    return { type: 'comment', number: data.pull_request.number, comment: { id, author, body, url, location } };
  },
  'issue_comment': (payload, _urlOf, host) => {
    const data = checkShape(commentShape, payload, host);
    if (!data.issue.pull_request) return null;
    const { id, author, body, url, location } = data.comment;
    return { type: 'comment', number: data.issue.number, comment: { id, author, body, url, location } };
  },
  push: (payload, _urlOf, host) => {
    const data = checkShape(pushShape, payload, host);
    const orNull = (commit: string) => (/^0+$/.test(commit) ? null : commit);
    return { type: 'push', ref: data.ref, before: orNull(data.before), after: orNull(data.after) };
  },
};

/** The part of a pull request that events have. */
export function briefly({
  number,
  url,
  title,
  state,
  headBranch,
  headCommit,
  baseBranch,
}: PullRequest): EventPullRequest {
  return { number, url, title, state, headBranch, headCommit, baseBranch };
}
