import { appendFileSync } from 'node:fs';
import type { SentStatement } from './observed-driver.ts';

const path = process.env.STATEMENT_SHARE;
const counts = { prisma: 0, sql: 0 };
const tables = new Set<string>();

/**
 * Counts statements by their source. With STATEMENT_SHARE=FILE each store of a test run appends a line of JSON to the file when
 * it closes: the number of statements, and the tables that the Prisma client reads or writes (see scripts/statement-share.ts).
 */
export function countStatement({ by, sql }: SentStatement): void {
  if (path === undefined) return;
  counts[by] += 1;
  if (by === 'prisma') for (const [, table] of sql.matchAll(/"public"\."(\w+)"/g)) tables.add(table as string);
}

/** Appends the counts since the last call. */
export function writeStatementShare(): void {
  if (path === undefined) return;
  appendFileSync(path, `${JSON.stringify({ ...counts, tables: [...tables] })}\n`);
  counts.prisma = 0;
  counts.sql = 0;
}
