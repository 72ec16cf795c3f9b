import { expect } from 'vitest';
import type { Matrix } from './matrix.ts';
import type { Operation } from './operation.ts';

/** Arguments of which no own id did otherwise than one that never existed; each with its reason. */
const notLookedUp = [
  // Uploading is REST's; what is planted is in use already.
  / \/ input\.attachmentIds$/,
  // What is optional is sent in its first form only, and the first action starts a session; its creation tries each.
  /^PATCH .*\/automations\/\{automation_id\} \/ body:\.actions\.target_devin_id$/,
  // No session is started by a schedule.
  / \/ query:schedule_id$/,
  // There are no searches to be counted, and no categories.
  /\/metrics\/(?:searches|sessions-by-category) \/ query:/,
  // These find a thing by its place and a text in one (test/graphql/lookups.test.ts).
  /^Query\.(?:playbook|knowledgeNote|knowledgeFolder|secret) \/ \d:by\.\w+\.(?:scope\.)?organizationId$/,
  // A key of a service user is no user's.
  /^ServiceUser\.apiKeys \/ \d:filter\.userId$/,
  // Of the figures themselves only the users that were active are read here, and no service user is one.
  /\.metrics \/ 1:serviceUserIds$/,
];

/** Routes of features that there are not (docs/wire/v3.md): whoever may ask is refused, or finds nothing. */
const withoutFeature = [
  /^(?!GET).* .*\/idp-groups(?:\/|$)/,
  /^GET .*\/idp-groups\/\{idp_group_name\}$/,
  /^GET .*\/git-providers\/connections\/\{connection_id\}\/repositories$/,
  /^P.* .*\/git-providers\/permissions$/,
  /\/git-providers\/permissions\/\{git_permission_id\}$/,
  /\/org-group-limits$/,
  /^(?!GET).*\/repositories\/indexing$/,
  /\/repositories\/\{path\}\/indexing(?:\/branches\/\{branch_name\})?$/,
  /\/pr-reviews$/,
];

/** True of an operation that nobody can bring to a good end. */
export const isWithoutFeature = (name: string): boolean => withoutFeature.some((route) => route.test(name));

/** Pages of features that there are not. */
const alwaysEmpty = [
  /\/idp-(?:groups|users)$/,
  /\/git-providers\//,
  /\/hypervisors$/,
  /\/guardrail-violations$/,
  /\/repositories(?:\/indexing)?$/,
];

/** True of a list that nobody ever has anything on. */
export const isAlwaysEmpty = (name: string): boolean => alwaysEmpty.some((route) => route.test(name));

/**
 * Fails unless own things were really found where others' were not: an argument that nothing was looked up by proves
 * nothing about tenants.
 */
export function expectLookups(matrix: Matrix, operations: readonly Operation[]): void {
  const names = operations
    .filter(({ name }) => !isWithoutFeature(name))
    .flatMap(({ name, slots }) =>
      slots.filter((slot) => !slot.isAncestor && !slot.isOfMany).map((slot) => `${name} / ${slot.name}`),
    );
  const missing = names.filter((name) => !matrix.lookedUp.has(name) && !notLookedUp.some((each) => each.test(name)));
  expect(
    missing,
    'By these no own thing was found: plant one that fits in test/tenancy/tenant.ts, or name it in test/tenancy/exceptions.ts with the reason.',
  ).toEqual([]);
}

/** What those with few permissions may write, by the name of the route or the mutation. */
const writes: Readonly<Record<string, RegExp>> = {
  // UseSessions, ManageOrgSessions on own ones, UsePersonalAutomations; keys of its own.
  'a member’s personal access token': /session|message|question|api-?key|token|automation|attachment/i,
  'a member’s personal key': /session|message|question|api-?key|token|automation|attachment/i,
  // ViewOrgSessions, ViewOrgMembership, ManageOrgServiceUsers; keys of its own.
  'a user of a custom role': /service-?user|api-?key|token/i,
  // ReadAccountMeta; keys of its own.
  'an account_member': /api-?key|token/i,
  // ViewAccountMembership, ManageAccountMembership; keys of users.
  'an enterprise user of a custom role': /user|member|role|api-?key|token/i,
};

/** Fails when somebody brought a write to a good end for which it has no permission. */
export function expectPermitted(matrix: Matrix): void {
  const unexpected = [...matrix.writes].flatMap(([name, principals]) =>
    [...principals].filter((each) => writes[each]?.test(name) === false).map((each) => `${name} by ${each}`),
  );
  expect(unexpected, 'These were done without a permission, or test/tenancy/exceptions.ts does not know them.').toEqual(
    [],
  );
}
