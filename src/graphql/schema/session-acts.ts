import { archiveSession, unarchiveSession } from '../../domain/sessions/archive-session.ts';
import { ofAnySession } from '../../domain/sessions/enterprise-scope.ts';
import type { SessionRecord } from '../../domain/sessions/session.ts';
import { resumeSession, suspendSession } from '../../domain/sessions/suspend-session.ts';
import { addTags, removeTags, replaceTags } from '../../domain/sessions/tags.ts';
import { updateSession } from '../../domain/sessions/update-session.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { managesSession } from './needs.ts';
import { clientMutationIdDescription, payloadType } from './payloads.ts';
import { Session } from './sessions.ts';

/** The description of the id of a session that an act is about. */
const sessionIdDescription = 'The global ID, or any form of the session’s id.';
const tagsDescription = 'At most 50, each of 1 to 200 characters.';

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
    session: t.expose('session', { type: Session, nullable: true, description: 'The session.' }),
  }));
}

const SuspendSessionInput = actInput('SuspendSessionInput', 'A session to put to sleep.');
const SuspendSessionPayload = actPayload('SuspendSessionPayload', 'A session that was put to sleep.');
const ResumeSessionInput = actInput('ResumeSessionInput', 'A session to wake.');
const ResumeSessionPayload = actPayload('ResumeSessionPayload', 'A session that was woken.');
const ArchiveSessionInput = actInput('ArchiveSessionInput', 'A session to put away.');
const ArchiveSessionPayload = actPayload('ArchiveSessionPayload', 'A session that was put away.');
const UnarchiveSessionInput = actInput('UnarchiveSessionInput', 'A session to take out of the archive.');
const UnarchiveSessionPayload = actPayload('UnarchiveSessionPayload', 'A session that was taken out of the archive.');
const UpdateSessionInput = builder.inputType('UpdateSessionInput', {
  description: 'How a session is to change: what is left out stays.',
  fields: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    title: t.string({
      description:
        'The new title; the agent does not replace it. Null is an INVALID_INPUT: a session always has a title.',
    }),
    maxAcuLimit: t.int({
      description:
        'The ACUs that it may use, above 0 and at most what its organization lets a session use; null: as many as that.',
    }),
    clientMutationId: t.string({ description: clientMutationIdDescription }),
  }),
});
const UpdateSessionPayload = actPayload('UpdateSessionPayload', 'A session that was changed.');
const ReplaceSessionTagsInput = tagsInput('ReplaceSessionTagsInput', 'The tags that a session has from now on.');
const ReplaceSessionTagsPayload = actPayload('ReplaceSessionTagsPayload', 'The session whose tags were replaced.');
const AddSessionTagsInput = tagsInput('AddSessionTagsInput', 'Tags to add to those of a session.');
const AddSessionTagsPayload = actPayload('AddSessionTagsPayload', 'The session to which tags were added.');
const RemoveSessionTagsInput = tagsInput('RemoveSessionTagsInput', 'Tags to remove from a session.');
const RemoveSessionTagsPayload = actPayload('RemoveSessionTagsPayload', 'The session from which tags were removed.');

addMutation('suspendSession', {
  input: SuspendSessionInput,
  payload: SuspendSessionPayload,
  needs: [managesSession],
  description:
    'Suspends a session: stops its agent and ends its turn. The next message starts the next turn, with a note that the previous one was stopped. A session that is suspended already does not change; one that has ended is INVALID_STATE.',
  act: async (input, { domain }) => ({
    session: await suspendSession(ofAnySession(domain, 'manage'), { sessionId: input.sessionId }),
  }),
});

addMutation('resumeSession', {
  input: ResumeSessionInput,
  payload: ResumeSessionPayload,
  needs: [managesSession],
  description:
    'Resumes a suspended session. Its agent gets the messages that waited, and continues a turn that the service itself suspended; with neither, the session waits for the user. INVALID_STATE for a session that is not suspended, or is archived.',
  act: async (input, { domain }) => ({
    session: await resumeSession(ofAnySession(domain, 'manage'), { sessionId: input.sessionId }),
  }),
});

addMutation('archiveSession', {
  input: ArchiveSessionInput,
  payload: ArchiveSessionPayload,
  needs: [managesSession],
  description:
    'Archives a session, and suspends it when it is at work, which ends its turn. An archived one takes no messages.',
  act: async (input, { domain }) => ({
    session: await archiveSession(ofAnySession(domain, 'manage'), { sessionId: input.sessionId }),
  }),
});

addMutation('unarchiveSession', {
  input: UnarchiveSessionInput,
  payload: UnarchiveSessionPayload,
  needs: [managesSession],
  description: 'Takes a session out of the archive. It does not wake by that.',
  act: async (input, { domain }) => ({
    session: await unarchiveSession(ofAnySession(domain, 'manage'), { sessionId: input.sessionId }),
  }),
});

addMutation('updateSession', {
  input: UpdateSessionInput,
  payload: UpdateSessionPayload,
  needs: [managesSession],
  description:
    'Changes the title of a session and the ACUs that it may use. A session that sleeps because its limit was reached goes on with the next message.',
  act: async (input, { domain }) => {
    const { sessionId, title, maxAcuLimit } = input;
    return { session: await updateSession(ofAnySession(domain, 'manage'), { sessionId, title, maxAcuLimit }) };
  },
});

addMutation('replaceSessionTags', {
  input: ReplaceSessionTagsInput,
  payload: ReplaceSessionTagsPayload,
  needs: [managesSession],
  description: 'Replaces the tags of a session with at most 50 others, of those that its organization allows.',
  act: async (input, { domain }) => {
    const { sessionId, tags } = input;
    return { session: await replaceTags(ofAnySession(domain, 'manage'), { sessionId, tags }) };
  },
});

addMutation('addSessionTags', {
  input: AddSessionTagsInput,
  payload: AddSessionTagsPayload,
  needs: [managesSession],
  description: 'Adds tags to a session: those that it does not have yet, up to 50 in all.',
  act: async (input, { domain }) => {
    const { sessionId, tags } = input;
    return { session: await addTags(ofAnySession(domain, 'manage'), { sessionId, tags }) };
  },
});

addMutation('removeSessionTags', {
  input: RemoveSessionTagsInput,
  payload: RemoveSessionTagsPayload,
  needs: [managesSession],
  description: 'Removes tags from a session. Tags that it does not have are ignored.',
  act: async (input, { domain }) => {
    const { sessionId, tags } = input;
    return { session: await removeTags(ofAnySession(domain, 'manage'), { sessionId, tags }) };
  },
});
