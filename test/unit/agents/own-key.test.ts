import { expect, it } from 'vitest';
import { describeOwnKey } from '../../../src/agents/profiles/route-launch.ts';
import { detectedProfile } from '../../../src/agents/profiles.ts';

it.each([
  [{ OPENAI_API_KEY: 'k' }, 'key in OPENAI_API_KEY'],
  [{ OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, 'key in OPENAI_API_KEY'],
  [{ OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }, 'server in OPENAI_BASE_URL'],
])('names the source of an agent’s key: %j', async (variables: Readonly<Record<string, string>>, expected) => {
  const readVariable = (name: string) => variables[name];
  expect(describeOwnKey(await detectedProfile('opencode', readVariable), readVariable)).toBe(expected);
});
