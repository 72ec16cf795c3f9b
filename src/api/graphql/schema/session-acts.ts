import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { archiveSession, unarchiveSession } from '../../../domain/sessions/archive-session.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { resumeSession, suspendSession } from '../../../domain/sessions/suspend-session.ts';
import { addTags, removeTags, replaceTags } from '../../../domain/sessions/tags.ts';
import { updateSession } from '../../../domain/sessions/update-session.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { managesSession } from './needs.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';
import { Session } from './sessions.ts';

/** The description of the session id in the inputs of session mutations. */
const sessionIdDescription = 'Global ID or REST id of the session.';
const tagsDescription = 'Tags to add, to remove or to set: at most 50, each of 1 to 200 characters.';

function actInput(name: string, description: string) {
  return builder.inputType(name, {
    description,
    fields: (t) => ({
      sessionId: t.id({ required: true, description: sessionIdDescription }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });
}

function tagsInput(name: string, description: string) {
  return builder.inputType(name, {
    description,
    fields: (t) => ({
      sessionId: t.id({ required: true, description: sessionIdDescription }),
      tags: t.stringList({ required: true, description: tagsDescription }),
      clientMutationId: t.string({ description: clientMutationIdDescription }),
    }),
  });
}

function actPayload(name: string, description: string) {
  return payloadType<{ session: SessionRecord }>(name, description, (t) => ({
    session: t.expose('session', {
      type: Session,
      nullable: true,
      description: 'Session after the change. Null if `userErrors` is not empty.',
    }),
  }));
}

const SuspendSessionInput = actInput('SuspendSessionInput', 'Parameters for suspending a session.');
const SuspendSessionPayload = actPayload('SuspendSessionPayload', 'Result of suspending a session.');
const ResumeSessionInput = actInput('ResumeSessionInput', 'Parameters for resuming a session.');
const ResumeSessionPayload = actPayload('ResumeSessionPayload', 'Result of resuming a session.');
const ArchiveSessionInput = actInput('ArchiveSessionInput', 'Parameters for archiving a session.');
const ArchiveSessionPayload = actPayload('ArchiveSessionPayload', 'Result of archiving a session.');
const UnarchiveSessionInput = actInput('UnarchiveSessionInput', 'Parameters for unarchiving a session.');
const UnarchiveSessionPayload = actPayload('UnarchiveSessionPayload', 'Result of unarchiving a session.');
const UpdateSessionInput = builder.inputType('UpdateSessionInput', {
  description: 'Parameters for updating a session. Omitted fields keep their values.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    title: t.string({
      description:
        'New title of the session, 1 to 10,000 characters, which the agent does not replace. Must not be null.',
    }),
    maxAcuLimit: t.int({
      description:
        'Maximum number of ACUs that the session may use, greater than 0 and at most the organization’s limit for a session. Null removes the session’s own limit.',
    }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});
const UpdateSessionPayload = actPayload('UpdateSessionPayload', 'Result of updating a session.');
const ReplaceSessionTagsInput = tagsInput('ReplaceSessionTagsInput', 'Parameters for replacing the tags of a session.');
const ReplaceSessionTagsPayload = actPayload('ReplaceSessionTagsPayload', 'Result of replacing the tags of a session.');
const AddSessionTagsInput = tagsInput('AddSessionTagsInput', 'Parameters for adding tags to a session.');
const AddSessionTagsPayload = actPayload('AddSessionTagsPayload', 'Result of adding tags to a session.');
const RemoveSessionTagsInput = tagsInput('RemoveSessionTagsInput', 'Parameters for removing tags from a session.');
const RemoveSessionTagsPayload = actPayload('RemoveSessionTagsPayload', 'Result of removing tags from a session.');

addMutation('suspendSession', {
  input: SuspendSessionInput,
  payload: SuspendSessionPayload,
  needs: [managesSession],
  description:
    'Suspends a session: stops its agent and ends its turn. The next message starts a new turn, with a note that the previous turn was stopped. An already suspended session does not change. INVALID_STATE if the session has ended.',
  act: async (input, { domain }) => ({
    session: await suspendSession(ofAnySession(domain, 'manage'), { sessionId: input.sessionId }),
  }),
});

addMutation('resumeSession', {
  input: ResumeSessionInput,
  payload: ResumeSessionPayload,
  needs: [managesSession],
  description:
    'Resumes a suspended session. The agent gets the messages that waited, and continues a turn that the service itself suspended; with neither, the session waits for the user. INVALID_STATE if the session is not suspended or is archived.',
  act: async (input, { domain }) => ({
    session: await resumeSession(ofAnySession(domain, 'manage'), { sessionId: input.sessionId }),
  }),
});

addMutation('archiveSession', {
  input: ArchiveSessionInput,
  payload: ArchiveSessionPayload,
  needs: [managesSession],
  description:
    'Archives a session. If the session is queued or running, it is suspended, which ends its turn. An archived session accepts no messages.',
  act: async (input, { domain }) => ({
    session: await archiveSession(ofAnySession(domain, 'manage'), { sessionId: input.sessionId }),
  }),
});

addMutation('unarchiveSession', {
  input: UnarchiveSessionInput,
  payload: UnarchiveSessionPayload,
  needs: [managesSession],
  description: 'Takes a session out of the archive. This does not resume the session.',
  act: async (input, { domain }) => ({
    session: await unarchiveSession(ofAnySession(domain, 'manage'), { sessionId: input.sessionId }),
  }),
});

addMutation('updateSession', {
  input: UpdateSessionInput,
  payload: UpdateSessionPayload,
  needs: [managesSession],
  description:
    'Updates the title and the ACU limit of a session. A session that was suspended because it reached its limit continues with the next message.',
  act: async (input, { domain }) => {
    const { sessionId, title, maxAcuLimit } = input;
    return { session: await updateSession(ofAnySession(domain, 'manage'), { sessionId, title, maxAcuLimit }) };
  },
});

addMutation('replaceSessionTags', {
  input: ReplaceSessionTagsInput,
  payload: ReplaceSessionTagsPayload,
  needs: [managesSession],
  description:
    'Replaces all tags of a session with at most 50 other tags. UNKNOWN_REFERENCE if the organization does not allow one of them.',
  act: async (input, { domain }) => {
    const { sessionId, tags } = input;
    return { session: await replaceTags(ofAnySession(domain, 'manage'), { sessionId, tags }) };
  },
});

addMutation('addSessionTags', {
  input: AddSessionTagsInput,
  payload: AddSessionTagsPayload,
  needs: [managesSession],
  description:
    'Adds tags to a session. Tags that the session already has are ignored. LIMIT_EXCEEDED if the session would have more than 50 tags.',
  act: async (input, { domain }) => {
    const { sessionId, tags } = input;
    return { session: await addTags(ofAnySession(domain, 'manage'), { sessionId, tags }) };
  },
});

addMutation('removeSessionTags', {
  input: RemoveSessionTagsInput,
  payload: RemoveSessionTagsPayload,
  needs: [managesSession],
  description: 'Removes tags from a session. Tags that the session does not have are ignored.',
  act: async (input, { domain }) => {
    const { sessionId, tags } = input;
    return { session: await removeTags(ofAnySession(domain, 'manage'), { sessionId, tags }) };
  },
});
