import type { EventField } from './event-field.ts';

type Fields = Readonly<Record<string, EventField>>;

const field = (type: EventField['type'], description: string, isRequired = false): EventField => ({
  type,
  isRequired,
  description,
});
const text = (description: string, isRequired?: boolean) => field('string', description, isRequired);
const number = (description: string) => field('number', description);
const flag = (description: string) => field('boolean', description);
const list = (description: string) => field('list', description);
const json = (description: string) => field('json', description);

/** Fields with a name before each of theirs: `number` of `issue` is `issue.number`. */
const inside = (name: string, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([each, value]) => [`${name}.${each}`, value]));

const association =
  'Relation of the author to the repository, for example "MEMBER", "COLLABORATOR", "CONTRIBUTOR" or "NONE".';

/** Fields of all events of GitHub and of Gitea. */
const repositoryAndSender: Fields = {
  'action': text('Action of the event, for example "opened". Null if the event has none.'),
  'repository.full_name': text('Path of the repository, for example "acme/site".', true),
  'repository.name': text('Name of the repository.'),
  'repository.default_branch': text('Default branch of the repository.'),
  'repository.private': flag('Whether the repository is private.'),
  'sender.login': text('Login of the account that caused the event.'),
  'sender.type': text('Type of that account: "User" or "Bot". Gitea does not send it.'),
};

const issue: Fields = inside('issue', {
  'number': number('Number of the issue or of the pull request.'),
  'title': text('Title of the issue.'),
  'body': text('Description of the issue. Null if it is empty.'),
  'state': text('State of the issue: "open" or "closed".'),
  'user.login': text('Login of the author of the issue.'),
  'author_association': text(association),
  'label_names': list('Names of the labels of the issue.'),
  'html_url': text('URL of the issue.'),
  'pull_request': json('Present if the issue is a pull request: test it with "is_not_empty".'),
});
const label: Fields = { 'label.name': text('Name of the label of the actions "labeled" and "unlabeled".') };
const assignee: Fields = { 'assignee.login': text('Login of the action "assigned" or "unassigned".') };
const pullRequest: Fields = inside('pull_request', {
  'number': number('Number of the pull request.'),
  'title': text('Title of the pull request.'),
  'body': text('Description of the pull request. Null if it is empty.'),
  'state': text('State of the pull request: "open" or "closed".'),
  'draft': flag('Whether the pull request is a draft.'),
  'merged': flag('Whether the pull request was merged.'),
  'user.login': text('Login of the author of the pull request.'),
  'author_association': text(association),
  'label_names': list('Names of the labels of the pull request.'),
  'head.ref': text('Branch that the pull request merges.'),
  'head.repo.full_name': text('Repository of that branch: a fork has another one than the event.'),
  'base.ref': text('Branch that the pull request merges into.'),
  'html_url': text('URL of the pull request.'),
});
const comment: Fields = inside('comment', {
  'body': text('Text of the comment.'),
  'user.login': text('Login of the author of the comment.'),
  'author_association': text(association),
  'html_url': text('URL of the comment.'),
});
const review: Fields = inside('review', {
  'state': text('State of the review, for example "approved" or "changes_requested".'),
  'body': text('Text of the review. Null if it is empty.'),
  'user.login': text('Login of the reviewer.'),
  'author_association': text(association),
});
const push: Fields = {
  'ref': text('Whole name of the pushed branch or tag, for example "refs/heads/main".', true),
  'before': text('Commit before the push: zeros for a new branch or tag.'),
  'after': text('Commit after the push: zeros for a deletion.'),
  'commits': json('The pushed commits: a path selects one, for example "commits.0.message".'),
};
const { action: _, ...withoutAction } = repositoryAndSender;

/** Fields of the events of GitHub, by the words of their types. */
export const githubFields = {
  'issue_comment': { ...repositoryAndSender, ...issue, ...comment },
  'issues': { ...repositoryAndSender, ...issue, ...label, ...assignee },
  'pull_request': { ...repositoryAndSender, ...pullRequest, ...label, ...assignee },
  'pull_request_review': { ...repositoryAndSender, ...pullRequest, ...review },
  'pull_request_review_comment': {
    ...repositoryAndSender,
    ...pullRequest,
    ...comment,
    'comment.path': text('Path of the file that the comment is on.'),
  },
  'check_run': {
    ...repositoryAndSender,
    ...inside('check_run', {
      'name': text('Name of the check.'),
      'status': text('Status of the check: "queued", "in_progress" or "completed".'),
      'conclusion': text('Result of the check, for example "success" or "failure". Null until it is completed.'),
      'head_sha': text('Commit that the check is about.'),
      'check_suite.head_branch': text('Branch that the check is about. Null for one of a fork.'),
      'app.slug': text('Short name of the App that reports the check.'),
      'html_url': text('URL of the check.'),
    }),
  },
  'push': {
    ...withoutAction,
    ...push,
    'created': flag('Whether the branch or tag is new.'),
    'deleted': flag('Whether the branch or tag was deleted.'),
    'forced': flag('Whether the push was forced.'),
    'pusher.name': text('Login of the account that pushed.'),
    'head_commit.message': text('Message of the last commit.'),
  },
} as const satisfies Record<string, Fields>;

/** Fields of all events of GitLab. */
const projectAndUser: Fields = {
  'project.path_with_namespace': text('Path of the project, for example "group/subgroup/site".', true),
  'project.name': text('Name of the project.'),
  'project.default_branch': text('Default branch of the project.'),
  'user.username': text('User name of the account that caused the event.'),
  'user.name': text('Name of that account.'),
};
const labelNames = list('Names of the labels.');
const noteFields = inside('object_attributes', {
  'note': text('Text of the comment.'),
  'noteable_type': text('The commented object: "Issue", "MergeRequest", "Commit" or "Snippet".'),
  'action': text('Action: "create" or "update".'),
  'system': flag('Whether GitLab wrote the comment itself.'),
  'url': text('URL of the comment.'),
});
const numbered: Fields = {
  'iid': number('Number, as the URL has it.'),
  'title': text('Title.'),
  'description': text('Description. Null if it is empty.'),
  'state': text('State, for example "opened" or "closed".'),
};
const eventAction = text('Action of the event, for example "open", "update" or "close".');
const changes = json('The changes of an update: for example "changes.labels.current" has the labels.');

/** Fields of the events of GitLab, by the words of their types. */
export const gitlabFields = {
  'merge_request': {
    ...projectAndUser,
    ...inside('object_attributes', {
      ...numbered,
      'action': eventAction,
      'source_branch': text('Branch that the merge request merges.'),
      'target_branch': text('Branch that the merge request merges into.'),
      'draft': flag('Whether the merge request is a draft.'),
      'url': text('URL of the merge request.'),
    }),
    'label_names': labelNames,
    changes,
  },
  'note': { ...projectAndUser, ...noteFields, ...inside('merge_request', numbered) },
  'issue': {
    ...projectAndUser,
    ...inside('object_attributes', {
      ...numbered,
      'action': eventAction,
      'confidential': flag('Whether the issue is confidential.'),
      'url': text('URL of the issue.'),
    }),
    'label_names': labelNames,
    changes,
  },
  'issue_note': { ...projectAndUser, ...noteFields, ...inside('issue', numbered) },
  'push': {
    ...projectAndUser,
    ...push,
    'user_username': text('User name of the account that pushed.'),
    'total_commits_count': number('Number of pushed commits.'),
  },
  'pipeline': {
    ...projectAndUser,
    ...inside('object_attributes', {
      'id': number('Id of the pipeline.'),
      'status': text('Status of the pipeline, for example "running", "success" or "failed".'),
      'ref': text('Branch or tag of the pipeline.'),
      'sha': text('Commit of the pipeline.'),
      'source': text('Cause of the pipeline, for example "push" or "schedule".'),
      'url': text('URL of the pipeline.'),
    }),
    'merge_request.iid': number('Number of the merge request of the pipeline. Null if it has none.'),
  },
} as const satisfies Record<string, Fields>;

const giteaReview: Fields = {
  ...repositoryAndSender,
  ...pullRequest,
  'review.type': text('Type of the review, for example "pull_request_review_approved".'),
  'review.content': text('Text of the review.'),
};

/** Fields of the events of Gitea and Forgejo, by the words of their types. */
export const giteaFields = {
  'issue_comment': {
    ...repositoryAndSender,
    ...issue,
    ...comment,
    'is_pull': flag('Whether the issue is a pull request.'),
  },
  'issues': { ...repositoryAndSender, ...issue },
  'pull_request': { ...repositoryAndSender, ...pullRequest },
  'pull_request_approved': giteaReview,
  'pull_request_rejected': giteaReview,
  'pull_request_comment': giteaReview,
  'push': { ...withoutAction, ...push, 'pusher.login': text('Login of the account that pushed.') },
} as const satisfies Record<string, Fields>;
