import type { GitAbility } from '../../__generated__/useConnectionTestMutation.graphql.ts';
import { common } from '../../texts/common.ts';
import { abilityReport as texts } from '../../texts/git-connections.ts';

/** An ability that a test of a connection reported. */
export interface ReportedAbility {
  readonly ability: GitAbility;
  readonly permission: string;
  readonly isGranted: boolean | null | undefined;
  readonly isRequired: boolean;
}

const labels: Readonly<Record<Exclude<GitAbility, '%future added value'>, string>> = texts.labels;

/** The name of an ability for display. GitHub has two permissions to read checks: one of them for commit statuses. */
export function abilityLabel({ ability, permission }: Pick<ReportedAbility, 'ability' | 'permission'>): string {
  if (ability === '%future added value') return texts.otherPermission;
  return ability === 'CHECKS' && /status/i.test(permission) ? texts.readCommitStatuses : labels[ability];
}

/** Returns the name of an account for display, which tells once that it is of a program. */
export function accountLabel({ login, isBot }: { readonly login: string; readonly isBot: boolean }): string {
  return isBot && !/(?:^|[^a-z])bot(?:[^a-z]|$)/i.test(login) ? `${login} (bot)` : login;
}

/** The state of an ability, as text and colour. */
export interface AbilityState {
  readonly label: string;
  readonly tone: 'good' | 'bad' | 'warn' | 'plain';
}

/** Returns the state of an ability. A forge may tell only when a permission is used. */
export function abilityState({ isGranted, isRequired }: ReportedAbility): AbilityState {
  if (isGranted === true) return { label: texts.granted, tone: 'good' };
  if (isGranted == null) return { label: common.unknown, tone: 'plain' };
  return isRequired ? { label: texts.missing, tone: 'bad' } : { label: texts.missingOptional, tone: 'warn' };
}

/** Returns the abilities with the missing ones first: required, then optional, then unknown, then granted. */
export function byUrgency(abilities: readonly ReportedAbility[]): readonly ReportedAbility[] {
  const order = ['bad', 'warn', 'plain', 'good'];
  return abilities.toSorted((a, b) => order.indexOf(abilityState(a).tone) - order.indexOf(abilityState(b).tone));
}

/** Returns the permissions that sessions need and the connection lacks, in the words of the forge. */
export const missingPermissions = (abilities: readonly ReportedAbility[]): readonly string[] =>
  abilities.filter((each) => abilityState(each).tone === 'bad').map(({ permission }) => permission);

const failures: Readonly<Record<string, string>> = texts.failures;

/** The cause of a failed test, in a few words. */
export const failureLabel = (code: string): string => failures[code] ?? common.failed;
