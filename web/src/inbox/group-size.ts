import { writeNumber } from '../ui/number.ts';

/** The greatest number that is shown; the service counts no further than 10,000. */
const maxShown = 9_999;

/** Returns the size of a group for display. */
export const writeCount = (count: number): string =>
  count > maxShown ? `${writeNumber(maxShown)}+` : writeNumber(count);
