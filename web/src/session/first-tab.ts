const paneTabs = ['changes', 'terminal', 'files', 'plan', 'output', 'details'] as const;

/** A tab of the pane beside the conversation. */
export type PaneTab = (typeof paneTabs)[number];

/** Returns the tab with a name; null: none has it. */
export const findTab = (name: string | null): PaneTab | null => paneTabs.find((tab) => tab === name) ?? null;

/** The tabs that have something to show when the page opens, as far as the page knows then; the details always have. */
export type TabContents = Readonly<Record<Exclude<PaneTab, 'details'>, boolean>>;

/** Returns the tab that a page shows first: the remembered one unless it is empty, the changes, the plan, or the details. */
export function firstTab(remembered: PaneTab | null, contents: TabContents): PaneTab {
  if (remembered === 'details' || (remembered !== null && contents[remembered])) return remembered;
  if (contents.changes) return 'changes';
  return contents.plan ? 'plan' : 'details';
}
