import { fetchQuery, graphql, readInlineData, useRelayEnvironment } from 'react-relay';
import type { useLatestAutomation_automation$key } from '../../__generated__/useLatestAutomation_automation.graphql.ts';
import type { useLatestAutomationQuery } from '../../__generated__/useLatestAutomationQuery.graphql.ts';
import { latestAutomation as texts } from '../../texts/automations.ts';
import type { Values } from '../kit/kit.ts';
import { type Definition, definitionOf } from './draft.ts';

/** The service's current version of an automation. */
export interface LatestAutomation {
  readonly definition: Definition;
  readonly at: string;
  readonly version: number;
}

const fragment = graphql`
  fragment useLatestAutomation_automation on Automation @inline {
    deletedAt
    updatedAt
    version
    ...automationFragment_automation @relay(mask: false)
  }
`;

const query = graphql`
  query useLatestAutomationQuery($id: ID!) {
    node(id: $id) {
      ...useLatestAutomation_automation @alias(as: "automation")
    }
  }
`;

/** Reads the current version of an automation; null if it was deleted. */
export function useLatestAutomation(): (id: string) => Promise<LatestAutomation | null> {
  const environment = useRelayEnvironment();
  return async (id) => {
    const found = await fetchQuery<useLatestAutomationQuery>(environment, query, { id }).toPromise();
    const automation = readInlineData<useLatestAutomation_automation$key>(fragment, found?.node?.automation ?? null);
    if (!automation || automation.deletedAt) return null;
    return { definition: definitionOf(automation), at: automation.updatedAt, version: automation.version };
  };
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** The parts that both this form and another user changed since `base`, to different values. */
export function conflictingParts(
  changes: Partial<Definition>,
  base: Definition,
  latest: Definition,
): readonly (keyof Definition)[] {
  const names = Object.keys(changes) as (keyof Definition)[];
  return names.filter((name) => !isSame(latest[name], base[name]) && !isSame(latest[name], changes[name]));
}

/** Parts of an automation as texts for comparison. */
export function textsOf(definition: Definition, names: readonly (keyof Definition)[]): Values {
  const textOf = (value: unknown) =>
    typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value, null, 2);
  return Object.fromEntries(names.map((name) => [name, textOf(definition[name])]));
}

/** The labels of the parts. */
export const partLabels: Readonly<Record<keyof Definition, string>> = texts.partLabels;
