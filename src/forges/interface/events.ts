import type { ForgeAccount } from './account.ts';

import type { Check, CommentLocation, PullRequestState, ReviewState } from './pull-requests.ts';

/** A pull request as webhooks describe it: less than the API does. */
export interface EventPullRequest {
  readonly number: number;
  readonly url: string;
  readonly title: string;
  readonly state: PullRequestState;
  readonly headBranch: string;
  readonly headCommit: string | null;
  readonly baseBranch: string;
}

/** An event that sessions react to. The receiver reads the current state through the API: events arrive twice and out of order. */
export type ForgeEvent =
  | { readonly type: 'pull_request'; readonly pullRequest: EventPullRequest }
  | {
      readonly type: 'check';
      readonly commit: string;
      readonly branch: string | null;
      readonly check: Check;
      /** The numbers of pull requests; empty if the forge does not say. */
      readonly pullRequests: readonly number[];
    }
  | {
      readonly type: 'review';
      readonly number: number;
      readonly review: {
        readonly id: string;
        readonly author: ForgeAccount | null;
        readonly state: ReviewState;
        readonly body: string;
      };
    }
  | {
      readonly type: 'comment';
      readonly number: number;
      readonly comment: {
        readonly id: string;
        readonly author: ForgeAccount | null;
        readonly body: string;
        readonly url: string | null;
        readonly location: CommentLocation | null;
      };
    }
  | {
      readonly type: 'push';
      /** The whole name: `refs/heads/main`. */
      readonly ref: string;
      /** Null: the ref is new. */
      readonly before: string | null;
      /** Null: the ref was deleted. */
      readonly after: string | null;
    };

/** A verified webhook. */
export interface ForgeDelivery {
  /** The forge's id of the delivery, the same for each attempt; the digest if it sends none. The signature does not cover it. */
  readonly id: string;
  /** SHA-256 of the body in hexadecimal: the same for a body that was sent twice under different ids. */
  readonly digest: string;
  /** The forge's name of the event, such as `pull_request` or `merge_request`. */
  readonly name: string;
  /** The forge's action, such as `opened`; null: none. */
  readonly action: string | null;
  /** The path of the repository; null for events of an account. */
  readonly repository: string | null;
  readonly sender: ForgeAccount | null;
  /** Null: an event that sessions do not react to. */
  readonly event: ForgeEvent | null;
  /** The whole verified JSON, as the forge sent it: unbounded within {@link maxWebhookBytes}, with any text. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The headers of a request, with lower-case names. */
export type WebhookHeaders = Readonly<Record<string, string | undefined>>;

/** The webhooks of a connection. */
export interface Webhooks {
  /**
   * Verifies the signature over the bytes of the body, and only then parses it. Throws INVALID_SIGNATURE, or
   * INVALID_RESPONSE for a signed body that is not of the forge's API.
   */
  parse(headers: WebhookHeaders, body: Uint8Array): ForgeDelivery;
}

/** The maximum length of a webhook's body, in bytes. GitHub sends up to 25 MB; the events above are far smaller. */
export const maxWebhookBytes: number = 5 * 1024 * 1024;
