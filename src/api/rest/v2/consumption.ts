import { z } from '@hono/zod-openapi';
import { prefixedId } from '../../../domain/ids.ts';
import { getConsumptionSummary, listCycleConsumption } from '../../../domain/usage/consumption/summary.ts';
import { listParam, textParam } from '../query.ts';
import { invalidRequest } from '../refusal.ts';
import type { VersionApi } from '../version-api.ts';
import { requireAdministratorKey } from './dialect.ts';

const bound = (name: string, description: string) =>
  textParam(name, { description: `${description} ISO 8601; a date without a time is midnight, UTC.` });

const dailyQuery = z.object({
  start_date: bound('start_date', 'At this time or later. Default: the start of the current cycle.'),
  end_date: bound('end_date', 'At this time or earlier. Default: the end of the current cycle.'),
  start: bound('start', 'The same as `start_date`.'),
  end: bound('end', 'The same as `end_date`.'),
  org_ids: listParam('org_ids', { description: 'Only what was used in these organizations.' }),
});

const sums = (of: string) => z.record(z.string(), z.number()).openapi({ description: `ACUs by ${of}.` });

const dailyResponse = z
  .object({
    total_acus: z.number(),
    consumption_by_date: sums('date, UTC'),
    consumption_by_org_id: sums('organization'),
    consumption_by_user: sums('user or service user; service keys have one sum, `service-key`'),
  })
  .openapi('ConsumptionResponse');

const cycleTime = z.string().openapi({ format: 'date-time' });
const cycleResponse = z
  .object({
    start: cycleTime,
    end: cycleTime,
    start_date: cycleTime,
    end_date: cycleTime,
    acus_used: z
      .number()
      .nullable()
      .openapi({ description: 'Null for what lies more than twelve cycles back: ask for its daily consumption.' }),
  })
  .openapi('BillingCycle');

/** A time or a date; without an offset it is in UTC. */
const isoTime = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

function parseTime(name: string, text: string): Date {
  const isLocal = text.includes('T') && !/(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const at = isoTime.test(text) ? new Date(isLocal ? `${text}Z` : text) : new Date(Number.NaN);
  if (!Number.isNaN(at.getTime())) return at;
  const msg = `"${name}" must be an ISO 8601 time or date, but was ${JSON.stringify(text.slice(0, 60))}.`;
  throw invalidRequest([{ loc: ['query', name], msg, type: 'value_error' }]);
}

// `start_date` wins over its alias. Errors name the parameter that the client sent.
function parseBounds(query: z.output<typeof dailyQuery>): {
  timeAfter?: Date | undefined;
  timeBefore?: Date | undefined;
} {
  const read = (...names: ('start_date' | 'end_date' | 'start' | 'end')[]) => {
    const name = names.find((each) => query[each] !== undefined);
    return name && parseTime(name, query[name] ?? '');
  };
  const end = read('end_date', 'end');
  // The end is part of the period, to the millisecond that the ledger is kept in (docs/wire/consumption.md#version-2).
  return { timeAfter: read('start_date', 'start'), timeBefore: end && new Date(end.getTime() + 1) };
}

const principalKey = ({ userId, serviceUserId }: { userId: string | null; serviceUserId: string | null }) => {
  if (userId !== null) return prefixedId('user', userId);
  return serviceUserId === null ? 'service-key' : prefixedId('serviceUser', serviceUserId);
};

/** `/v2/enterprise/consumption`: for personal keys of administrators. */
export function serveConsumption(api: VersionApi): void {
  api.serve(
    {
      method: 'get',
      paths: ['/v2/enterprise/consumption/daily'],
      name: 'getDailyConsumption',
      successor: 'GET /v3/enterprise/consumption/daily',
      summary: 'What the enterprise has consumed by date, by organization and by user',
      query: dailyQuery,
      answer: dailyResponse,
      refusals: [403, 422],
    },
    async ({ context, query }) => {
      requireAdministratorKey(context, 'personal');
      const request = { ...parseBounds(query), organizationIds: query.org_ids };
      const summary = await getConsumptionSummary(context, request);
      return {
        total_acus: summary.totalAcus,
        consumption_by_date: Object.fromEntries(
          summary.days.map(({ startsAt, acus }) => [startsAt.toISOString().slice(0, 10), acus]),
        ),
        consumption_by_org_id: Object.fromEntries(
          summary.organizations.map(({ organizationId, acus }) => [prefixedId('organization', organizationId), acus]),
        ),
        consumption_by_user: Object.fromEntries(
          summary.principals.map((principal) => [principalKey(principal), principal.acus]),
        ),
      };
    },
  );

  api.serve(
    {
      method: 'get',
      paths: ['/v2/enterprise/consumption/cycles'],
      name: 'listConsumptionCycles',
      successor: 'GET /v3/enterprise/consumption/cycles',
      summary: 'The cycles of the enterprise, the first one first',
      answer: z.array(cycleResponse),
      refusals: [403],
    },
    async ({ context }) => {
      requireAdministratorKey(context, 'personal');
      return (await listCycleConsumption(context)).map(({ startsAt, endsAt, acus }) => {
        const start = startsAt.toISOString();
        const end = new Date(endsAt.getTime() - 1).toISOString();
        return { start, end, start_date: start, end_date: end, acus_used: acus };
      });
    },
  );
}
