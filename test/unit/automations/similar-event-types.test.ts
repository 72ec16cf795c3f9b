import { expect, it } from 'vitest';
import { findSimilarEventType } from '../../../src/domain/automations/model/event-types.ts';

it.each([
  ['github:issue', 'github:issues'],
  ['GitHub:Issue', 'github:issues'],
  ['gitlab:issues', 'gitlab:issue'],
  ['github:pull_requests', 'github:pull_request'],
  ['pipeline', 'gitlab:pipeline'],
  ['github:', null],
  ['', null],
  ['nothing', null],
])('suggests for the event type "%s" %s', (name, similar) => {
  expect(findSimilarEventType(name)).toBe(similar);
});
