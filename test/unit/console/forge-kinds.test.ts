import { expect, it } from 'vitest';
import {
  abilityState,
  accountLabel,
  byUrgency,
  missingPermissions,
  type ReportedAbility,
} from '../../../web/src/manage/git/ability-report.ts';
import { credentialPage, findSameHost, hostForKind } from '../../../web/src/manage/git/forge-kinds.ts';
import { describeTarget, targetKindOf } from '../../../web/src/manage/git/permission-target.ts';

it('links to the page of a forge that creates credentials', () => {
  expect(credentialPage('GITHUB_TOKEN', 'github.com')).toBe('https://github.com/settings/personal-access-tokens/new');
  expect(credentialPage('GITEA_TOKEN', 'http://git.test:3000/forge/')).toBe(
    'http://git.test:3000/forge/user/settings/applications',
  );
  for (const host of ['', ' ', 'not a host', 'javascript://alert(1)//']) {
    expect(credentialPage('GITHUB_TOKEN', host) ?? 'https://', host).toMatch(/^https:\/\//);
  }
  expect(credentialPage('GITHUB_APP', '')).toBeNull();
  expect(credentialPage('GIT_HTTPS', 'git.example.com')).toBeNull();
});

it('changes the host with the kind, unless the user typed one', () => {
  expect(hostForKind('GITLAB_TOKEN', 'GITHUB_APP', 'github.com')).toBe('gitlab.com');
  expect(hostForKind('GITEA_TOKEN', 'GITLAB_TOKEN', 'gitlab.com')).toBe('');
  expect(hostForKind('GITHUB_TOKEN', 'GITEA_TOKEN', '')).toBe('github.com');
  expect(hostForKind('GITHUB_TOKEN', 'GITEA_TOKEN', 'git.example.com')).toBe('git.example.com');
});

it('finds a connection with the same host, with any scheme and path', () => {
  const connections = [{ host: 'github.com' }, { host: 'http://git.test:3000/forge' }];
  expect(findSameHost(connections, 'https://GitHub.com/')).toBe(connections[0]);
  expect(findSameHost(connections, 'git.test:3000')).toBe(connections[1]);
  for (const host of ['git.test', '', 'not a host']) expect(findSameHost(connections, host), host).toBeNull();
});

it('lists missing permissions first, and tells which ones sessions need', () => {
  const ability = (name: ReportedAbility['ability'], isGranted: boolean | null, isRequired: boolean) => ({
    ability: name,
    permission: name.toLowerCase(),
    isGranted,
    isRequired,
  });
  const abilities = [
    ability('READ_CODE', true, true),
    ability('CHECKS', null, false),
    ability('WEBHOOKS', false, false),
    ability('PUSH', false, true),
  ];
  expect(byUrgency(abilities).map((each) => abilityState(each).label)).toEqual([
    'Missing',
    'Missing, optional',
    'Unknown',
    'Granted',
  ]);
  expect(missingPermissions(abilities)).toEqual(['push']);
});

it('tells once that an account is of a program', () => {
  expect(accountLabel({ login: 'deploy', isBot: true })).toBe('deploy (bot)');
  expect(accountLabel({ login: 'robot', isBot: false })).toBe('robot');
  for (const login of ['bot', 'acme[bot]', 'project_31_bot_x'])
    expect(accountLabel({ login, isBot: true })).toBe(login);
});

it('describes the target of a permission', () => {
  const none = { repoPath: null, groupPrefix: null, prefixPath: null };
  const targets = [
    { ...none, repoPath: 'acme/site' },
    { ...none, groupPrefix: 'acme' },
    { ...none, prefixPath: 'acme/web-' },
  ];
  expect(targets.map(describeTarget)).toEqual(['acme/site', 'acme/*', 'acme/web-*']);
  expect(targets.map(targetKindOf)).toEqual(['repoPath', 'groupPrefix', 'prefixPath']);
});
