import type { InputFieldMap, InputShapeFromFields } from '@pothos/core';
import type { Context } from '../../../domain/context.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { archiveSession, unarchiveSession } from '../../../domain/sessions/archive-session.ts';
import { setSessionOptions } from '../../../domain/sessions/options/set-session-options.ts';
import type { SessionRecord } from '../../../domain/sessions/session.ts';
import { resumeSession, suspendSession } from '../../../domain/sessions/suspend-session.ts';
import { addTags, removeTags, replaceTags } from '../../../domain/sessions/tags.ts';
import { updateSession } from '../../../domain/sessions/update-session.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { AgentOptionInput } from './agent-options.ts';
import { managesSession } from './needs.ts';
import { sessionIdDescription } from './session-id.ts';
import { Session } from './sessions.ts';

type SessionId = InputShapeFromFields<ReturnType<typeof oneSession>>;
const oneSession = (t: InputFields) => ({
  sessionId: t.id({ required: true, description: sessionIdDescription }),
});

interface SessionMutation<Fields extends InputFieldMap> {
  readonly description: string;
  readonly input?: (t: InputFields) => Fields;
  readonly change: (domain: Context, input: SessionId & InputShapeFromFields<Fields>) => Promise<SessionRecord>;
}

/** Adds a mutation that changes one session and returns it. */
function addSessionMutation<Fields extends InputFieldMap = Record<never, never>>(
  name: string,
  { description, input: fields, change }: SessionMutation<Fields>,
): void {
  addMutation(name, {
    description,
    needs: [managesSession],
    input: (t) => ({ ...oneSession(t), ...(fields?.(t) as Record<never, never>) }),
    payload: { session: Session },
    act: async (input, { domain }) => ({
      session: await change(ofAnySession(domain, 'manage'), input as SessionId & InputShapeFromFields<Fields>),
    }),
  });
}

const tagFields = (t: InputFields) => ({
  tags: t.stringList({
    required: true,
    description: 'Tags to add, to remove or to set: at most 50, each of 1 to 200 characters.',
  }),
});

addSessionMutation('suspendSession', {
  description:
    'Suspends a session: stops its agent and ends its turn. The next message starts a new turn, with a note that the previous turn was stopped. An already suspended session does not change. INVALID_STATE if the session has ended.',
  change: suspendSession,
});

addSessionMutation('resumeSession', {
  description:
    'Resumes a suspended session. The agent gets the messages that waited, and continues a turn that the service itself suspended; with neither, the session waits for the user. INVALID_STATE if the session is not suspended or is archived. LIMIT_EXCEEDED if it would wait for a worker and the queue of its organization is full.',
  change: resumeSession,
});

addSessionMutation('archiveSession', {
  description:
    'Archives a session. If the session is queued or running, it is suspended, which ends its turn. An archived session accepts no messages.',
  change: archiveSession,
});

addSessionMutation('unarchiveSession', {
  description: 'Takes a session out of the archive. This does not resume the session.',
  change: unarchiveSession,
});

addSessionMutation('updateSession', {
  description:
    'Updates the title, the tags and the ACU limit of a session. A session that was suspended because it reached its limit continues with the next message.',
  input: (t) => ({
    title: t.string({
      description:
        'New title of the session, 1 to 10,000 characters, which the agent does not replace. Must not be null.',
    }),
    tags: t.stringList({
      description:
        'All tags of the session, which replace the previous ones: at most 50, each of 1 to 200 characters. UNKNOWN_REFERENCE if the organization does not allow a new one. Must not be null.',
    }),
    maxAcuLimit: t.int({
      description:
        'Maximum number of ACUs that the session may use, greater than 0 and at most the organization’s limit for a session. Null removes the session’s own limit.',
    }),
  }),
  change: updateSession,
});

addSessionMutation('setSessionOptions', {
  description:
    'Chooses options of a session’s agent, such as its model. Other options do not change. An idle agent gets the values at once, a working one before its next turn, and a session without a running agent when the agent next starts. The log says if the agent accepted a value. INVALID_INPUT for a locked option and for an option or a value that the agent is known not to offer. INVALID_STATE if the session accepts no messages.',
  input: (t: InputFields) => ({
    options: t.field({
      type: [AgentOptionInput],
      required: true,
      description: 'Options to change: at most 50, each option once.',
    }),
  }),
  change: setSessionOptions,
});

addSessionMutation('replaceSessionTags', {
  description:
    'Replaces all tags of a session with at most 50 other tags. UNKNOWN_REFERENCE if the organization does not allow one of them.',
  input: tagFields,
  change: replaceTags,
});

addSessionMutation('addSessionTags', {
  description:
    'Adds tags to a session. Tags that the session already has are ignored. LIMIT_EXCEEDED if the session would have more than 50 tags.',
  input: tagFields,
  change: addTags,
});

addSessionMutation('removeSessionTags', {
  description: 'Removes tags from a session. Tags that the session does not have are ignored.',
  input: tagFields,
  change: removeTags,
});
