import { z } from '@hono/zod-openapi';
import { listRuns } from '../../../domain/automations/model/automations.ts';
import { type AutomationRun, runStatuses } from '../../../domain/automations/model/runs.ts';
import { runAutomation } from '../../../domain/automations/run-automation.ts';
import type { Context } from '../../../domain/context.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { findSessions } from '../../../domain/sessions/find-session.ts';
import type { VersionApi } from '../version-api.ts';
import { automationsPage, automationsQuery } from './automation-shapes.ts';
import { pageOf, presentPageOf, time, timeSchema } from './dialect.ts';

const one = '/v3/organizations/{org_id}/automations/{automation_id}';

const runResponse = z
  .object({
    run_id: z.string(),
    automation_id: z.string(),
    status: z.enum(runStatuses).openapi({
      description:
        'queued: it waits until fewer of the automation’s are at work; started: there is a session; failed; skipped: a limit, or the policy for missed times, left it out.',
    }),
    event_type: z.string().openapi({ description: 'The event type of the trigger, or "manual".' }),
    session_id: z
      .string()
      .nullable()
      .openapi({ description: 'The session that it started or wrote to; null also for who may not see it.' }),
    error: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .openapi({ description: 'Why it failed, at the last attempt, or was left out.' }),
    attempts: z.int(),
    scheduled_for: timeSchema.nullable().openapi({ description: 'The time of the recurring trigger.' }),
    created_at: timeSchema,
    started_at: timeSchema.nullable(),
  })
  .openapi('AutomationRunResponse');

// Only a viewer who may see a run's session gets its data.
async function presentAll(context: Context, runs: readonly AutomationRun[]): Promise<z.input<typeof runResponse>[]> {
  const sessions = await findSessions(context, [...new Set(runs.flatMap(({ sessionId }) => sessionId ?? []))]);
  const seen = new Set(sessions.map((session) => session?.id));
  return runs.map((run) => present(seen.has(run.sessionId ?? undefined) ? run : { ...run, sessionId: null }));
}

function present(run: AutomationRun): z.input<typeof runResponse> {
  const { errorCode, errorMessage, scheduledFor, startedAt } = run;
  return {
    run_id: run.id,
    automation_id: prefixedId('automation', run.automationId),
    status: run.status,
    event_type: run.trigger.eventType,
    session_id: run.sessionId,
    error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
    attempts: run.attempts,
    scheduled_for: scheduledFor === null ? null : time(scheduledFor),
    created_at: time(run.createdAt),
    started_at: startedAt === null ? null : time(startedAt),
  };
}

/** `/v3/organizations/{org_id}/automations/{automation_id}/run` and `/runs`. */
export function serveAutomationRuns(api: VersionApi): void {
  api.serve(
    {
      method: 'post',
      paths: [`${one}/run`],
      name: 'runAutomation',
      summary: 'Let an automation act now, also one that is disabled',
      answer: runResponse,
      refusals: [403, 404, 422],
      takesIdempotencyKey: true,
    },
    async ({ context, param, idempotencyKey }) => {
      const run = await runAutomation(context, automationRefOf(param), { idempotencyKey });
      const [presented] = await presentAll(context, [run]);
      return presented ?? present(run);
    },
  );

  api.serve(
    {
      method: 'get',
      paths: [`${one}/runs`],
      name: 'listAutomationRuns',
      summary: 'List what an automation has done, and should have done, the last first',
      query: automationsQuery,
      answer: pageOf(runResponse),
      refusals: [403, 404, 422],
    },
    async ({ context, query, param }) => {
      const runs = await listRuns(context, { ...automationRefOf(param), ...query }, automationsPage);
      return presentPageOf(runs, await presentAll(context, runs.items));
    },
  );
}

const automationRefOf = (param: (name: string) => string) => ({
  organizationId: param('org_id'),
  automationId: param('automation_id'),
});
