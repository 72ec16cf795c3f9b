import type { Readable } from 'node:stream';

/**
 * Saves and restores the directories of sessions. A driver knows neither sessions nor tenants: the caller names the
 * directories, the key and the storage, and records which content is current.
 */
export interface CheckpointDriver {
  readonly name: string;
  readonly capabilities: CheckpointCapabilities;
  /** Begins to follow the directories of one session. Reads nothing yet. */
  open(target: SaverTarget): Promise<Saver>;
  /**
   * Creates the directories with a saved state. They must be missing or empty, and no other process may use them. Rejects with
   * CheckpointError, and leaves the directories as they are then.
   */
  restore(request: RestoreRequest): Promise<RestoreReport>;
  /** Ends all work. Never rejects. */
  close(): Promise<void>;
}

/** The abilities of a {@link CheckpointDriver}. */
export interface CheckpointCapabilities {
  /** True if a save costs as much as what changed, and not as much as there is. */
  readonly isIncremental: boolean;
  /** True if single files can be read without a restore. */
  readonly canBrowse: boolean;
}

/**
 * The names of the directories of a checkpoint. `records` has files of the service itself, which the agent does not see: they are saved
 * with the workspace that they describe.
 */
export const checkpointRoots = ['workspace', 'home', 'records'] as const;

/** The name of a directory of a checkpoint. */
export type CheckpointRoot = (typeof checkpointRoots)[number];

/** The directories of a checkpoint, as absolute paths of this machine. */
export type CheckpointDirectories = Readonly<Record<CheckpointRoot, string>>;

/** A session whose directories are saved. */
export interface SaverTarget {
  readonly directories: CheckpointDirectories;
  /** The directory in which new segments are written until they are uploaded. It belongs to this process alone. */
  readonly spoolDir: string;
  readonly key: CheckpointKey;
  /** The content with which the directories begin: of the restored checkpoint, or of the last one; null: none. */
  readonly from: CheckpointContent | null;
  /** Reads the segments of `from`, at the first save, and of the last committed content if the process that saves was restarted. */
  readonly segments: SegmentSource;
  readonly limits: SaveLimits;
}

/** The 32 bytes of an organization's key for its checkpoints. */
export type CheckpointKey = Buffer;

/** Limits of one session's checkpoints. */
export interface SaveLimits {
  /** Bytes of all files of the layer `files`; what exceeds them is left out and named. */
  readonly maxFileBytes: number;
  /** Bytes of all files of the layer `ignored`; the largest directories that exceed them are left out and named. */
  readonly maxIgnoredBytes: number;
  /** Files, directories and links of both layers. */
  readonly maxEntries: number;
}

/** Saves the directories of one session. One save at a time. */
export interface Saver {
  /**
   * Reads what has changed since the last committed save, and writes it to new segments. Processes may change the
   * files meanwhile. Null: nothing has changed. Rejects with CheckpointError.
   */
  save(options: SaveOptions): Promise<SavedState | null>;
  /** Makes the last save the base of the next one. Call it after its checkpoint was recorded. */
  commit(): Promise<void>;
  /** Forgets the last save: the next one includes its changes again. Deletes its segments. */
  abort(): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Options of {@link Saver.save}. */
export interface SaveOptions {
  /** True: ignored files are read too, which takes longer. */
  readonly withIgnored: boolean;
  /** True: other work waits for this save, which gets a normal priority. */
  readonly isUrgent?: boolean;
  readonly signal: AbortSignal;
}

/** The outcome of a save, which is not stored yet. */
export interface SavedState {
  readonly content: CheckpointContent;
  /** The new segments to upload, before the content is recorded. */
  readonly segments: readonly NewSegment[];
  /** Files of all layers, with records. */
  readonly files: number;
  /** Bytes of these files. */
  readonly bytes: number;
  /** The parts that are not saved. */
  readonly missing: readonly MissingPart[];
}

/** A new segment in the spool directory. */
export interface NewSegment {
  /** 32 hex digits. */
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
}

/** A state of the directories: the segments with its manifests and files. It is JSON, and recorded with the checkpoint. */
export interface CheckpointContent {
  readonly format: 1;
  /** All files that git does not ignore, with the repositories of clones. */
  readonly files: LayerContent;
  /** The files that git ignores, and caches of the home; null: not saved yet. */
  readonly ignored: LayerContent | null;
}

/** The segments of one layer. */
export interface LayerContent {
  /** The segments with the manifest, in order: a complete manifest, then changes of it. */
  readonly manifest: readonly string[];
  /** The ids of all segments that the layer needs, those of the manifest included. */
  readonly segments: readonly string[];
  readonly files: number;
  readonly bytes: number;
  readonly missing: readonly MissingPart[];
}

/** A part of the directories that is not in a checkpoint. */
export interface MissingPart {
  /** `workspace/…` or `home/…`; bytes that are not UTF-8 are replaced. Records are never left out. */
  readonly path: string;
  readonly reason: MissingReason;
  /** Null: unknown. */
  readonly bytes: number | null;
  /** The files that the part stands for. */
  readonly files: number;
}

/**
 * UNREADABLE: the service may not read it. CHANGING: it changed during three attempts to read it. TOO_LARGE: it exceeds a limit.
 * SPECIAL: a pipe or a device.
 */
export type MissingReason = 'UNREADABLE' | 'CHANGING' | 'TOO_LARGE' | 'SPECIAL';

/** Reads segments from the file storage. */
export interface SegmentSource {
  /** Returns a segment or a part of it; null: there is none. Both ends of the range are included. */
  read(id: string, range?: { readonly start: number; readonly end: number }): Promise<Readable | null>;
}

/** A state to restore. */
export interface RestoreRequest {
  readonly directories: CheckpointDirectories;
  readonly content: CheckpointContent;
  readonly key: CheckpointKey;
  readonly segments: SegmentSource;
  readonly spoolDir: string;
  /** The owner of all files, if this process may change it; null: this process's user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly signal: AbortSignal;
}

/** The outcome of a restore. */
export interface RestoreReport {
  readonly files: number;
  readonly bytes: number;
}

/**
 * A checkpoint that cannot be saved or restored. DAMAGED: a segment is truncated or changed. MISSING: the storage has no such segment. STOPPED: the signal was aborted.
 * FAILED: a disk is full, or another error of the system, which `cause` has.
 */
export class CheckpointError extends Error {
  readonly code: 'DAMAGED' | 'MISSING' | 'STOPPED' | 'FAILED';

  constructor(code: CheckpointError['code'], message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.name = 'CheckpointError';
    this.code = code;
  }
}
