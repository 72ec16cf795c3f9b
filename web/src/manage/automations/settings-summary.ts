import { settingsFields as texts } from '../../texts/automation-form.ts';
import { common } from '../../texts/common.ts';
import { missedLabel } from './labels.ts';
import type { SettingsDraft } from './settings.ts';

/** Periods in which runs are counted, in seconds, with their names. */
export const windows: Readonly<Record<string, string>> = {
  60: texts.windowMinute,
  3600: texts.windowHour,
  86400: texts.windowDay,
  604800: texts.windowWeek,
};

/** The name of a period; other periods are written in seconds. */
export const windowLabel = (seconds: string): string =>
  windows[seconds] ?? texts.windowSeconds({ count: Number(seconds) });

const listed = (parts: readonly (string | false)[], none: string): string =>
  parts.filter((part) => part !== false).join(' · ') || none;

/** The limits that are set, in words. */
export const limitsSummary = ({ maxAcuLimit, maxPerWindow, windowSeconds }: SettingsDraft): string =>
  listed(
    [
      maxAcuLimit !== '' && texts.acusSummary({ count: Number(maxAcuLimit) }),
      maxPerWindow !== '' &&
        texts.runsSummary({ count: Number(maxPerWindow), window: windowLabel(windowSeconds).toLowerCase() }),
    ],
    common.noLimit,
  );

/** The settings of concurrent, late and missed runs that are not the default, in words. */
export const queueSummary = (settings: SettingsDraft): string => {
  const { maxConcurrentRuns, maxQueueDepth, jitterSeconds, missedRuns } = settings;
  return listed(
    [
      maxConcurrentRuns !== '' && texts.concurrentSummary({ count: Number(maxConcurrentRuns) }),
      maxQueueDepth !== '' && texts.queuedSummary({ count: Number(maxQueueDepth) }),
      jitterSeconds !== '' && texts.delaySummary({ count: Number(jitterSeconds) }),
      missedRuns !== 'LATEST' && texts.missedSummary({ choice: missedLabel(missedRuns).toLowerCase() }),
    ],
    common.serviceDefault,
  );
};

/** The owner of the runs, and if there are settings without a field, in words. */
export const moreSummary = ({ runAs, more }: SettingsDraft): string =>
  listed(
    [
      texts.runAsSummary({ who: (runAs === 'ORGANIZATION' ? common.organization : texts.creator).toLowerCase() }),
      more.trim() !== '' && texts.otherSettings,
    ],
    '',
  );
