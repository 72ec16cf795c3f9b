import type { ForgeErrorCode } from '../../../forges/interface/errors.ts';
import type { ForgeAbility, ForgeKind } from '../../../forges/interface/forge.ts';
import { defineEnum } from './define-enum.ts';

export const GitProviderTypeEnum = defineEnum<ForgeKind>('GitProviderType', 'Kind of a git connection.', {
  'github_app': 'GitHub, as an App: short-lived credentials for one repository.',
  'github_token': 'GitHub, with the token of an account.',
  'gitlab_token': 'GitLab, with a token of a user, group or project.',
  'gitea_token': 'Gitea or Forgejo, with a token.',
  'git_https': 'Server with git over HTTPS and nothing else: no list of repositories and no pull requests.',
});

export const GitAbilityEnum = defineEnum<ForgeAbility>('GitAbility', 'Purpose of a permission at a forge.', {
  'read_code': 'Clone and fetch repositories.',
  'push': 'Push branches to repositories.',
  'push_workflows': 'Push changes of workflow files.',
  'pull_requests': 'Read and open pull requests.',
  'comments': 'Comment on pull requests.',
  'checks': 'Read the results of checks.',
  'check_logs': 'Read the logs of failed checks.',
  'webhooks': 'Receive webhooks of the forge.',
});

export const GitFailureCodeEnum = defineEnum<ForgeErrorCode>('GitFailureCode', 'Cause of a failed call to a forge.', {
  'INVALID_CONNECTION': 'The settings of the connection are not valid.',
  'CREDENTIAL_REFUSED': 'The credential is unknown, expired or revoked.',
  'MISSING_PERMISSION': 'The credential lacks a permission, which the message names.',
  'NOT_FOUND': 'The repository does not exist, or the credential may not see it.',
  'REJECTED': 'A rule of the forge does not allow the call.',
  'RATE_LIMITED': 'The forge answers no more calls for a while.',
  'UNREACHABLE': 'The forge did not answer.',
  'INVALID_RESPONSE': 'The answer is not what the API of the forge describes.',
  'INVALID_SIGNATURE': 'The signature of a webhook is not valid.',
  'UNSUPPORTED': 'This kind of forge does not support the call.',
});
