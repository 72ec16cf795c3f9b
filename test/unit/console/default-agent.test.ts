import { expect, it } from 'vitest';
import { defaultAgentProblem } from '../../../web/src/sessions/default-agent.ts';

const demo = { agentId: 'demo', isDefault: true, keySource: 'NOT_NEEDED' };
const other = { agentId: 'opencode', isDefault: false, keySource: 'NONE' };

it('warns if the default agent is gone, or only the demo agent is left', () => {
  expect(defaultAgentProblem([demo], 'opencode')).toBe('MISSING');
  expect(defaultAgentProblem([demo, other], 'opencode')).toBeNull();
  expect(defaultAgentProblem([demo], null)).toBe('DEMO');
  expect(defaultAgentProblem([demo, other], null)).toBe('DEMO');
});

it('does not warn if the demo agent was chosen, or another agent is the default', () => {
  expect(defaultAgentProblem([demo, other], 'demo')).toBeNull();
  expect(defaultAgentProblem([demo, { ...other, keySource: 'ORGANIZATION' }], null)).toBeNull();
  expect(
    defaultAgentProblem(
      [
        { ...demo, isDefault: false },
        { ...other, isDefault: true },
      ],
      null,
    ),
  ).toBeNull();
});
