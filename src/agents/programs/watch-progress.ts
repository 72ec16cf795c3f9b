import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Progress of an installation. */
export interface InstallProgress {
  /** For users: a few words. */
  readonly text: string;
  /** 0 to 99; an estimate. */
  readonly percent: number;
}

const intervalMs = 1_000;
const mb = 1_000_000;

/**
 * Reports the progress of an installation by the size of the files that npm has downloaded, against an estimate of the
 * whole. Returns the function that stops it.
 */
export function watchProgress(
  directory: string,
  downloadMb: number,
  onProgress: ((progress: InstallProgress) => void) | undefined,
): () => void {
  if (!onProgress) return () => undefined;
  let isStopped = false;
  let isReading = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    const bytes = await sizeOf(join(directory, 'cache')).catch(() => 0);
    isReading = false;
    if (isStopped) return;
    onProgress(describeDownload(bytes, downloadMb));
  };
  void read();
  const timer = setInterval(() => void read(), intervalMs).unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

/** Describes a download. A download of more than the estimate has no whole to name. */
export function describeDownload(bytes: number, downloadMb: number): InstallProgress {
  const doneMb = Math.round(bytes / mb);
  if (doneMb === 0) return { text: `Downloading about ${downloadMb} MB`, percent: 0 };
  const whole = doneMb < downloadMb ? ` of about ${downloadMb}` : '';
  const percent = Math.min(99, Math.floor((doneMb / downloadMb) * 100));
  return { text: `Downloading: ${doneMb}${whole} MB`, percent };
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) bytes += await sizeOf(path);
    // A file of npm's cache may be moved meanwhile.
    else bytes += (await stat(path).catch(() => null))?.size ?? 0;
  }
  return bytes;
}
