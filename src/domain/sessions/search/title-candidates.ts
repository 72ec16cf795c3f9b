import type { Bind, Candidates } from '../../nested-pages.ts';
import { variantsOf, wordsOf } from '../../text-search.ts';
import type { CheckedFilter } from '../session-filter.ts';

/** Number of sessions that the index is read for. The titles of more are found soon in the order of the list. */
const maxCandidates = 2_000;

/** Number of character groups of a search that are looked up. */
const maxGroups = 12;

/** Pairs of digits and of non-ASCII characters have entries in the index, other pairs do not (`session_title_words`). */
const indexedPair = /^(?:[0-9]{2}|\P{ASCII}{2})$/u;

// Also the mark that `session_title_query` replaces by the key of the organization.
const unsearchable = /[\s\p{Cc}]/u;

/**
 * Returns a query for the sessions of `owner` whose titles can match a search: the index of texts has the groups of three characters of
 * each title. Returns undefined for a filter without a title search, and for one whose words are too short.
 */
export function titleCandidates({ search = '', sessionIds }: CheckedFilter): ((bind: Bind) => Candidates) | undefined {
  const groups = wordsOf(search).flatMap(groupsOf);
  if (groups.length === 0 || sessionIds !== undefined) return undefined;
  const step = Math.ceil(groups.length / maxGroups);
  const query = groups
    .filter((_, n) => n % step === 0)
    .map(writeGroup)
    .join(' & ');
  return (bind) => ({
    query: `select t.session_id from session_text t
       where t.seq = 0 and t.words @@ session_title_query(owner.id, ${bind(query)}) limit ${maxCandidates + 1}`,
    max: maxCandidates,
  });
}

/** Returns the groups of a word that the index has, each as its characters. */
function groupsOf(word: string): string[][] {
  const characters = Array.from(word);
  if (characters.length === 2 && indexedPair.test(word)) return [characters];
  const groups = characters.slice(2).map((_, n) => characters.slice(n, n + 3));
  return groups.filter((group) => !unsearchable.test(group.join('')));
}

/** Writes a group as a search for any of its cases. The index has ASCII letters in lower case. */
function writeGroup(group: readonly string[]): string {
  const cases = group.reduce<string[]>(
    (written, character) => written.flatMap((start) => inIndex(character).map((each) => start + each)),
    [''],
  );
  return `(${cases.map((each) => `'\u0001${each.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`).join(' | ')})`;
}

const inIndex = (character: string): string[] => [
  ...new Set(variantsOf(character).map((each) => each.replace(/[A-Z]/, (letter) => letter.toLowerCase()))),
];
