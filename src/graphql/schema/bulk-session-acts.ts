import type { InputObjectRef } from '@pothos/core';
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
import { clientMutationIdDescription, payloadType, UserErrorType } from './payloads.ts';
import { organizationIdDescription } from './places.ts';
import { parseSessionFilter, SessionFilterInput } from './session-filter.ts';
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
        const path = ['selection', 'sessionIds', ...(index === null ? [] : [String(index)])];
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

const SessionSelection = builder.inputType('SessionSelection', {
  isOneOf: true,
  description: 'Sessions, by their ids or by a filter. Exactly one member.',
  fields: (t) => ({
    sessionIds: t.idList({ description: 'These sessions, by any form of their ids: 1 to 100.' }),
    filter: t.field({
      type: SessionFilterInput,
      description:
        'The sessions of an organization that match and that the viewer may act on, newest first. INVALID_INPUT without any condition, since that would be every session.',
    }),
  }),
});

function targetFields(t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>) {
  return {
    selection: t.field({ type: SessionSelection, required: true, description: 'The sessions to act on.' }),
    organizationId: t.id({
      description: `With filter only. ${organizationIdDescription}`,
    }),
    first: t.int({ description: 'With filter only: the most sessions to act on, 1 to 100; 100 when left out.' }),
    after: t.string({ description: 'With filter only: act on sessions after this endCursor of an earlier batch.' }),
    dryRun: t.boolean({
      defaultValue: false,
      description:
        'Changes nothing, and gives the sessions that would be changed, as they are, and why others would not be.',
    }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  };
}

interface TargetInput extends Pick<BulkTarget, 'organizationId' | 'first' | 'after'> {
  readonly selection: typeof SessionSelection.$inferInput;
  readonly dryRun?: boolean | null | undefined;
}

function parseTarget({ selection, organizationId, first, after, dryRun }: TargetInput): BulkTarget {
  const { sessionIds, filter } = selection;
  const target = { organizationId, first, after, isDryRun: dryRun };
  return sessionIds ? { ...target, sessionIds } : { ...target, filter: parseSessionFilter(filter) };
}

/** Adds a bulk mutation, which is charged for the sessions that it found. */
function addBulkMutation<Input extends TargetInput & { readonly clientMutationId?: string | null | undefined }>(
  name: string,
  description: string,
  input: InputObjectRef<SchemaTypes, Input>,
  run: (domain: Context, target: BulkTarget, input: Input) => Promise<BulkOutcome>,
): void {
  addMutation(name, {
    input,
    payload: bulkPayload(`${name[0]?.toUpperCase()}${name.slice(1)}Payload`),
    description: `${description} Sessions are acted on one by one: what is refused for one is told in its result, and holds up no other.`,
    names: { sessionIds: 'selection.sessionIds', filter: 'selection.filter' },
    act: async (given, { domain, charge }, info) => {
      charge.ran.set(info.path.key, 0);
      const outcome = await run(contextOf(domain), parseTarget(given), given);
      charge.ran.set(info.path.key, outcome.results.length);
      return outcome;
    },
  });
}

function bulkPayload(name: string) {
  return payloadType<BulkOutcome>(name, 'The results of a bulk act, by session.', (t) => ({
    results: t.field({
      type: [BulkSessionResult],
      nullable: true,
      description: 'The result for each session, in the order of the ids or of the list, the newest first.',
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
  description: 'The sessions to archive.',
  fields: targetFields,
});

const UnarchiveSessionsInput = builder.inputType('UnarchiveSessionsInput', {
  description: 'The sessions to take out of the archive.',
  fields: targetFields,
});

const TerminateSessionsInput = builder.inputType('TerminateSessionsInput', {
  description: 'The sessions to end for good.',
  fields: (t) => ({
    archive: t.boolean({ defaultValue: false, description: 'Whether to archive the sessions too.' }),
    ...targetFields(t),
  }),
});

const TagSessionsInput = builder.inputType('TagSessionsInput', {
  description: 'The sessions to tag, and the tags.',
  fields: (t) => ({
    tags: t.stringList({ required: true, description: 'At most 50 tags, each of 1 to 200 characters.' }),
    mode: t.field({
      type: TagModeEnum,
      defaultValue: 'add',
      description: 'How the tags that are given change those that the sessions have.',
    }),
    ...targetFields(t),
  }),
});

addBulkMutation(
  'archiveSessions',
  'Archives up to 100 sessions, each as archiveSession does. A filter passes over those that are archived.',
  ArchiveSessionsInput,
  archiveSessions,
);

addBulkMutation(
  'unarchiveSessions',
  'Takes up to 100 sessions out of the archive, each as unarchiveSession does. A filter passes over those that are not archived.',
  UnarchiveSessionsInput,
  unarchiveSessions,
);

addBulkMutation(
  'terminateSessions',
  'Ends up to 100 sessions for good, each as terminateSession does. A filter passes over those that have ended, unless they are to be archived.',
  TerminateSessionsInput,
  (domain, target, { archive }) => terminateSessions(domain, target, archive ?? false),
);

addBulkMutation(
  'tagSessions',
  'Changes the tags of up to 100 sessions, each as addSessionTags, removeSessionTags or replaceSessionTags does.',
  TagSessionsInput,
  (domain, target, { tags, mode }) => tagSessions(domain, target, tags, mode ?? 'add'),
);
