import { ForgeError } from '../interface/errors.ts';

/** The number of the last page of a list that is read. */
export const maxPage = 1_000;

/** Reads a cursor that is the number of a page; 1 without a cursor. Throws REJECTED for another text. */
export function readPageCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 1;
  if (/^[1-9]\d{0,3}$/.test(cursor) && Number(cursor) <= maxPage) return Number(cursor);
  throw new ForgeError('REJECTED', 'The cursor does not belong to this list.');
}
