import type { AutomationRun } from '../../../domain/automations/model/runs.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { builder } from '../builder.ts';
import { AutomationRunErrorCodeEnum, AutomationRunStatusEnum } from './automation-enums.ts';
import { Session } from './sessions.ts';

const RunError = builder
  .objectRef<{ code: NonNullable<AutomationRun['errorCode']>; message: string }>('AutomationRunError')
  .implement({
    description: 'The reason why a run failed or was skipped.',
    fields: (t) => ({
      code: t.expose('code', {
        type: AutomationRunErrorCodeEnum,
        description: 'Type of the error. docs/errors.md describes all types.',
      }),
      message: t.exposeString('message', { description: 'Explanation of the error in words.' }),
    }),
  });

/** AutomationRun. */
export const AutomationRunType = builder.objectRef<AutomationRun>('AutomationRun');
builder.node(AutomationRunType, {
  description: 'A run of an automation, which can also be queued, failed or skipped.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the run, unique across all types.' },
  fields: (t) => ({
    automationRunId: t.exposeString('id', {
      description: 'REST id of the run: 32 hexadecimal digits without a prefix.',
    }),
    status: t.expose('status', { type: AutomationRunStatusEnum, description: 'Current status of the run.' }),
    eventType: t.string({
      description: 'Event type of the trigger that caused the run, or `manual` if the run was requested directly.',
      resolve: ({ trigger }) => trigger.eventType,
    }),
    trigger: t.field({
      type: 'JSON',
      description: 'Details of the event that caused the run, as a JSON object. Never contains the body of a webhook.',
      resolve: (run) => run.trigger,
    }),
    scheduledFor: t.expose('scheduledFor', {
      type: 'DateTime',
      nullable: true,
      description: 'Scheduled time that caused the run. Null if the run has another cause.',
    }),
    attempts: t.exposeInt('attempts', {
      description:
        'Number of attempts so far. Failed scheduled runs are retried after 1, 2, 4 and more minutes, at most an hour apart.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the run was created.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the run started a session or sent a message. Null if that has not happened.',
    }),
    error: t.field({
      type: RunError,
      nullable: true,
      description: 'Reason why the last attempt failed or the run was skipped. Null if neither is the case.',
      resolve: ({ errorCode, errorMessage }) =>
        errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
    }),
    sessionId: t.string({
      nullable: true,
      description:
        'REST id of the session that the run started or sent a message to, which begins with `devin-`. Null if there is none or the viewer may not see the session.',
      resolve: async ({ sessionId }, _args, { loaders }) => {
        const session = sessionId === null ? null : await loaders.sessions.load(sessionId);
        return session && prefixedId('session', session.id);
      },
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description:
        'Session that the run started or sent a message to. Null if there is none or the viewer may not see the session.',
      resolve: ({ sessionId }, _args, { loaders }) => (sessionId === null ? null : loaders.sessions.load(sessionId)),
    }),
  }),
});
