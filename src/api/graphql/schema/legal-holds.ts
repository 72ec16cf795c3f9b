import { findOrganizations } from '../../../domain/identity/organizations/use-organization.ts';
import { findUsers } from '../../../domain/identity/people/find-people.ts';
import { prefixedId } from '../../../domain/ids.ts';
import { createLegalHold, idKindOf, releaseLegalHold } from '../../../domain/legal-holds/change-legal-holds.ts';
import { type LegalHoldKind, type LegalHoldRecord, legalHoldsOf } from '../../../domain/legal-holds/legal-holds.ts';
import { builder } from '../builder.ts';
import { addList, listTypes } from './add-list.ts';
import { addMutation } from './add-mutation.ts';
import { defineEnum } from './define-enum.ts';
import { Enterprise } from './enterprise-ref.ts';
import { createdMembers, filterInput, orderInput, parseListFilter } from './list-inputs.ts';
import { Organization, restIdField } from './organization-ref.ts';
import { User } from './people.ts';
import { loadPrincipal, Principal } from './principals.ts';
import { Session } from './sessions.ts';

const LegalHoldKindEnum = defineEnum<LegalHoldKind>('LegalHoldKind', 'Kind of the target of a legal hold.', {
  SESSION: 'The target is one session.',
  ORGANIZATION: 'The target is an organization with all its sessions.',
  USER: 'The target is a user with all sessions that the user created.',
});

export const LegalHold = builder.objectRef<LegalHoldRecord>('LegalHold');

/** The types of lists of LegalHold. */
export const LegalHoldList = listTypes(LegalHold, 'LegalHold');

builder.node(LegalHold, {
  description:
    'Legal hold: while it lasts, nothing of a session, an organization or a user is deleted, neither by a retention time nor on request. It stays in the list after its release.',
  id: { resolve: ({ id }) => id, description: 'Global ID of the legal hold, unique across all types.' },
  fields: (t) => ({
    legalHoldId: restIdField(t, 'legalHold', 'Id of the legal hold: `legal-hold-` and 32 hexadecimal digits.'),
    kind: t.expose('kind', { type: LegalHoldKindEnum, description: 'Kind of the target of the hold.' }),
    targetId: t.string({
      description: 'REST id of the session, the organization or the user.',
      resolve: ({ kind, targetId }) => prefixedId(idKindOf[kind], targetId),
    }),
    session: t.field({
      type: Session,
      nullable: true,
      description: 'Session of a hold of the kind SESSION; null for others, and if the viewer may not see it.',
      resolve: ({ kind, targetId }, _args, { loaders }) =>
        kind === 'SESSION' ? loaders.sessions.load(targetId) : null,
    }),
    organization: t.field({
      type: Organization,
      nullable: true,
      description:
        'Organization of a hold of the kind ORGANIZATION; null for others, and if the viewer may not use it.',
      resolve: ({ kind, targetId }, _args, { loaders }) =>
        kind === 'ORGANIZATION' ? loaders.of(findOrganizations).load(targetId) : null,
    }),
    user: t.field({
      type: User,
      nullable: true,
      description:
        'User of a hold of the kind USER; null for others, if the user was deleted, and if the viewer may not see it.',
      resolve: ({ kind, targetId }, _args, { loaders }) =>
        kind === 'USER' ? loaders.of(findUsers).load(targetId) : null,
    }),
    reason: t.exposeString('reason', { description: 'Reason of the hold, in plain text.' }),
    createdBy: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that created the hold; null if the viewer may not see that principal.',
      resolve: (hold, _args, context) => loadPrincipal(context, hold),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time when the hold was created.' }),
    releasedBy: t.field({
      type: Principal,
      nullable: true,
      description: 'Principal that released the hold; null if it lasts, and if the viewer may not see that principal.',
      resolve: (hold, _args, context) =>
        hold.releasedAt === null
          ? null
          : loadPrincipal(context, {
              userId: hold.releasedByUserId,
              serviceUserId: hold.releasedByServiceUserId,
              serviceKeyId: hold.releasedByServiceKeyId,
            }),
    }),
    releasedAt: t.expose('releasedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time when the hold was released; null if it lasts.',
    }),
  }),
});

const LegalHoldFilterInput = filterInput('LegalHold', (t) => ({
  search: t.string({ description: 'Only holds whose reason contains this text, regardless of case.' }),
  isReleased: t.boolean({ description: 'If true, only released holds. If false, only holds that last.' }),
  ...createdMembers(t),
}));

const LegalHoldOrderInput = orderInput('LegalHold', 'Time when the hold was created.');

addList(Enterprise, 'legalHolds', {
  types: LegalHoldList,
  description: 'Legal holds of the enterprise, also released ones.',
  needs: 'manageLegalHolds',
  filter: LegalHoldFilterInput,
  order: LegalHoldOrderInput,
  read: (_enterprise, args, { domain }) => legalHoldsOf(domain, parseListFilter(args.filter), args.orderBy),
});

const LegalHoldTargetInput = builder.inputType('LegalHoldTargetInput', {
  isOneOf: true,
  description: 'Target of a legal hold. Exactly one of the members must be set.',
  fields: (t) => ({
    sessionId: t.id({ description: 'Global ID or REST id of a session (`devin-…`).' }),
    organizationId: t.id({ description: 'Global ID or REST id of an organization (`org-…`).' }),
    userId: t.id({ description: 'Global ID or REST id of a user (`user-…`), also of a deleted one.' }),
  }),
});

/** The payload of createLegalHold. */
export const CreateLegalHoldPayload = addMutation('createLegalHold', {
  description:
    'Puts a legal hold on a session, on an organization, or on a user with all sessions that the user created. From then on nothing of it is deleted. Several holds may cover the same data; it is free when all are released.',
  needs: ['manageLegalHolds'],
  input: (t) => ({
    target: t.field({ type: LegalHoldTargetInput, required: true, description: 'Target of the new legal hold.' }),
    reason: t.string({ required: true, description: 'Reason of the hold: 1 to 2,000 characters, not blank.' }),
  }),
  takes: 'idempotencyKey',
  payload: { legalHold: LegalHold },
  act: async (input, { domain }, options) => ({ legalHold: await createLegalHold(domain, input, options) }),
});

addMutation('releaseLegalHold', {
  description:
    'Releases a legal hold. What it was on is deleted as before, unless another hold covers it. Does nothing if the hold was released before.',
  needs: ['manageLegalHolds'],
  input: (t) => ({
    legalHoldId: t.id({
      required: true,
      description: 'Global ID of the legal hold, or its id such as `legal-hold-…`.',
    }),
  }),
  payload: { legalHold: LegalHold },
  act: async ({ legalHoldId }, { domain }) => ({ legalHold: await releaseLegalHold(domain, legalHoldId) }),
});
