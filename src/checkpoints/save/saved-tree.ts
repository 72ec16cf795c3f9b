import type { MissingReason } from '../driver.ts';
import type { Entry } from '../manifest.ts';
import type { Identity } from './identity.ts';
import type { IgnoreRules } from './ignore-rules.ts';

/** A file or a link of the last saved state. */
export interface FileNode {
  readonly kind: 'file';
  /** Null: unknown, because the state comes from a checkpoint. */
  readonly identity: Identity | null;
  readonly entry: Entry;
  /** True if it changed during all attempts to read it. */
  readonly isTorn: boolean;
}

/** A part that is not saved. */
export interface AbsentNode {
  readonly kind: 'absent';
  /** Null: it is left out without a word, such as a socket. */
  readonly reason: MissingReason | null;
}

/** A directory of the last saved state. */
export interface DirectoryNode {
  readonly kind: 'directory';
  identity: Identity | null;
  /** Null: not saved yet. */
  entry: Entry | null;
  /** By name, with one character for each byte. */
  readonly children: Map<string, TreeNode>;
  /** The names that git ignores, if the directory itself is in the layer `files`; null: not saved yet. */
  readonly ignored: Map<string, TreeNode | null>;
  /** The patterns that apply in this directory. */
  rules: IgnoreRules | null;
}

/** A name of the last saved state. */
export type TreeNode = FileNode | AbsentNode | DirectoryNode;

/** Returns an empty directory. */
export function createDirectoryNode(): DirectoryNode {
  return { kind: 'directory', identity: null, entry: null, children: new Map(), ignored: new Map(), rules: null };
}
