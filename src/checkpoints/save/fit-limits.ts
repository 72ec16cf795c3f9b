import type { SaveLimits } from '../driver.ts';
import { isRecord } from '../manifest.ts';
import type { Scan } from './scan.ts';
import { type FoundChanges, type LargeFile, leaveOut, mergeChanges, type Unit } from './scan-changes.ts';

/**
 * Leaves out what exceeds the limits, and names it: the largest files of the layer `files`, and the largest directories of the layer
 * `ignored`. Returns the changes that are left.
 */
export function fitLimits({ changes, units, large }: Scan, limits: SaveLimits): FoundChanges {
  fitFiles(changes, large, limits.maxFileBytes);
  fitUnits(changes, units, limits.maxIgnoredBytes);
  return changes;
}

function fitFiles(changes: FoundChanges, large: readonly LargeFile[], maxBytes: number): void {
  const total = changes.totals.files;
  const drop = ({ slot, name, path, size, old, read }: LargeFile) => {
    leaveOut(slot, name, path, old, { reason: 'TOO_LARGE', bytes: size, files: 1 });
    if (read !== null) read.isDropped = true;
    // A file of a repository may have been read already.
    changes.entries.files.delete(path);
    total.files--;
    total.bytes -= size;
  };
  if (total.bytes <= maxBytes) return;
  for (const file of [...large].sort((a, b) => b.size - a.size)) {
    if (total.bytes <= maxBytes) return;
    drop(file);
  }
  for (const read of [...changes.reads].reverse()) {
    if (total.bytes <= maxBytes) return;
    if (!read.isDropped && read.slot.layer === 'files' && !isRecord(read.path)) drop({ ...read, read });
  }
}

function fitUnits(changes: FoundChanges, units: readonly Unit[], maxBytes: number): void {
  const bytesOf = (unit: Unit) => unit.changes.totals.ignored.bytes;
  let bytes = changes.totals.ignored.bytes;
  for (const unit of units) if (!unit.isCut) bytes += bytesOf(unit);
  const dropped = new Set(units.filter(({ isCut }) => isCut));
  for (const unit of [...units].sort((a, b) => bytesOf(b) - bytesOf(a))) {
    if (bytes <= maxBytes) break;
    if (dropped.has(unit)) continue;
    dropped.add(unit);
    bytes -= bytesOf(unit);
  }
  const droppedPaths = new Set([...dropped].map(({ path }) => path));
  for (const unit of units) {
    // In the directory of caches, a unit may be inside another one.
    if (droppedPaths.has(unit.slot.location.path)) continue;
    if (!dropped.has(unit)) {
      mergeChanges(changes, unit.changes);
      continue;
    }
    const { files, bytes: size } = unit.changes.totals.ignored;
    const absence = { reason: 'TOO_LARGE', bytes: unit.isCut ? null : size, files } as const;
    leaveOut({ ...unit.slot, changes }, unit.name, unit.path, unit.old, absence);
  }
}
