import { describe, expect, it } from 'vitest';
import { findTab, firstTab } from '../../../web/src/session/first-tab.ts';

const empty = { changes: false, terminal: false, files: false, plan: false, output: false };

describe('the first tab of a session page', () => {
  it('is the remembered one if it has content', () => {
    expect(firstTab('files', { ...empty, files: true, changes: true })).toBe('files');
    expect(firstTab('details', { ...empty, changes: true })).toBe('details');
  });

  it('is otherwise that of the changes, the plan or the details', () => {
    expect(firstTab('files', { ...empty, changes: true, plan: true })).toBe('changes');
    expect(firstTab('terminal', { ...empty, plan: true, files: true })).toBe('plan');
    expect(firstTab('output', { ...empty, files: true })).toBe('details');
    expect(firstTab(findTab('unknown'), empty)).toBe('details');
  });
});
