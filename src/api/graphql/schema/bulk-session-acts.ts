import type { InputFieldMap, InputShapeFromFields } from '@pothos/core';
import { DomainError } from '../../../common/errors.ts';
import type { Context } from '../../../domain/context.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { parseId, prefixedId } from '../../../domain/ids.ts';
import {
  archiveSessions,
  type BulkOutcome,
  type BulkResult,
  type BulkTarget,
  tagSessions,
  terminateSessions,
  unarchiveSessions,
} from '../../../domain/sessions/bulk-acts.ts';
import type { TagMode } from '../../../domain/sessions/tags.ts';
import { builder } from '../builder.ts';
import { toItemErrors } from '../errors.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { defineEnum } from './define-enum.ts';
import { managesSession } from './needs.ts';
import { UserErrorType } from './payloads.ts';
import { organizationIdDescription } from './scope-input.ts';
import { parseSessionFilter, SessionFilterInput } from './session-filter.ts';
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
      description:
        'Session after the operation, or in a dry run the session as it is. Null if the operation was refused for the session.',
      resolve: ({ outcome }) => (outcome instanceof DomainError ? null : outcome),
    }),
    userErrors: t.field({
      type: [UserErrorType],
      description:
        'Reasons why the operation was not performed on the session. Empty if the operation succeeded. The code is `UNKNOWN_REFERENCE` if the session does not exist or the viewer may not act on it.',
      resolve: ({ outcome, index }) => {
        const path = ['selection', 'sessionIds', ...(index === null ? [] : [String(index)])];
        return outcome instanceof DomainError ? toItemErrors(outcome, ['input'], path) : [];
      },
    }),
  }),
});

const TagModeEnum = defineEnum<TagMode>('TagMode', 'Way in which the given tags change the tags of a session.', {
  add: 'The given tags are added to the tags of the session, as `addSessionTags` does.',
  remove: 'The given tags are removed from the session, as `removeSessionTags` does.',
  replace: 'The given tags replace the tags of the session, as `replaceSessionTags` does.',
});

const SessionSelection = builder.inputType('SessionSelection', {
  isOneOf: true,
  description: 'Sessions to act on, selected by their ids or by a filter. Exactly one member must be given.',
  fields: (t) => ({
    sessionIds: t.idList({ description: 'Global IDs or REST ids of 1 to 100 sessions.' }),
    filter: t.field({
      type: SessionFilterInput,
      description:
        'Conditions that select sessions of an organization, newest first. Only sessions that the viewer may act on are selected. A filter without any condition would select every session and is `INVALID_INPUT`.',
    }),
  }),
});

function targetFields(t: InputFields) {
  return {
    selection: t.field({ type: SessionSelection, required: true, description: 'Selection of the sessions to act on.' }),
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
    dryRun: t.boolean({
      defaultValue: false,
      description:
        'Whether to change nothing. `results` then has the sessions that would be changed, as they are, and the errors of those that would be refused.',
    }),
  };
}

type BulkInput = InputShapeFromFields<ReturnType<typeof targetFields>>;

function parseTarget({ selection, organizationId, first, after, dryRun }: BulkInput): BulkTarget {
  const { sessionIds, filter } = selection;
  const target = { organizationId, first, after, isDryRun: dryRun };
  return sessionIds ? { ...target, sessionIds } : { ...target, filter: parseSessionFilter(filter) };
}

// The viewer's enterprise permissions count here as they do for single sessions.
const contextOf = (domain: Context) => ofAnySession(ofAnySession(domain, 'view'), 'manage');

interface BulkMutation<Fields extends InputFieldMap> {
  readonly description: string;
  /** The fields of its input, besides those that select sessions. */
  readonly input?: (t: InputFields) => Fields;
  readonly run: (
    domain: Context,
    target: BulkTarget,
    input: BulkInput & InputShapeFromFields<Fields>,
  ) => Promise<BulkOutcome>;
}

/** Adds a bulk mutation, which is charged by the number of sessions that it found. */
function addBulkMutation<Fields extends InputFieldMap = Record<never, never>>(
  name: string,
  { description, input: fields, run }: BulkMutation<Fields>,
): void {
  addMutation(name, {
    description: `${description} A session for which it is refused has the reason in its result and does not affect the others.`,
    needs: [managesSession],
    input: (t) => ({ ...targetFields(t), ...(fields?.(t) as Record<never, never>) }),
    payload: {
      results: {
        type: [BulkSessionResult],
        description:
          'Result for each session, in the order of `sessionIds` or of the sessions that match `filter`. Null if there are user errors.',
      },
      hasMore: {
        type: 'Boolean',
        description: 'Whether more sessions match the filter. To continue, pass `endCursor` as `after`.',
      },
      endCursor: {
        type: 'String',
        description: 'Cursor of the last session. Null if no session matched or no filter was given.',
      },
    },
    names: { sessionIds: 'selection.sessionIds', filter: 'selection.filter' },
    act: async (input, { domain, charge }, _options, info) => {
      charge.ran.set(info.path.key, 0);
      const outcome = await run(
        contextOf(domain),
        parseTarget(input),
        input as BulkInput & InputShapeFromFields<Fields>,
      );
      charge.ran.set(info.path.key, outcome.results.length);
      return outcome;
    },
  });
}

addBulkMutation('archiveSessions', {
  description:
    'Archives up to 100 sessions, each as `archiveSession` does. With `filter`, sessions that are already archived are skipped.',
  run: archiveSessions,
});

addBulkMutation('unarchiveSessions', {
  description:
    'Unarchives up to 100 sessions, each as `unarchiveSession` does. With `filter`, sessions that are not archived are skipped.',
  run: unarchiveSessions,
});

addBulkMutation('terminateSessions', {
  description:
    'Terminates up to 100 sessions permanently, each as `terminateSession` does. With `filter`, sessions that have already ended are skipped unless `archive` is true.',
  input: (t) => ({
    archive: t.boolean({
      defaultValue: false,
      description: 'Whether to archive the sessions as well. Defaults to false.',
    }),
  }),
  run: (domain, target, { archive }) => terminateSessions(domain, target, archive ?? false),
});

addBulkMutation('tagSessions', {
  description:
    'Changes the tags of up to 100 sessions, each as `addSessionTags`, `removeSessionTags` or `replaceSessionTags` does, depending on `mode`.',
  input: (t) => ({
    tags: t.stringList({
      required: true,
      description: 'Tags to add, remove or set, depending on `mode`. Maximum 50, each of 1 to 200 characters.',
    }),
    mode: t.field({
      type: TagModeEnum,
      defaultValue: 'add',
      description: 'Way in which the given tags change the tags of the sessions. Defaults to `ADD`.',
    }),
  }),
  run: (domain, target, { tags, mode }) => tagSessions(domain, target, tags, mode ?? 'add'),
});
