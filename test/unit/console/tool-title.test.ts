import { expect, it } from 'vitest';
import { toolNames } from '../../../src/domain/execution/reports/tool-list.ts';
import { toolTitle } from '../../../web/src/session/tool-title.ts';

it('names the tools of the service in words, however the agent writes their names', () => {
  for (const title of ['open_pull_request', 'Call open_pull_request', 'mcp__switchyard__open_pull_request'])
    expect(toolTitle(title)).toBe('Open pull request');
  for (const title of ['Tool: switchyard/set_structured_output', 'switchyard.set_structured_output'])
    expect(toolTitle(title)).toBe('Set output');
  expect(toolNames.map(toolTitle).filter((title) => title.includes('_'))).toEqual([]);
});

it('keeps every other title', () => {
  for (const title of ['npm test', 'Call my_tool', 'cat open_pull_request', 'constructor', '', 'Read a.ts'])
    expect(toolTitle(title)).toBe(title);
});
