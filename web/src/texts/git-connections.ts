import { rich, type Strings } from './kit.ts';

export const abilityReport = {
  labels: {
    READ_CODE: 'Clone repositories',
    PUSH: 'Push branches',
    PUSH_WORKFLOWS: 'Push changes to workflow files',
    PULL_REQUESTS: 'Open pull requests',
    COMMENTS: 'Comment on pull requests',
    CHECKS: 'Read check results',
    CHECK_LOGS: 'Read logs of failed checks',
    WEBHOOKS: 'Receive webhooks',
  },
  otherPermission: 'Other permission',
  readCommitStatuses: 'Read commit statuses',
  granted: 'Granted',
  missing: 'Missing',
  missingOptional: 'Missing, optional',
  failures: {
    CREDENTIAL_REFUSED: 'Credential refused',
    INVALID_CONNECTION: 'Invalid settings',
    INVALID_RESPONSE: 'Unexpected response',
    MISSING_PERMISSION: 'Missing permission',
    NOT_FOUND: 'Not found',
    RATE_LIMITED: 'Rate limited',
    REJECTED: 'Rejected',
    UNREACHABLE: 'Unreachable',
    UNSUPPORTED: 'Not supported',
  },
};

export const appCallbackPage = {
  noCode: 'GitHub didn’t send a code. Start again.',
  notStored: 'Couldn’t save the App.',
  githubApp: 'GitHub App',
  connected: ({ name }: Strings<'name'>) => `App created and connected as ${name}.`,
  installText: 'Install it now, and select the repositories that sessions can use. GitHub then brings you back here.',
  install: 'Install App',
  later: 'Later',
  gitSettings: 'Git settings',
  storing: 'Saving the App…',
};

export const appDialog = {
  defaultName: ({ organization, host }: Strings<'organization' | 'host'>) => `${organization} on ${host}`,
  intro:
    'GitHub creates an App with the permissions and the webhook that sessions need, and brings you back here. You then select the repositories that it can use.',
  introWithoutWebhook:
    'GitHub creates an App with the permissions that sessions need, and brings you back here. You then select the repositories that it can use. The App has a webhook only if GitHub can reach this service: set BASE_URL to its public address.',
  title: 'Create GitHub App',
  owner: 'Owner',
  ownerOrganization: 'A GitHub organization',
  ownerAccount: 'My GitHub account',
  organizationExample: 'acme',
  organizationHint: 'The name in github.com/NAME. You must own the organization or manage its Apps.',
  hostHint: 'github.com, or the host of your GitHub Enterprise Server.',
  connectionName: 'Connection name',
  namePlaceholder: 'Shown in lists and messages',
  nameHint: 'Leave empty to use the owner and the host.',
};

export const appInstalledPage = {
  notStored: 'Couldn’t save the installation.',
  githubApp: 'GitHub App',
  awaitsApproval:
    'An owner of the organization must approve the installation on GitHub. Then test the connection in the Git settings.',
  storing: 'Saving the installation…',
  installed: ({ name }: Strings<'name'>) => `The App is installed for ${name}.`,
  gitSettings: 'Git settings',
};

export const connectionFields = {
  enterAgain: 'Enter it again, because the host changes.',
  leaveEmpty: 'Leave empty to keep the current one.',
  shownNever: 'You won’t be able to view it again.',
  hostExample: 'git.example.com',
  sameHost: ({ name }: Strings<'name'>) =>
    `The connection ${name} has the same host. Sessions use the older one, unless the organization’s permissions say otherwise.`,
  namePlaceholder: 'Shown in lists and messages',
  nameHint: 'Leave empty to use the host.',
  appId: 'App ID',
  installationId: 'Installation ID',
  installationIdHint: 'Needed only if the App has several installations.',
  userName: 'Username',
  userNameHint: 'Leave empty if the server has only public repositories.',
  passwordOrToken: 'Password or token',
  privateKey: 'Private key',
  privateKeyExample: '-----BEGIN RSA PRIVATE KEY-----',
  privateKeyHint: ({ secretHint }: Strings<'secretHint'>) => `The content of the App’s .pem file. ${secretHint}`,
  webhookSecret: 'Webhook secret',
  webhookSecretHint: 'The secret that signs incoming webhooks. You won’t be able to view it again.',
  testRepository: 'Repository to test',
  testRepositoryExample: 'owner/name',
  testRepositoryHint: 'Used only for the test, because this server can’t list its repositories.',
  httpHint: 'With http, the credential is sent unencrypted. Use https, except for tests.',
  hostHint: 'A host name, or a base URL with a port or a path.',
};

export const connectionForm = {
  repositoryMissing: 'Enter a repository for the test.',
  connectTitle: 'Add Git provider',
  connect: 'Add Git provider',
};

export const connectionReport = {
  account: 'Account',
  permissionsLabel: 'Permissions of the connection',
};

export const connectionState = {
  notTested: 'Not tested',
  lacksPermissions: 'Permissions missing',
  works: 'Works',
  tested: rich('Tested {time}'),
};

export const forgeKinds = {
  githubApp: 'GitHub App',
  githubAppLink: 'Create an App manually',
  githubAppHelp:
    'For an existing App. It needs read and write access to contents, pull requests and issues, and read access to checks, commit statuses and actions. Install it on the account that owns the repositories. Recommended for GitHub, because its credentials expire after an hour.',
  githubAppWebhooks:
    'On GitHub, open the App’s settings and find Webhook. Subscribe to pull requests, reviews, review comments, issues, issue comments, check runs, statuses and pushes.',
  githubToken: 'GitHub token',
  githubTokenLink: 'Create a token on GitHub',
  githubTokenHelp:
    'A fine-grained token needs read and write access to contents and pull requests, and read access to checks, commit statuses and actions. A classic token needs the repo scope.',
  githubTokenWebhooks:
    'On GitHub, open the settings of the repository or organization and select Webhooks. Set the content type to application/json, and select the events pull requests, reviews, review comments, issues, issue comments, check runs, statuses and pushes.',
  gitlab: 'GitLab',
  gitlabLink: 'Create a token on GitLab',
  gitlabHelp:
    'A personal, group or project access token with the scopes api and write_repository. Its role must allow pushes and merge requests.',
  gitlabWebhooks:
    'On GitLab, open the settings of the project or group and select Webhooks. Enter the secret as the secret token, and select merge request, issue, comment, job, pipeline and push events.',
  giteaOrForgejo: 'Gitea or Forgejo',
  giteaLink: 'Create a token on this server',
  giteaHelp: 'A token with the scopes read:user, write:repository and write:issue.',
  giteaWebhooks:
    'On Gitea or Forgejo, open the settings of the repository or organization and select Webhooks. Select POST with application/json, and pull request, review, issue, comment, status and push events.',
  gitOverHttps: 'Other Git server (HTTPS)',
  httpsHelp:
    'Any Git server that uses HTTPS. The account needs read access, and write access for pushes. Pull requests and repository lists aren’t available.',
};

export const testDialog = {
  testAgain: 'Test again',
  done: 'Done',
  testRepository: 'Repository to test',
  testRepositoryExample: 'owner/name',
  testRepositoryHint: 'This server can’t list its repositories, so the test reads this one.',
};

export const testResult = {
  testing: 'Testing…',
};

export const connectionTest = {
  noResult: 'The test returned no result.',
};
