import { expect, it } from 'vitest';
import {
  addRepository,
  maxRepositories,
  repositoryError,
  toInput,
} from '../../../web/src/pickers/chosen-repository.ts';

const one = { repository: 'git.test/acme/site', ref: '', branch: '' };

it('adds a repository once, whatever the case or the form of its address', () => {
  const list = addRepository([one], ' acme/docs ');
  expect(list.map(({ repository }) => repository)).toEqual(['git.test/acme/site', 'acme/docs']);
  for (const same of ['ACME/docs', 'acme/docs.git', 'https://git.test/acme/site.git', 'git.test/acme/site/', ' ']) {
    expect(addRepository(list, same), same).toBe(list);
  }
  const full = Array.from({ length: maxRepositories }, (_, index) => ({ ...one, repository: `acme/${index}` }));
  expect(addRepository(full, 'acme/more')).toBe(full);
});

it('sends empty fields as null', () => {
  expect(toInput([{ ...one, ref: ' release/2 ', branch: ' ' }])).toEqual([
    { repository: 'git.test/acme/site', ref: 'release/2', branch: null },
  ]);
});

it('finds the error of a field of one repository', () => {
  const errors = [
    { message: 'No ref', path: ['input', 'repositories', '1', 'ref'] },
    { message: 'Unknown', path: ['input', 'defaultRepositories', '0'] },
  ];
  expect(repositoryError(errors, 'repositories', 1, 'ref')).toBe('No ref');
  expect(repositoryError(errors, 'repositories', 0, 'ref')).toBeNull();
  expect(repositoryError(errors, 'repositories', 1, 'branch')).toBeNull();
  expect(repositoryError(errors, 'defaultRepositories', 0, null)).toBe('Unknown');
  expect(repositoryError(null, 'repositories', 0, null)).toBeNull();
});
