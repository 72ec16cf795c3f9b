import { AgentCrash } from '../../../agents/agent.ts';
import { FencedError } from '../../sessions/log.ts';
import { RestoreDelay, waitForRestore } from '../restores/restore-waits.ts';
import { failureOf, logLineOf, quotaOver } from './failures.ts';
import type { LeasedRun } from './leased-run.ts';
import type { Mask } from './masking.ts';
import { recordQuotaWait } from './quota-waits.ts';
import { recordCrash } from './turns.ts';

/** Maximum length of the end of an agent's stderr in an error. */
const maxStderrCharacters = 2_000;

/** Waits before retries if the profile has none. */
const defaultRetryDelaysMs = [5_000, 15_000, 60_000];

/** Options of {@link endFailedRun}. */
export interface FailedRunOptions {
  readonly mask: Mask;
  /** The waits before retries of the profile; undefined: the default ones. */
  readonly retryDelaysMs: readonly number[] | undefined;
}

/** Records the error that ended a run: a wait, a retry or the end of the session. Writes nothing for a run that is over. */
export async function endFailedRun(
  leasedRun: LeasedRun,
  error: unknown,
  { mask, retryDelaysMs = defaultRetryDelaysMs }: FailedRunOptions,
): Promise<void> {
  const { context, run, isOver, agent } = leasedRun;
  if (isOver || error instanceof FencedError) return;
  const { sessionId } = run;
  if (error instanceof AgentCrash && error.reason === 'quota') return waitForQuota(leasedRun, error);
  if (error instanceof RestoreDelay) return waitForRestore(context, run, error);
  const failure = failureOf(error);
  context.metrics.agentFailures.inc({ agent: run.agent ?? context.defaultAgent, code: failure.code });
  const message = mask(failure.message);
  const stderr = error instanceof AgentCrash ? mask(error.stderrTail, true).slice(-maxStderrCharacters).trim() : null;
  if (failure.code === 'internal') context.log.error({ sessionId, err: error }, 'A session could not be run.');
  else context.log.warn({ sessionId, reason: message, stderr }, logLineOf(failure, agent !== null));
  await agent?.stop();
  const delays = failure.isRetryable ? retryDelaysMs : [];
  await recordCrash(context, run, { ...failure, message, stderr }, delays).catch((failed: unknown) => {
    if (!(failed instanceof FencedError))
      context.log.error({ err: failed, sessionId }, 'A crash could not be written.');
  });
}

async function waitForQuota({ context, run, agent }: LeasedRun, crash: AgentCrash): Promise<void> {
  const { sessionId } = run;
  await agent?.stop();
  try {
    const outcome = await recordQuotaWait(context, run, crash);
    context.log.info({ sessionId, outcome }, 'The provider of a model has reached its limit.');
    if (outcome === 'recorded') return;
    await recordCrash(context, run, { ...quotaOver, stderr: null }, []);
  } catch (error) {
    if (!(error instanceof FencedError))
      context.log.error({ err: error, sessionId }, 'A wait could not be written to the log.');
  }
}
