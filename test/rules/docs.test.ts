import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import {
  builtInRoles,
  enterprisePermissions,
  manageOwnSessions,
  organizationPermissions,
  type RolePermission,
} from '../../src/auth/permissions.ts';
import { errorCatalogue } from '../../src/common/errors.ts';
import { readText, root, treeFiles } from '../support/tree.ts';

const pages = () => treeFiles().filter((path) => path.endsWith('.md'));

/** The text of a page without code blocks. */
const withoutBlocks = (text: string) => text.replaceAll(/^```[\s\S]*?^```/gm, '');

/** The text of a page without code, in which brackets have other meanings. */
const prose = (text: string) => withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '');

/** The anchors that GitHub creates for a page's headings. */
function anchors(path: string): Set<string> {
  const headings = readText(path).match(/^#{1,6} .*$/gm) ?? [];
  return new Set(
    headings.map((heading) =>
      heading
        .replace(/^#+ /, '')
        .trim()
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    ),
  );
}

/** The text of a page that every release requires. */
function required(path: string, what: string): string {
  if (!existsSync(join(root, path))) throw new Error(`${path} is missing: write it (${what}).`);
  return readText(path);
}

/** The reason why a link to a file of the repository is broken; null if it is valid. */
function brokenTarget(from: string, link: string, target: string, anchor: string | undefined): string | null {
  if (!existsSync(join(root, target))) return `${from}: ${link} (no such file)`;
  if (anchor && target.endsWith('.md') && !anchors(target).has(anchor)) return `${from}: ${link} (no such heading)`;
  return null;
}

/** The reason why a link of a page is broken; null if it is valid or external. */
function brokenLink(page: string, link: string): string | null {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return null;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(path.startsWith('/') ? '' : dirname(page), path));
  return brokenTarget(page, link, target, anchor);
}

test('every link between documents is valid', () => {
  const broken = pages().flatMap((page) =>
    [...prose(readText(page)).matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)].flatMap(
      ([, link]) => brokenLink(page, link ?? '') ?? [],
    ),
  );
  expect(broken, `Correct or remove these links:\n${broken.join('\n')}`).toEqual([]);
});

test('every page of docs that code and configuration mention exists, with the heading', () => {
  const files = treeFiles().filter((path) => /\.(?:[cm]?[jt]sx?|css|html|prisma|sql|ya?ml|grit)$/.test(path));
  const mentions = files.flatMap((file) =>
    [...readText(file).matchAll(/(?<![\w./-])(docs\/[\w/-]+\.md)(?:#([\p{L}\p{N}_-]+))?/gu)].map(
      ([link, path = '', anchor]) => ({ file, link, path, anchor }),
    ),
  );
  expect(mentions.length).toBeGreaterThan(0);
  const broken = mentions.flatMap(({ file, link, path, anchor }) => brokenTarget(file, link, path, anchor) ?? []);
  expect(broken, `Correct or remove these mentions:\n${broken.join('\n')}`).toEqual([]);
});

/** A path relative to the root, to `src/`, or to the folder of the page. */
const namedPath =
  /^(?:src|test|web|prisma|scripts|bench|docs|\.ci|\.github|agents|api|auth|domain|http|jobs|realtime|store)\/[\w./-]+$/;

test('every path that a document names exists', () => {
  // Decisions and the changelog describe the past.
  const current = pages().filter((path) => !path.startsWith('docs/decisions/') && path !== 'CHANGELOG.md');
  const missing = current.flatMap((page) => {
    const folders = [root, join(root, 'src'), join(root, dirname(page))];
    return [...withoutBlocks(readText(page)).matchAll(/`([^`\n]+)`/g)]
      .map(([, span = '']) => span)
      .filter((span) => namedPath.test(span) && !folders.some((folder) => existsSync(join(folder, span))))
      .map((span) => `${page}: ${span}`);
  });
  expect(missing, `Correct these paths:\n${missing.join('\n')}`).toEqual([]);
});

test('the table of contents of docs/graphql.md names every section, in order', () => {
  const page = required('docs/graphql.md', 'the guide to GraphQL');
  const listed = [...page.matchAll(/^- \[([^\]]+)\]\(#/gm)].map(([, title]) => title);
  const sections = [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  expect(listed, 'Add the section to the list at the top of docs/graphql.md.').toEqual(sections);
});

test('docs/errors.md lists exactly the error codes of src/common/errors.ts', () => {
  const listed = [
    ...required('docs/errors.md', 'a table of the error codes').matchAll(/^\| *`([A-Z][A-Z_]+)` *\|/gm),
  ].map(([, code]) => code);
  expect(
    listed.toSorted(),
    'docs/errors.md has one table row, beginning "| `CODE` |", for each code of errorCatalogue: add or remove rows.',
  ).toEqual(Object.keys(errorCatalogue).sort());
});

test('the changelog begins with unreleased changes', () => {
  const first = /^## .*$/m.exec(required('CHANGELOG.md', 'what changed, newest first'))?.[0];
  expect(first, 'CHANGELOG.md: the first heading of level two is "## Unreleased".').toBe('## Unreleased');
});

test('every decision has its three parts in at most 40 lines', () => {
  const wrong = pages()
    .filter((path) => path.startsWith('docs/decisions/') && !path.endsWith('/README.md'))
    .flatMap((path) => {
      const text = readText(path);
      const problems = ['Background', 'Decision', 'Consequences']
        .filter((part) => !text.includes(`\n## ${part}\n`))
        .map((part) => `has no "## ${part}"`);
      if (!/\/\d{4}-[a-z0-9-]+\.md$/.test(path)) problems.push('is not named NNNN-title.md');
      if (text.trimEnd().split('\n').length > 40) problems.push('is longer than 40 lines');
      return problems.map((problem) => `${path} ${problem}`);
    });
  expect(wrong, wrong.join('\n')).toEqual([]);
});

test('docs/security.md states for every permission which built-in roles have it', () => {
  const page = required('docs/security.md', 'what each role may do');
  const columns =
    /^\| permission \|(.+)\|$/m
      .exec(page)?.[1]
      ?.split('|')
      .map((name) => name.trim()) ?? [];
  const rows = [...page.matchAll(/^\| `(\w+)` \|((?: *(?:yes)? *\|){4})$/gm)].map(([, permission = '', cells = '']) => {
    const grants = cells
      .split('|')
      .slice(0, -1)
      .map((cell) => cell.trim() === 'yes');
    return [permission, columns.filter((_, index) => grants[index])];
  });
  const all: RolePermission[] = [...enterprisePermissions, ...organizationPermissions, manageOwnSessions];
  const holders = (permission: RolePermission) =>
    builtInRoles.filter((role) => (role.permissions as readonly RolePermission[]).includes(permission));
  expect(Object.fromEntries(rows), 'Correct the table of docs/security.md, or builtInRoles.').toEqual(
    Object.fromEntries(all.map((permission) => [permission, holders(permission).map(({ id }) => id)])),
  );
});
