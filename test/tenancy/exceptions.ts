import { expect } from 'vitest';
import type { Matrix } from './matrix.ts';
import type { Operation } from './operation.ts';

/** Arguments for which an own id never gives another result than an unknown id; each with its reason. */
const notLookedUp = [
  // Uploads exist only over REST, and the seeded attachments are already in use.
  / \/ input\.attachmentIds$/,
  // Optional inputs are sent in their first form only, and the first action starts a session; the creation tries each form.
  /^PATCH .*\/automations\/\{automation_id\} \/ body:\.actions\.target_devin_id$/,
  // No schedule starts a session.
  / \/ query:schedule_id$/,
  // There are no searches to count, and no categories.
  /\/metrics\/(?:searches|sessions-by-category) \/ query:/,
  // These find an object by its scope and a text in it (test/graphql/lookups.test.ts).
  /^Query\.(?:playbook|knowledgeNote|knowledgeFolder|secret|snapshot) \/ \d:by\.\w+\.(?:scope\.)?organizationId$/,
  // A key of a service user belongs to no user.
  /^ServiceUser\.apiKeys \/ \d:filter\.userId$/,
  // No user of an organization has created a key, a git connection or a legal hold of the enterprise, or a git permission.
  /^(?:Enterprise\.(?:providerKeys|gitConnections|legalHolds)|Organization\.gitPermissions) \/ \d:filter\.createdByIds$/,
  // Of these figures only the active users are read here, and a service user is none.
  /\.metrics \/ 1:serviceUserIds$/,
];

/** Routes of missing features (docs/wire/v3.md): permitted callers are refused, or find nothing. */
const withoutFeature = [
  /\/org-group-limits$/,
  /^(?!GET).*\/repositories\/indexing$/,
  /\/repositories\/\{path\}\/indexing(?:\/branches\/\{branch_name\})?$/,
];

/** Groups are found by their names, and nobody signs in with a provider here: test/auth/sign-on-groups.test.ts has them. */
const ofGroups = [/\/idp-groups\/\{idp_group_name\}$/];

/** A program that waits for approval belongs to nobody, and its code works once: test/auth/device-authorizations.test.ts has them. */
const ofPrograms = [/^(?:Query\.deviceAuthorization|Mutation\.(?:approve|deny)DeviceAuthorization)$/];

/** Operations that need a forge, a worker, or exactly one of several members; tests of their own have them. */
const withForge = [
  /^Mutation\.(?:drain|undrain)Worker$/,
  /^Mutation\.(?:open|review)PullRequest$/,
  /\/pr-reviews$/,
  /^Mutation\.completeGithubApp(?:Installation|Registration)$/,
  /^GET .*\/git-providers\/connections\/\{connection_id\}\/repositories$/,
  /^P(?:OST|UT) .*\/git-providers\/permissions$/,
];

/** Returns true for an operation that never succeeds in the matrix. */
export const isWithoutFeature = (name: string): boolean =>
  [...withoutFeature, ...ofGroups, ...ofPrograms, ...withForge].some((route) => route.test(name));

/** Lists of missing features, and those that only a forge fills: no forge is there. */
const alwaysEmpty = [
  /\/connections\/\{connection_id\}\/repositories$/,
  /^GitConnection\.repositories$/,
  // Nobody has signed in with a provider, so no user has a role by a group.
  /\/idp-users$/,
  /\/hypervisors$/,
  /\/guardrail-violations$/,
  /\/repositories\/indexing$/,
];

/** Returns true for a list that is always empty. */
export const isAlwaysEmpty = (name: string): boolean => alwaysEmpty.some((route) => route.test(name));

/**
 * Fails unless each id argument finds own objects where those of others are not found: an argument without a lookup proves
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

/** The writes that principals with few permissions may make, by the name of the route or the mutation. */
const writes: Readonly<Record<string, RegExp>> = {
  // UseSessions, ManageOrgSessions on own sessions, UsePersonalAutomations; own keys, and own keys of model providers.
  'a member’s personal access token':
    /session|(?:build|refresh)Environment|snapshot|turn|message|question|presence|follow-?up|api-?key|provider-?key|token|automation|attachment/i,
  'a member’s personal key':
    /session|(?:build|refresh)Environment|snapshot|turn|message|question|presence|follow-?up|api-?key|testProviderKey|token|automation|attachment/i,
  // ViewOrgSessions, with own read marks and pins, ViewOrgMembership, ManageOrgServiceUsers; own keys.
  'a user of a custom role':
    /service-?user|presence|markSessionRead|pinSession|savedView|refreshSessionChanges|api-?key|token/i,
  // ReadAccountMeta; own keys.
  'an account_member': /api-?key|token/i,
  // ViewAccountMembership, ManageAccountMembership; keys and sign-in links of users.
  'an enterprise user of a custom role': /user|member|role|api-?key|token|idp-?group|sign-?in-?link/i,
};

/** Fails if a principal succeeded with a write for which it has no permission. */
export function expectPermitted(matrix: Matrix): void {
  const unexpected = [...matrix.writes].flatMap(([name, principals]) =>
    [...principals].filter((each) => writes[each]?.test(name) === false).map((each) => `${name} by ${each}`),
  );
  expect(unexpected, 'These were done without a permission, or test/tenancy/exceptions.ts does not know them.').toEqual(
    [],
  );
}
