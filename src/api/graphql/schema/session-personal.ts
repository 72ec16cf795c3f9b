import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { markSessionRead, pinSession, unpinSession } from '../../../domain/sessions/personal-state.ts';
import { builder } from '../builder.ts';
import { addMutation } from './add-mutation.ts';
import { viewsSession } from './needs.ts';
import { sessionIdDescription } from './session-id.ts';
import { Session } from './sessions.ts';

builder.objectFields(Session, (t) => ({
  isUnread: t.boolean({
    description:
      'Whether the status or the messages of the session changed since the viewer last marked it as read. A session that the viewer never marked is unread if the viewer started it. False for service keys.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.personalStates.load(id)).isUnread,
  }),
  isPinned: t.boolean({
    description: 'Whether the viewer has pinned the session. False for service keys.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.personalStates.load(id)).isPinned,
  }),
  lastReadSeq: t.int({
    nullable: true,
    description:
      'Number of the last log entry that the viewer had read when it last marked the session as read; null if it never did.',
    resolve: async ({ id }, _args, { loaders }) => (await loaders.personalStates.load(id)).lastReadSeq,
  }),
}));

const session = {
  type: Session,
  description: 'Session, as the viewer sees it now. Null if `userErrors` is not empty.',
};
const forUsers = 'Service keys get FORBIDDEN without `permission`.';

addMutation('markSessionRead', {
  description: `Records that the viewer has read a session, all of its log or up to an entry. Call it while the session is shown and \`isUnread\` is true. What was marked as read stays read. ${forUsers}`,
  needs: [viewsSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    seq: t.int({
      description: 'Number of the last log entry that was read, at least 1. Defaults to the last entry of the log.',
    }),
  }),
  payload: { session },
  act: async (input, { domain }) => ({ session: await markSessionRead(ofAnySession(domain, 'view'), input) }),
});

addMutation('pinSession', {
  description: `Pins a session for the viewer, who finds it with the filter \`isPinned\`. A viewer pins at most 100 sessions. ${forUsers}`,
  needs: [viewsSession],
  input: (t) => ({ sessionId: t.id({ required: true, description: sessionIdDescription }) }),
  payload: { session },
  act: async ({ sessionId }, { domain }) => ({ session: await pinSession(ofAnySession(domain, 'view'), sessionId) }),
});

addMutation('unpinSession', {
  description: `Removes the pin of a session. A session that is not pinned does not change. ${forUsers}`,
  needs: [viewsSession],
  input: (t) => ({ sessionId: t.id({ required: true, description: sessionIdDescription }) }),
  payload: { session },
  act: async ({ sessionId }, { domain }) => ({ session: await unpinSession(ofAnySession(domain, 'view'), sessionId) }),
});
