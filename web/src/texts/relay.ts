import { writeNumber } from '../ui/number.ts';
import type { Numbers } from './kit.ts';

export const confirm = {
  unexpectedStatus: ({ status }: Numbers<'status'>) => `The service responded with status ${writeNumber(status)}.`,
};

export const network = {
  subscriptionRefused: 'The subscription was refused.',
};

export const sessionSync = {
  aServiceKey: 'a service key',
};

export const mutation = {
  nothingChanged: 'Nothing was changed.',
};
