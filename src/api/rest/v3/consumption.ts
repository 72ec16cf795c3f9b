import { z } from '@hono/zod-openapi';
import { type ConsumptionSubject, getConsumption } from '../../../domain/usage/consumption/consumption.ts';
import { listCycles } from '../../../domain/usage/consumption/cycles.ts';
import { integerParam } from '../query.ts';
import type { VersionApi } from '../version-api.ts';
import { page, pageOf, pageQuery, presentPage, time, timeSchema } from './dialect.ts';

/** The bounds of a period; each may be left out (docs/wire/consumption.md). */
export const periodQuery = {
  time_after: integerParam('time_after', {
    description: 'At this time or later, in Unix seconds. Left out: from the beginning of the current cycle.',
  }),
  time_before: integerParam('time_before', {
    description:
      'Before this time, in Unix seconds, at most 400 days later. Left out: to the end of the current cycle.',
  }),
};

/** The bounds in the domain's names. */
export function parsePeriod(query: { time_after?: number | undefined; time_before?: number | undefined }) {
  const at = (seconds: number | undefined) => (seconds === undefined ? undefined : new Date(seconds * 1_000));
  return { timeAfter: at(query.time_after), timeBefore: at(query.time_before) };
}

/** The hour, in UTC, at which days of this version begin: midnight in Pacific Standard Time, also in summer. */
const dayStartsAtHour = 8;

const acus = z.number().openapi({ description: 'ACUs.' });

const consumptionResponse = z
  .object({
    total_acus: acus,
    consumption_by_date: z.array(
      z.object({
        date: timeSchema.openapi({ description: 'When the day begins (08:00 UTC), in Unix seconds.' }),
        acus,
        acus_by_product: z
          .object({ devin: acus, cascade: acus, terminal: acus, review: acus })
          .openapi({ description: 'All that is used here is used by sessions: `devin`. The others are 0.' }),
      }),
    ),
  })
  .openapi('ConsumptionResponse');

const cycleResponse = z
  .object({ after: timeSchema, before: timeSchema })
  .openapi('ConsumptionCycleResponse', { description: 'The bounds to ask for the consumption of a cycle with.' });

const enterprise = '/v3/enterprise/consumption/daily';
const organization = '/v3/organizations/{org_id}/consumption/daily';

/** The path from the time when this version was a beta: older clients still use it. */
const beta = (path: string) => path.replace('/v3/', '/v3beta1/');

/** Each path of daily consumption: its suffix, and the subject of the sums. */
const subjects = [
  { suffix: '', name: '', of: 'all that is in it', kind: null, parameter: '', basePaths: [enterprise, organization] },
  {
    suffix: '/organizations/{org_id}',
    name: 'OfOrganization',
    of: 'an organization',
    kind: 'organization',
    parameter: 'org_id',
    basePaths: [enterprise],
  },
  {
    suffix: '/users/{user_id}',
    name: 'OfUser',
    of: 'a user',
    kind: 'user',
    parameter: 'user_id',
    basePaths: [enterprise, organization],
  },
  {
    suffix: '/service-users/{service_user_id}',
    name: 'OfServiceUser',
    of: 'a service user',
    kind: 'serviceUser',
    parameter: 'service_user_id',
    basePaths: [enterprise, organization],
  },
  {
    suffix: '/sessions/{session_id}',
    name: 'OfSession',
    of: 'a session',
    kind: 'session',
    parameter: 'session_id',
    basePaths: [enterprise, organization],
  },
] as const satisfies readonly {
  suffix: string;
  name: string;
  of: string;
  kind: ConsumptionSubject['kind'] | null;
  parameter: string;
  basePaths: readonly string[];
}[];

/** `/v3/enterprise/consumption` and `/v3/organizations/{org_id}/consumption`. */
export function serveConsumption(api: VersionApi): void {
  for (const { suffix, name, of, kind, parameter, basePaths } of subjects) {
    for (const base of basePaths) {
      const isEnterprise = base === enterprise;
      api.serve(
        {
          method: 'get',
          paths: [`${base}${suffix}`, beta(`${base}${suffix}`)],
          name: `get${isEnterprise ? 'Enterprise' : ''}Consumption${name}`,
          summary: `What ${of} has consumed in the ${isEnterprise ? 'enterprise' : 'organization'}, by day`,
          query: z.object(periodQuery),
          answer: consumptionResponse,
          refusals: isEnterprise && kind === null ? [403, 422] : [403, 404, 422],
        },
        async ({ context, query, param }) => {
          const { totalAcus, days } = await getConsumption(context, {
            scope: isEnterprise ? 'enterprise' : { organizationId: param('org_id') },
            subject: kind === null ? undefined : { kind, id: param(parameter) },
            dayStartsAtHour,
            ...parsePeriod(query),
          });
          return {
            total_acus: totalAcus,
            consumption_by_date: days.map((day) => ({
              date: time(day.startsAt),
              acus: day.acus,
              acus_by_product: { devin: day.acus, cascade: 0, terminal: 0, review: 0 },
            })),
          };
        },
      );
    }
  }

  api.serve(
    {
      method: 'get',
      paths: ['/v3/enterprise/consumption/cycles', beta('/v3/enterprise/consumption/cycles')],
      name: 'listConsumptionCycles',
      summary: 'List the cycles of the enterprise, the current one first',
      query: z.object(pageQuery),
      answer: pageOf(cycleResponse),
      refusals: [403, 422],
    },
    async ({ context, query }) =>
      presentPage(await listCycles(context, query, page), ({ startsAt, endsAt }) => ({
        after: time(startsAt),
        before: time(endsAt),
      })),
  );
}
