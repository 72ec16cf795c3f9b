import { pullRequestChips as texts } from '../texts/sessions.ts';

type Tone = 'info' | 'good' | 'bad' | 'plain';

/** The pull requests of a session in one state. */
export interface PullRequestChip {
  readonly text: string;
  readonly tone: Tone;
}

const tones: Readonly<Record<string, Tone>> = { OPEN: 'info', MERGED: 'good', CLOSED: 'bad' };

/** Returns the colour of a pull request's state. */
export const pullRequestTone = (state: string): Tone => tones[state] ?? 'plain';

/** Returns one chip for each state of pull requests, the open ones first: `PR open`, or `2 PRs merged`. */
export function pullRequestChips(pullRequests: readonly { readonly state: string }[]): readonly PullRequestChip[] {
  const counts = new Map<string, number>(Object.keys(tones).map((state) => [state, 0]));
  for (const { state } of pullRequests) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].flatMap(([state, count]) => {
    if (count === 0) return [];
    const text =
      state in texts.states
        ? texts.states[state as keyof typeof texts.states](count)
        : texts.other({ count, state: state.toLowerCase().replaceAll('_', ' ') });
    return [{ text, tone: pullRequestTone(state) }];
  });
}
