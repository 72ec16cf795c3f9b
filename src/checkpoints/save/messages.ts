import type { CheckpointContent, CheckpointDirectories, CheckpointError, SavedState, SaveLimits } from '../driver.ts';

/** A message to the process that saves. */
export type Request =
  | {
      readonly type: 'open';
      readonly session: number;
      readonly directories: CheckpointDirectories;
      readonly spoolDir: string;
      readonly key: Uint8Array;
      readonly from: CheckpointContent | null;
      readonly limits: SaveLimits;
    }
  | {
      readonly type: 'save';
      readonly session: number;
      readonly call: number;
      readonly withIgnored: boolean;
      readonly isUrgent: boolean;
    }
  | { readonly type: 'stop' | 'commit' | 'abort'; readonly session: number; readonly call: number }
  | { readonly type: 'close'; readonly session: number }
  /** The answer to `read`. `path`: a file with the range, which the process deletes; null: there is no such segment. */
  | { readonly type: 'range'; readonly read: number; readonly path: string | null; readonly error: string | null };

/** A message of the process that saves. */
export type Reply =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly call: number; readonly saved: SavedState | null }
  | { readonly type: 'failed'; readonly call: number; readonly code: CheckpointError['code']; readonly message: string }
  /** Asks for a range of a segment in the storage. */
  | {
      readonly type: 'read';
      readonly session: number;
      readonly read: number;
      readonly id: string;
      readonly range: { readonly start: number; readonly end: number } | null;
    };
