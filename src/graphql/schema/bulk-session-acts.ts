import type { Context } from '../../domain/context.ts';
import { DomainError } from '../../domain/errors.ts';
import { parseId, prefixedId } from '../../domain/ids.ts';
import {
  archiveSessions,
  type BulkOutcome,
  type BulkResult,
  type BulkTarget,
  tagSessions,
  terminateSessions,
  unarchiveSessions,
} from '../../domain/sessions/bulk-acts.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { TagMode } from '../../domain/sessions/tags.ts';
import { builder, type SchemaTypes } from '../builder.ts';
import { toItemErrors } from '../errors.ts';
import { addMutation } from './add-mutation.ts';
import { managesSession } from './needs.ts';
import { clientMutationIdDescription, payloadType, UserErrorType } from './payloads.ts';
import { organizationIdDescription } from './places.ts';
import { parseSessionFilter, SessionFilterInput, type SessionListArgs } from './session-filter.ts';
import { Session } from './sessions.ts';

const BulkSessionResult = builder.objectRef<BulkResult>('BulkSessionResult').implement({
  description: 'The result of a bulk act for one session.',
  fields: (t) => ({
    sessionId: t.string({
      description: 'Its id as REST writes it; what is no id comes back as it was given.',
      resolve: ({ sessionId }) =>
        parseId('session', sessionId) === null ? sessionId : prefixedId('session', sessionId),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'The session as it is now; null when nothing was done to it.',
      resolve: ({ outcome }) => (outcome instanceof DomainError ? null : outcome),
    }),
    userErrors: t.field({
      type: [UserErrorType],
      description:
        'Why nothing was done to it; empty when it was done. One that is not there, or that the viewer may not act on, is an UNKNOWN_REFERENCE.',
      resolve: ({ outcome, index }) => {
        const path = index === null ? ['sessionIds'] : ['sessionIds', String(index)];
        return outcome instanceof DomainError ? toItemErrors(outcome, ['input'], path) : [];
      },
    }),
  }),
});

const TagModeEnum = builder.enumType('TagMode', {
  description: 'How the tags that are given change those that a session has.',
  values: {
    ADD: {
      value: 'add',
      description: 'The session keeps its tags and gets those that are given, as addSessionTags does.',
    },
    REMOVE: { value: 'remove', description: 'The session loses the tags that are given, as removeSessionTags does.' },
    REPLACE: {
      value: 'replace',
      description: 'The session has only the tags that are given, as replaceSessionTags does.',
    },
  } as const satisfies Record<Uppercase<TagMode>, { value: TagMode; description: string }>,
});

function targetFields(t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>) {
  return {
    sessionIds: t.idList({ description: 'These sessions, by any form of their ids: 1 to 100. Either this or filter.' }),
    filter: t.field({
      type: SessionFilterInput,
      description: 'The sessions of an organization that match, newest first, and that the viewer may act on.',
    }),
    organizationId: t.id({
      description: `With filter only. ${organizationIdDescription}`,
    }),
    first: t.int({ description: 'With filter: at most so many (1 to 100, 100 when left out).' }),
    after: t.string({ description: 'With filter: only what comes after this endCursor of an earlier batch.' }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  };
}

type TargetInput = Omit<BulkTarget, 'filter'> & Pick<SessionListArgs, 'filter'>;

function parseTarget({ sessionIds, organizationId, filter, first, after }: TargetInput): BulkTarget {
  return { sessionIds, organizationId, first, after, filter: filter ? parseSessionFilter(filter) : null };
}

function bulkPayload(name: string, description: string) {
  return payloadType<BulkOutcome>(name, description, (t) => ({
    results: t.field({
      type: [BulkSessionResult],
      nullable: true,
      description: 'What became of each session, in the order of the ids or of the list.',
      resolve: ({ results }) => results && [...results],
    }),
    hasMore: t.exposeBoolean('hasMore', {
      nullable: true,
      description: 'Whether more sessions match the filter after these: go on with endCursor.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Where to go on; null: nothing matched, or no filter was given.',
    }),
  }));
}

// What the viewer holds on the enterprise counts here as it does for the single acts.
const contextOf = (domain: Context) => ofAnySession(ofAnySession(domain, 'view'), 'manage');

const ArchiveSessionsInput = builder.inputType('ArchiveSessionsInput', {
  description: 'Which sessions to archive.',
  fields: (t) => ({
    ...targetFields(t),
  }),
});

const ArchiveSessionsPayload = bulkPayload(
  'ArchiveSessionsPayload',
  'What became of sessions that were to be acted on.',
);

const UnarchiveSessionsInput = builder.inputType('UnarchiveSessionsInput', {
  description: 'Which sessions to take out of the archive.',
  fields: (t) => ({
    ...targetFields(t),
  }),
});

const UnarchiveSessionsPayload = bulkPayload(
  'UnarchiveSessionsPayload',
  'What became of sessions that were to be acted on.',
);

const TerminateSessionsInput = builder.inputType('TerminateSessionsInput', {
  description: 'Which sessions to end for good.',
  fields: (t) => ({
    archive: t.boolean({ defaultValue: false, description: 'Whether to put them away, too.' }),
    ...targetFields(t),
  }),
});

const TerminateSessionsPayload = bulkPayload(
  'TerminateSessionsPayload',
  'What became of sessions that were to be acted on.',
);

const TagSessionsInput = builder.inputType('TagSessionsInput', {
  description: 'Which sessions to tag.',
  fields: (t) => ({
    tags: t.stringList({ required: true, description: 'At most 50, each of 1 to 200 characters.' }),
    mode: t.field({
      type: TagModeEnum,
      defaultValue: 'add',
      description: 'How the tags that are given change those that the sessions have.',
    }),
    ...targetFields(t),
  }),
});

const TagSessionsPayload = bulkPayload('TagSessionsPayload', 'What became of sessions that were to be acted on.');

addMutation('archiveSessions', {
  input: ArchiveSessionsInput,
  payload: ArchiveSessionsPayload,
  needs: [managesSession],
  description:
    'Archives up to 100 sessions, as archiveSession does each. By filter, those that are archived already are passed over.',
  act: (input, { domain }) => archiveSessions(contextOf(domain), parseTarget(input)),
});

addMutation('unarchiveSessions', {
  input: UnarchiveSessionsInput,
  payload: UnarchiveSessionsPayload,
  needs: [managesSession],
  description:
    'Takes up to 100 sessions out of the archive, as unarchiveSession does each. By filter, those that are not archived are passed over.',
  act: (input, { domain }) => unarchiveSessions(contextOf(domain), parseTarget(input)),
});

addMutation('terminateSessions', {
  input: TerminateSessionsInput,
  payload: TerminateSessionsPayload,
  needs: [managesSession],
  description:
    'Ends up to 100 sessions for good, as terminateSession does each. By filter, those that are over already are passed over, unless they are to be archived; a filter without a condition needs "first".',
  act: (input, { domain }) => terminateSessions(contextOf(domain), parseTarget(input), input.archive ?? false),
});

addMutation('tagSessions', {
  input: TagSessionsInput,
  payload: TagSessionsPayload,
  needs: [managesSession],
  description:
    'Changes the tags of up to 100 sessions, each as addSessionTags, removeSessionTags or replaceSessionTags does.',
  act: (input, { domain }) => tagSessions(contextOf(domain), parseTarget(input), input.tags, input.mode ?? 'add'),
});
