// The share of statements that the Prisma client sends, from the file of a test run with STATEMENT_SHARE=FILE:
//   STATEMENT_SHARE=/tmp/share npx vitest run test/rest --project postgres; npx tsx scripts/statement-share.ts /tmp/share
import { readFileSync } from 'node:fs';
import { tables } from '../src/store/generated/tables.ts';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('Usage: tsx scripts/statement-share.ts FILE');
const parts: { prisma: number; sql: number; tables: string[] }[] = readFileSync(path, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
const add = (of: (part: (typeof parts)[number]) => number) => parts.reduce((sum, part) => sum + of(part), 0);
const [prisma, sql] = [add((part) => part.prisma), add((part) => part.sql)];
const models = Object.entries(tables).filter(([, { name }]) => parts.some((part) => part.tables.includes(name)));
console.log(
  `${prisma} of ${prisma + sql} statements (${((100 * prisma) / (prisma + sql)).toFixed(1)} %) by the Prisma client`,
);
console.log(`${models.length} of ${Object.keys(tables).length} models: ${models.map(([model]) => model).join(', ')}`);
