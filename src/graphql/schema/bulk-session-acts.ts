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
  description: 'The result of a bulk operation for one session.',
  fields: (t) => ({
    sessionId: t.string({
      description:
        'REST id of the session, which begins with `devin-`. A value that is not an id is returned as given in `sessionIds`.',
      resolve: ({ sessionId }) =>
        parseId('session', sessionId) === null ? sessionId : prefixedId('session', sessionId),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'Session after the operation. Null if the operation was not performed on the session.',
      resolve: ({ outcome }) => (outcome instanceof DomainError ? null : outcome),
    }),
    userErrors: t.field({
      type: [UserErrorType],
      description:
        'Reasons why the operation was not performed on the session. Empty if the operation succeeded. The code is `UNKNOWN_REFERENCE` if the session does not exist or the viewer may not act on it.',
      resolve: ({ outcome, index }) => {
        const path = index === null ? ['sessionIds'] : ['sessionIds', String(index)];
        return outcome instanceof DomainError ? toItemErrors(outcome, ['input'], path) : [];
      },
    }),
  }),
});

const TagModeEnum = builder.enumType('TagMode', {
  description: 'Way in which the given tags change the tags of a session.',
  values: {
    ADD: {
      value: 'add',
      description: 'The given tags are added to the tags of the session, as `addSessionTags` does.',
    },
    REMOVE: {
      value: 'remove',
      description: 'The given tags are removed from the session, as `removeSessionTags` does.',
    },
    REPLACE: {
      value: 'replace',
      description: 'The given tags replace the tags of the session, as `replaceSessionTags` does.',
    },
  } as const satisfies Record<Uppercase<TagMode>, { value: TagMode; description: string }>,
});

function targetFields(t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>) {
  return {
    sessionIds: t.idList({
      description:
        'Global IDs or REST ids of 1 to 100 sessions. Exactly one of `sessionIds` and `filter` must be given.',
    }),
    filter: t.field({
      type: SessionFilterInput,
      description:
        'Conditions that select sessions of an organization, newest first. Only sessions that the viewer may act on are selected.',
    }),
    organizationId: t.id({
      description: `Only valid with a filter. ${organizationIdDescription}`,
    }),
    first: t.int({
      description:
        'Maximum number of sessions that `filter` selects, 1 to 100. Defaults to 100. Only valid with `filter`.',
    }),
    after: t.string({
      description:
        'Cursor from `endCursor` of an earlier response. Only sessions after the cursor are selected. Only valid with `filter`.',
    }),
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
      description:
        'Result for each session, in the order of `sessionIds` or of the sessions that match `filter`. Null if there are user errors.',
      resolve: ({ results }) => results && [...results],
    }),
    hasMore: t.exposeBoolean('hasMore', {
      nullable: true,
      description: 'Whether more sessions match the filter. To continue, pass `endCursor` as `after`.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Cursor of the last session. Null if no session matched or no filter was given.',
    }),
  }));
}

// What the viewer holds on the enterprise counts here as it does for the single acts.
const contextOf = (domain: Context) => ofAnySession(ofAnySession(domain, 'view'), 'manage');

const ArchiveSessionsInput = builder.inputType('ArchiveSessionsInput', {
  description: 'Input for archiving up to 100 sessions.',
  fields: (t) => ({
    ...targetFields(t),
  }),
});

const ArchiveSessionsPayload = bulkPayload(
  'ArchiveSessionsPayload',
  'Result of archiving sessions, with an entry for each session.',
);

const UnarchiveSessionsInput = builder.inputType('UnarchiveSessionsInput', {
  description: 'Input for unarchiving up to 100 sessions.',
  fields: (t) => ({
    ...targetFields(t),
  }),
});

const UnarchiveSessionsPayload = bulkPayload(
  'UnarchiveSessionsPayload',
  'Result of unarchiving sessions, with an entry for each session.',
);

const TerminateSessionsInput = builder.inputType('TerminateSessionsInput', {
  description: 'Input for terminating up to 100 sessions.',
  fields: (t) => ({
    archive: t.boolean({
      defaultValue: false,
      description: 'Whether to archive the sessions as well. Defaults to false.',
    }),
    ...targetFields(t),
  }),
});

const TerminateSessionsPayload = bulkPayload(
  'TerminateSessionsPayload',
  'Result of terminating sessions, with an entry for each session.',
);

const TagSessionsInput = builder.inputType('TagSessionsInput', {
  description: 'Input for changing the tags of up to 100 sessions.',
  fields: (t) => ({
    tags: t.stringList({
      required: true,
      description: 'Tags to add, remove or set, depending on `mode`. Maximum 50, each of 1 to 200 characters.',
    }),
    mode: t.field({
      type: TagModeEnum,
      defaultValue: 'add',
      description: 'Way in which the given tags change the tags of the sessions. Defaults to `ADD`.',
    }),
    ...targetFields(t),
  }),
});

const TagSessionsPayload = bulkPayload(
  'TagSessionsPayload',
  'Result of changing the tags of sessions, with an entry for each session.',
);

addMutation('archiveSessions', {
  input: ArchiveSessionsInput,
  payload: ArchiveSessionsPayload,
  needs: [managesSession],
  description:
    'Archives up to 100 sessions, each as `archiveSession` does. With `filter`, sessions that are already archived are skipped.',
  act: (input, { domain }) => archiveSessions(contextOf(domain), parseTarget(input)),
});

addMutation('unarchiveSessions', {
  input: UnarchiveSessionsInput,
  payload: UnarchiveSessionsPayload,
  needs: [managesSession],
  description:
    'Unarchives up to 100 sessions, each as `unarchiveSession` does. With `filter`, sessions that are not archived are skipped.',
  act: (input, { domain }) => unarchiveSessions(contextOf(domain), parseTarget(input)),
});

addMutation('terminateSessions', {
  input: TerminateSessionsInput,
  payload: TerminateSessionsPayload,
  needs: [managesSession],
  description:
    'Terminates up to 100 sessions permanently, each as `terminateSession` does. With `filter`, sessions that have already ended are skipped unless `archive` is true. A filter without conditions requires `first`.',
  act: (input, { domain }) => terminateSessions(contextOf(domain), parseTarget(input), input.archive ?? false),
});

addMutation('tagSessions', {
  input: TagSessionsInput,
  payload: TagSessionsPayload,
  needs: [managesSession],
  description:
    'Changes the tags of up to 100 sessions, each as `addSessionTags`, `removeSessionTags` or `replaceSessionTags` does, depending on `mode`.',
  act: (input, { domain }) => tagSessions(contextOf(domain), parseTarget(input), input.tags, input.mode ?? 'add'),
});
