/** A phase of git's work, and how far it is. */
export interface GitProgress {
  /** Git's own words: `Receiving objects`. */
  readonly phase: string;
  readonly percent: number;
  /** The received bytes, if git says them. */
  readonly bytes: number | null;
}

const line = /^(?:remote: )?([A-Z][A-Za-z ]{2,40}): +(\d{1,3})% \(\d+\/\d+\)(?:, ([\d.]+) (bytes|KiB|MiB|GiB))?/;

const units: Readonly<Record<string, number>> = { bytes: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 };

/** Reads a line that git writes with `--progress`; null: it is another line. */
export function readProgress(text: string): GitProgress | null {
  const [, phase, percent, amount, unit] = line.exec(text) ?? [];
  if (phase === undefined || percent === undefined) return null;
  const bytes = amount === undefined ? null : Math.round(Number(amount) * (units[unit ?? ''] ?? 1));
  return { phase, percent: Math.min(100, Number(percent)), bytes };
}
