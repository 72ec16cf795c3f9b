import {
  type ChangedFollowUp,
  dismissFollowUp,
  sendFollowUp,
  setPullRequestFollowUp,
} from '../../../domain/follow-ups/change-follow-ups.ts';
import { ofAnySession } from '../../../domain/identity/organizations/enterprise-scope.ts';
import { addMutation, type InputFields } from './add-mutation.ts';
import { FollowUpModeEnum } from './follow-up-enums.ts';
import { FollowUpType } from './follow-ups.ts';
import { managesSession } from './needs.ts';
import { PullRequestType } from './pull-requests.ts';
import { sessionIdDescription } from './session-id.ts';
import { Session } from './sessions.ts';

addMutation('setPullRequestFollowUp', {
  description:
    'Sets how follow-ups of a pull request reach its session. Follow-ups that a limit stopped continue, also if the value is the same.',
  needs: [managesSession],
  input: (t) => ({
    sessionId: t.id({ required: true, description: sessionIdDescription }),
    url: t.field({ type: 'URI', required: true, description: 'Address of the pull request, as the session has it.' }),
    mode: t.field({
      type: FollowUpModeEnum,
      description: 'New value. If null or omitted, the setting of the repository applies.',
    }),
  }),
  payload: {
    session: { type: Session, description: 'Session of the pull request. Null if `userErrors` is not empty.' },
    pullRequest: {
      type: PullRequestType,
      description: 'Pull request after the change. Null if `userErrors` is not empty.',
    },
  },
  act: async (input, { domain }) => {
    const session = await setPullRequestFollowUp(ofAnySession(domain, 'manage'), input);
    const own = session.pullRequests.find(({ url }) => url === input.url);
    return { session, pullRequest: own ? { ...own, sessionId: session.id } : null };
  },
});

const input = (t: InputFields) => ({
  followUpId: t.id({ required: true, description: 'Global ID or REST id of the follow-up.' }),
});

const payload = {
  session: { type: Session, description: 'Session of the follow-up. Null if `userErrors` is not empty.' },
  followUp: { type: FollowUpType, description: 'Follow-up after the change. Null if `userErrors` is not empty.' },
} as const;

const present = ({ session, followUp }: ChangedFollowUp) => ({ session, followUp });

addMutation('sendFollowUp', {
  description:
    'Sends a follow-up to its session, which resumes if it is suspended or finished. Limits do not apply. INVALID_STATE if it was sent already, or if the session takes no messages.',
  needs: [managesSession],
  input,
  payload,
  act: async (target, { domain }) => present(await sendFollowUp(ofAnySession(domain, 'manage'), target)),
});

addMutation('dismissFollowUp', {
  description:
    'Dismisses a follow-up that was not sent: the session does not get it. INVALID_STATE if it was sent already.',
  needs: [managesSession],
  input,
  payload,
  act: async (target, { domain }) => present(await dismissFollowUp(ofAnySession(domain, 'manage'), target)),
});
