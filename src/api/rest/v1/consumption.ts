import { z } from '@hono/zod-openapi';
import type { Context } from '../../../domain/context.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { sessionUrl } from '../../../domain/sessions/session.ts';
import { cycleOf } from '../../../domain/usage/consumption/cycles.ts';
import {
  listSessionConsumption,
  type SessionConsumption,
} from '../../../domain/usage/consumption/session-consumption.ts';
import { streamJson } from '../json-stream.ts';
import { textParam } from '../query.ts';
import { invalidRequest } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { time } from './dialect.ts';

const dayMs = 24 * 60 * 60 * 1_000;
/** The longest period of a query, in days. It equals the domain's limit, and is stated here in this version's names. */
const maxDays = 400;
/** The number of sessions read at a time. */
const batch = { max: 2_000, default: 2_000 } as const;

/** The error of a date that is missing or is none (docs/wire/consumption.md#version-1). */
const badDate = 'Invalid date format. Dates must be in ISO format (YYYY-MM-DD)';

const dateParam = (name: 'start_date' | 'end_date', description: string) => {
  const refused = (value: unknown) => ({ code: 'custom' as const, message: badDate, input: value });
  return textParam(name, { description })
    .transform((text, check) => {
      const at = text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(text) : null;
      // February 31st: V8 reads it as March 3rd, or as an invalid date.
      if (at && !Number.isNaN(at.getTime()) && dateOf(at) === text && text >= '1970' && text < '9999') return at;
      check.addIssue(refused(text));
      return z.NEVER;
    })
    .openapi({ param: { name, in: 'query', required: true }, type: 'string', format: 'date', description });
};

const periodQuery = z.object({
  start_date: dateParam('start_date', 'The first day, UTC.'),
  end_date: dateParam('end_date', 'The last day, UTC, which is part of it. At most 400 days in all.'),
});

const dateOf = (at: Date) => at.toISOString().slice(0, 10);
const date = z.string().openapi({ format: 'date' });

const consumptionSession = z
  .object({
    user_name: z.string(),
    user_email: z.string().openapi({ format: 'email' }),
    session_name: z.string(),
    created_at: z.string().openapi({ format: 'date-time' }),
    acu_used: z.number(),
    url: z.string().openapi({ format: 'uri' }),
    org_id: z.string(),
    org_name: z.string(),
    pull_requests: z.array(
      z
        .object({ pr_url: z.string().openapi({ format: 'uri' }), pr_status: z.enum(['open', 'closed', 'merged']) })
        .openapi('ConsumptionPullRequest'),
    ),
  })
  .openapi('ConsumptionSession');

const consumptionResponse = z
  .object({
    sessions: z.array(consumptionSession),
    cycle: z.object({ start: date, end: date }).openapi('ConsumptionCycle', {
      description: 'The cycle that `start_date` is in: a calendar month, UTC, its last day included.',
    }),
  })
  .openapi('EnterpriseConsumptionResponse');

function presentSession(context: Context, session: SessionConsumption): z.input<typeof consumptionSession> {
  return {
    user_name: session.creatorName ?? 'Service key',
    user_email: session.creatorEmail ?? addressOf(session),
    session_name: session.title ?? 'Deleted session',
    created_at: time(session.createdAt),
    acu_used: session.acus,
    url: sessionUrl(context, session.sessionId),
    org_id: prefixedId('organization', session.organizationId),
    org_name: session.organizationName,
    pull_requests: session.pullRequests.map(({ url, state }) => ({ pr_url: url, pr_status: state })),
  };
}

// The wire requires an email address for everybody, and only users have one. Others get an address that can never
// receive mail.
function addressOf({ serviceUserId }: SessionConsumption): string {
  const name = serviceUserId === null ? 'service-key' : prefixedId('serviceUser', serviceUserId);
  return `${name}@no-address.invalid`;
}

// The sessions as JSON, separated by commas, one batch at a time.
async function* sessionBatches(
  context: Context,
  period: { timeAfter: Date; timeBefore: Date },
): AsyncGenerator<string, undefined> {
  for (let after: string | null = null; ; ) {
    const page = await listSessionConsumption(context, { ...period, after }, batch);
    const last = page.items.at(-1);
    if (last) yield page.items.map((session) => JSON.stringify(presentSession(context, session))).join(',');
    if (!page.hasNextPage || !last) return undefined;
    after = page.cursorOf(last);
  }
}

/** `/v1/enterprise/consumption`, also without `/v1` (docs/wire/consumption.md#version-1). */
export function serveConsumption(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v1/enterprise/consumption', '/enterprise/consumption'],
      name: 'getEnterpriseConsumption',
      successor: 'GET /v3/enterprise/consumption/daily',
      summary: 'What the sessions of the enterprise have consumed, the newest session first',
      query: periodQuery,
      answer: consumptionResponse,
      refusals: [400, 403],
      badInput: 400,
    },
    async ({ context, query }) => {
      const { start_date: start, end_date: end } = query;
      const timeBefore = new Date(end.getTime() + dayMs);
      const refused = (msg: string) => invalidRequest([{ loc: ['query', 'end_date'], msg, type: 'value_error' }]);
      if (end < start) throw refused('"end_date" must not be before "start_date".');
      if (timeBefore.getTime() - start.getTime() > maxDays * dayMs) {
        throw refused(`"end_date" must be less than ${maxDays} days after "start_date".`);
      }
      const cycle = cycleOf(start);
      const shown = { start: dateOf(cycle.startsAt), end: dateOf(new Date(cycle.endsAt.getTime() - dayMs)) };
      return streamJson(context, {
        opening: '{"sessions":[',
        batches: sessionBatches(context, { timeAfter: start, timeBefore }),
        closing: `],"cycle":${JSON.stringify(shown)}}`,
      });
    },
  );
}
