import { common } from '../texts/common.ts';
import { status as texts } from '../texts/ui.ts';
import { dateFormat } from './date.ts';

/** The label and the badge colour of a status. */
export interface Shown {
  readonly label: string;
  readonly tone: 'good' | 'warn' | 'bad' | 'info' | 'plain';
  /** True if something is in progress. */
  readonly isWorking?: boolean;
}

interface Status {
  readonly status: string;
  readonly statusDetail?: string | null | undefined;
  readonly endReason?: string | null | undefined;
}

const whySuspended: Readonly<Record<string, string>> = texts.whySuspended;

const ended: Readonly<Record<string, Shown>> = {
  TERMINATED: { label: texts.terminated, tone: 'plain' },
  EXPIRED: { label: texts.expired, tone: 'plain' },
};

/** The status of a session in at most two words, where possible. */
export function showStatus({ status, statusDetail, endReason }: Status): Shown {
  if (status === 'NEW') return { label: texts.queued, tone: 'plain' };
  if (status === 'CLAIMED') return { label: texts.starting, tone: 'info', isWorking: true };
  if (status === 'RESUMING') return { label: texts.resuming, tone: 'info', isWorking: true };
  if (status === 'ERROR') return { label: common.failed, tone: 'bad' };
  if (status === 'SUSPENDED') {
    const label = whySuspended[statusDetail ?? ''] ?? texts.suspended;
    return { label, tone: statusDetail === 'USER_REQUEST' || statusDetail === 'INACTIVITY' ? 'plain' : 'warn' };
  }
  if (status === 'EXIT') return ended[endReason ?? ''] ?? { label: texts.finished, tone: 'good' };
  if (statusDetail === 'WAITING_FOR_USER') return { label: texts.needsYou, tone: 'warn' };
  if (statusDetail === 'WAITING_FOR_APPROVAL') return { label: texts.needsApproval, tone: 'warn' };
  if (statusDetail === 'WAITING_FOR_QUOTA') return { label: texts.providerLimit, tone: 'warn' };
  return { label: texts.working, tone: 'info', isWorking: true };
}

interface Wait {
  readonly statusDetail: string | null | undefined;
  readonly waitsUntil: string | null | undefined;
}

const time = { hour: 'numeric', minute: '2-digit' } as const;

/** The time until which a session waits for a limit of its model's provider. */
interface QuotaEnd {
  /** In the time zone of the browser; with the day, if it is not today. */
  readonly text: string;
  readonly isToday: boolean;
}

/** Returns the end of the session's wait for its model's provider; null: it does not wait. */
export function quotaEnd({ statusDetail, waitsUntil }: Wait): QuotaEnd | null {
  if (statusDetail !== 'WAITING_FOR_QUOTA' || !waitsUntil) return null;
  const until = new Date(waitsUntil);
  const isToday = until.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ day: 'numeric', month: 'short' } as const);
  return { text: dateFormat({ ...day, ...time }).format(until), isToday };
}
