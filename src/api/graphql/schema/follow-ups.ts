import type { FollowUp, FollowUpState } from '../../../domain/follow-ups/follow-up.ts';
import { findFollowUpPreviews } from '../../../domain/follow-ups/list-follow-ups.ts';
import { builder } from '../builder.ts';
import { defineEnum } from './define-enum.ts';
import { followUpKind } from './follow-up-enums.ts';
import { restIdField } from './organization-ref.ts';

const FollowUpStateEnum = defineEnum<FollowUpState>('FollowUpState', 'The state of a follow-up.', {
  pending: 'The follow-up waits for more comments, or is about to be sent.',
  suggested: 'The follow-up waits until a person sends or dismisses it.',
  sent: 'The follow-up was sent to the session.',
  dismissed: 'A person dismissed the follow-up.',
  capped: 'A limit stopped the follow-up.',
  skipped:
    'The follow-up was not sent: the session takes no messages, the pull request is not open, or the occasion was there before the session.',
});

/** A follow-up of a pull request. */
export const FollowUpType = builder.objectRef<FollowUp>('FollowUp');

builder.node(FollowUpType, {
  description: 'Result of checks, review, comments or conflict of a pull request, for the session that works on it.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the follow-up, unique across all types.' },
  fields: (t) => ({
    followUpId: restIdField(t, 'followUp', 'Id of the follow-up: `follow-up-` and 32 hexadecimal digits.'),
    pullRequestUrl: t.expose('url', {
      type: 'URI',
      description: 'URL of the pull request that the follow-up is about.',
    }),
    kind: t.field({
      type: followUpKind.type,
      description: 'Occasion of the follow-up.',
      resolve: ({ kind }) => kind,
    }),
    state: t.field({
      type: FollowUpStateEnum,
      description: 'Current state of the follow-up.',
      resolve: ({ state }) => state,
    }),
    summary: t.exposeString('summary', { description: 'Summary in one line. It contains text of the forge.' }),
    messagePreview: t.string({
      description:
        'Beginning of the message that the session gets, or got, with the follow-up: at most 10,000 characters. It quotes text of the forge, in which secrets of the session are masked. While the follow-up is pending, more comments may be added.',
      resolve: async ({ id }, _args, { loaders }) => (await loaders.of(findFollowUpPreviews).load(id))?.preview ?? '',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the service found the occasion.' }),
    settledAt: t.expose('settledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the last change of the state; null while the follow-up is pending.',
    }),
  }),
});
