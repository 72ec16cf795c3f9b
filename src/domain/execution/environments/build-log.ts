import { lastCharacters, type ToolOutput } from '../../../agents/acp/tool-output.ts';
import type { Context } from '../../context.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';
import { recordLog } from './requested-builds.ts';

/** The time between two records of the log of a build that runs, in ms. */
const betweenMs = 2_000;

/** The log of a build while it runs. */
export interface BuildLog {
  /** Shows the output so far of a command, after the masked log of those before it. */
  show(before: string, command: string, output: ToolOutput): void;
  /** Resolves when nothing is written any more. */
  close(): Promise<void>;
}

/** Options of {@link createBuildLog}. */
export interface BuildLogOptions {
  readonly buildId: string;
  readonly mask: Mask;
  /** Returns the number of characters that may be shown before more follow. */
  safeLength(text: string): number;
}

/**
 * Creates the writer of the log of a build that runs: at most once in two seconds, and without an end that may be the beginning of a
 * secret. A failure is logged, and the log is complete once the build ends.
 */
export function createBuildLog(
  context: Context,
  run: ClaimedRun,
  { buildId, mask, safeLength }: BuildLogOptions,
): BuildLog {
  let render: (() => string) | null = null;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const write = () => {
    timer = null;
    if (render === null) return;
    const text = render();
    render = null;
    writing = recordLog(context, run, buildId, text).catch((err: unknown) =>
      context.log.warn({ err, sessionId: run.sessionId }, 'The log of a set-up that runs could not be written.'),
    );
  };
  return {
    show(before, command, output) {
      render = () => {
        const text = lastCharacters(output);
        return `${before}$ ${mask(command)}\n${mask(text.slice(0, safeLength(text)), true)}`;
      };
      timer ??= setTimeout(() => void writing.then(write), betweenMs).unref();
    },
    async close() {
      if (timer) clearTimeout(timer);
      render = null;
      await writing;
    },
  };
}
