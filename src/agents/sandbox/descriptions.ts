import { bwrapDescription } from './bwrap.ts';
import type { DriverDescription } from './driver.ts';
import { hostDescription } from './host-command.ts';
import type { SandboxSettings } from './settings.ts';
import type { StrictnessRange } from './strictness.ts';
import { commandDescription } from './wrap-with-command.ts';

const descriptions = {
  none: hostDescription,
  bwrap: bwrapDescription,
  command: commandDescription,
} as const satisfies Record<SandboxSettings['driver'], DriverDescription>;

/** The names of the drivers, as profiles write them. */
export const driverNames = Object.keys(descriptions) as SandboxSettings['driver'][];

/** The drivers from which a worker chooses for settings that name none, weakest first. */
const defaults = { weakest: hostDescription, strictest: bwrapDescription } as const;

/** Returns the strictness of settings; with null, each worker chooses the driver, and workers may choose differently. */
export function strictnessOf(settings: SandboxSettings | null): StrictnessRange {
  const { weakest, strictest } =
    settings === null ? defaults : { weakest: descriptions[settings.driver], strictest: descriptions[settings.driver] };
  return { weakest: weakest.strictness(settings), strictest: strictest.strictness(settings) };
}

/** Describes the driver that starts agents with these settings; with null, a driver of this host. */
export function describeDriver(settings: SandboxSettings | null): DriverDescription {
  return descriptions[settings?.driver ?? 'none'];
}
