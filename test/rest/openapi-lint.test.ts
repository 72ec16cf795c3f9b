import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { useApp } from '../support/use-app.ts';

const app = useApp();

// The findings of `redocly lint`; redocly.yaml switches off the one rule that the API breaks.
test.each(['v1', 'v2', 'v3'])('%s: Redocly finds nothing in its document', async (version) => {
  const source = await (await fetch(`${app.url}/openapi/${version}.json`)).text();
  const config = await loadConfig({ configPath: 'redocly.yaml' });
  const problems = await lintFromString({ source, absoluteRef: `${version}.json`, config });
  expect(problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`)).toEqual([]);
});
