import { BackupError } from './backup-error.ts';
import { type TableEntry, tableName } from './manifest.ts';

/** Checks a line of a table: a JSON array with a text or null for each column. Throws BackupError with its number. */
export function parseLine(line: string, table: Pick<TableEntry, 'name' | 'columns'>, number: number): void {
  let values: unknown;
  try {
    values = JSON.parse(line);
  } catch {
    values = null;
  }
  const isRow =
    Array.isArray(values) &&
    values.length === table.columns.length &&
    values.every((value) => value === null || typeof value === 'string');
  if (!isRow) throw new BackupError(`Line ${number} of ${tableName(table.name)} is not a row of the table.`);
}
