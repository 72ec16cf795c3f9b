import type { AutomationRun } from '../../domain/automations/runs.ts';
import { prefixedId } from '../../domain/ids.ts';
import { builder } from '../builder.ts';
import { AutomationRunErrorCodeEnum, AutomationRunStatusEnum } from './automation-enums.ts';
import { Session } from './sessions.ts';

const RunError = builder
  .objectRef<{ code: NonNullable<AutomationRun['errorCode']>; message: string }>('AutomationRunError')
  .implement({
    description: 'Why a run failed, or was left out.',
    fields: (t) => ({
      code: t.expose('code', {
        type: AutomationRunErrorCodeEnum,
        description: 'The kind of error; docs/errors.md has all.',
      }),
      message: t.exposeString('message', { description: 'In words.' }),
    }),
  });

/** AutomationRun. */
export const AutomationRunType = builder.objectRef<AutomationRun>('AutomationRun').implement({
  description: 'One time that an automation acted, or should have.',
  fields: (t) => ({
    runId: t.exposeString('id', { description: 'Its id.' }),
    status: t.expose('status', { type: AutomationRunStatusEnum, description: 'How far the run came.' }),
    eventType: t.string({
      description: 'What it answers: the event type of the trigger, or manual.',
      resolve: ({ trigger }) => trigger.eventType,
    }),
    trigger: t.field({ type: 'JSON', description: 'What is known of what it answers.', resolve: (run) => run.trigger }),
    scheduledFor: t.expose('scheduledFor', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the recurring trigger; null: something else started it.',
    }),
    attempts: t.exposeInt('attempts', {
      description: 'How often it was tried: failed times of recurring triggers are tried again.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it came.' }),
    startedAt: t.expose('startedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it acted; null: it has not.',
    }),
    error: t.field({
      type: RunError,
      nullable: true,
      description: 'Why it failed, at the last attempt, or was left out; null: neither.',
      resolve: ({ errorCode, errorMessage }) =>
        errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
    }),
    sessionId: t.string({
      nullable: true,
      description:
        'The session that it started or wrote to, as v1 writes its id; null: none, or none that the viewer may see.',
      resolve: async ({ sessionId }, _args, { loaders }) => {
        const session = sessionId === null ? null : await loaders.sessions.load(sessionId);
        return session && prefixedId('session', session.id);
      },
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The session; null also for who may not see it.',
      resolve: ({ sessionId }, _args, { loaders }) => (sessionId === null ? null : loaders.sessions.load(sessionId)),
    }),
  }),
});
