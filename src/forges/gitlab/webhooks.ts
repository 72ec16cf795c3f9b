import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { checkShape, parseJson } from '../http/responses.ts';
import type { ForgeEvent, WebhookHeaders, Webhooks } from '../interface/events.ts';
import { lookUp } from '../support/lookup.ts';
import { repositoryPath } from '../support/paths.ts';
import { bodyText, branchName, commitId, idText, nameText, optionalCommit, webUrl } from '../support/text.ts';
import { digestOf, invalidSignature, isSame, limitBody, toPayload } from '../support/verify-webhook.ts';
import { account, checkStateOf, draftPrefix, notePosition } from './shapes.ts';

/** Options of {@link createGitlabWebhooks}. */
export interface GitlabWebhookOptions {
  readonly host: string;
  readonly baseUrl: string;
  /** A signing token (`whsec_…`), or a secret token; null: every webhook is refused. */
  readonly secret: string | null;
}

const envelope = z.looseObject({
  'object_kind': z.string().regex(/^[a-z_]{1,100}$/),
  'project': z.object({ 'path_with_namespace': repositoryPath(null) }).nullish(),
  'user': account.catch(null),
  'user_id': z.number().int().nullish(),
  'user_username': nameText(100),
  'object_attributes': z.looseObject({ action: z.string().max(100).nullish() }).nullish(),
});

/** Creates the webhooks of GitLab, with a signing token (Standard Webhooks) or the older secret token. */
export function createGitlabWebhooks({ host, baseUrl, secret }: GitlabWebhookOptions): Webhooks {
  return {
    parse(headers, body) {
      limitBody(body, host);
      if (!secret || !isAuthentic(secret, headers, body)) throw invalidSignature(Boolean(secret));
      const payload = parseJson(body, host);
      const data = checkShape(envelope, payload, host);
      const path = data.project?.path_with_namespace ?? null;
      const readEvent = path === null ? undefined : lookUp(events, data.object_kind);
      const digest = digestOf(body);
      const id = headers['webhook-id'] ?? headers['idempotency-key'] ?? headers['x-gitlab-event-uuid'] ?? '';
      const pusher =
        data.user_id == null ? null : { id: String(data.user_id), login: data.user_username, isBot: false };
      return {
        id: /^[\w-]{1,100}$/.test(id) ? id : digest,
        digest,
        name: data.object_kind,
        action: data.object_attributes?.action ?? null,
        repository: path,
        sender: data.user ?? pusher,
        event: readEvent?.(payload, (number) => `${baseUrl}/${path}/-/merge_requests/${number}`, host) ?? null,
        payload: toPayload(payload),
      };
    },
  };
}

// The secret token is sent as it is. A signing token is never sent, and its signature has a time of at most 5 minutes ago.
function isAuthentic(secret: string, headers: WebhookHeaders, body: Uint8Array): boolean {
  if (!/^whsec_[A-Za-z0-9+/=]{20,}$/.test(secret)) return isSame(headers['x-gitlab-token'] ?? '', secret);
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const signed = Object.fromEntries(names.map((name) => [name, headers[name] ?? '']));
  try {
    new Webhook(secret).verify(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body), signed);
    return true;
  } catch {
    return false;
  }
}

type EventReader = (payload: unknown, urlOf: (number: number) => string, host: string) => ForgeEvent | null;

const iid = z.number().int().positive();
const requestShape = z.object({
  'user': account,
  'object_attributes': z.object({
    'iid': iid,
    'url': webUrl,
    'title': nameText(500),
    'state': z.enum(['opened', 'closed', 'locked', 'merged']),
    'draft': z.boolean().nullish(),
    'action': z.string().max(100).nullish(),
    'source_branch': branchName,
    'target_branch': branchName,
    'last_commit': z.object({ id: optionalCommit }).nullish(),
  }),
});
const noteShape = z.object({
  'user': account,
  'merge_request': z.object({ iid }).nullish(),
  'object_attributes': z.object({
    'id': idText,
    'note': bodyText(),
    'url': webUrl,
    'system': z.boolean().nullish(),
    'position': notePosition,
  }),
});
const jobShape = z.object({
  'build_id': idText,
  'build_name': nameText(),
  'build_status': z.string().max(40),
  'build_allow_failure': z.boolean().nullish(),
  'sha': commitId,
  'ref': branchName.nullish().catch(null),
});
const pipelineShape = z.object({
  'object_attributes': z.object({
    'id': idText,
    'status': z.string().max(40),
    'sha': commitId,
    'ref': branchName.nullish().catch(null),
    'url': webUrl,
  }),
  'merge_request': z.object({ iid }).nullish(),
});
const pushShape = z.object({ ref: z.string().max(300).startsWith('refs/'), before: commitId, after: commitId });

const push: EventReader = (payload, _urlOf, host) => {
  const data = checkShape(pushShape, payload, host);
  const orNull = (commit: string) => (/^0+$/.test(commit) ? null : commit);
  return { type: 'push', ref: data.ref, before: orNull(data.before), after: orNull(data.after) };
};

const events: Readonly<Record<string, EventReader>> = {
  'merge_request': (payload, urlOf, host) => {
    const { user, 'object_attributes': each } = checkShape(requestShape, payload, host);
    if (each.action === 'approved' || each.action === 'approval') {
      return {
        type: 'review',
        number: each.iid,
        review: { id: `approved:${user?.id ?? '0'}`, author: user, state: 'approved', body: '' },
      };
    }
    const openState = (each.draft ?? draftPrefix.test(each.title)) ? 'draft' : 'open';
    return {
      type: 'pull_request',
      pullRequest: {
        number: each.iid,
        url: each.url ?? urlOf(each.iid),
        title: each.title,
        state: each.state === 'merged' || each.state === 'closed' ? each.state : openState,
        headBranch: each.source_branch,
        headCommit: each.last_commit?.id ?? null,
        baseBranch: each.target_branch,
      },
    };
  },
  note: (payload, _urlOf, host) => {
    const { user, 'merge_request': request, 'object_attributes': each } = checkShape(noteShape, payload, host);
    if (!request || each.system) return null;
    const comment = { id: each.id, author: user, body: each.note, url: each.url, location: each.position };
    return { type: 'comment', number: request.iid, comment };
  },
  build: (payload, _urlOf, host) => {
    const each = checkShape(jobShape, payload, host);
    const state = checkStateOf(each.build_status, each.build_allow_failure ?? false);
    const check = {
      id: `job:${each.build_id}`,
      name: each.build_name,
      state,
      summary: null,
      url: null,
      hasLog: true,
      completedAt: null,
    };
    return { type: 'check', commit: each.sha, branch: each.ref ?? null, check, pullRequests: [] };
  },
  pipeline: (payload, _urlOf, host) => {
    const { 'object_attributes': each, 'merge_request': request } = checkShape(pipelineShape, payload, host);
    const state = checkStateOf(each.status);
    const check = {
      id: `pipeline:${each.id}`,
      name: 'Pipeline',
      state,
      summary: null,
      url: each.url,
      hasLog: false,
      completedAt: null,
    };
    return {
      type: 'check',
      commit: each.sha,
      branch: each.ref ?? null,
      check,
      pullRequests: request ? [request.iid] : [],
    };
  },
  push,
  'tag_push': push,
};
