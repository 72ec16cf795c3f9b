import { type Contract, readSchemas } from './contract.ts';

const repo = '/repos/[^/]+/[^/]+';
const pull = `${repo}/pulls/\\d+`;
const issue = `${repo}/issues/\\d+`;
const commit = `${repo}/commits/[^/]+`;
const at = (path: string) => new RegExp(`^${path}$`);
const pages = ['page', 'per_page'];
const ofList = (name: string) => `PullRequestSimple.${name}`;

/**
 * Names and types of GitHub's REST API, read from the npm package `@octokit/openapi-types` 29.0.1 (MIT licence), which is generated from
 * GitHub's published description. Only the operations and the properties that are used.
 */
export const githubContract: Contract = {
  basePath: '/api/v3',
  otherPath: '/api/graphql',
  refusal: 'Refusal',
  // emulate 0.12.2 describes organizations where GitHub has short users, and gives lists the properties of single pull requests. Clients
  // must not need them: at GitHub, `merged` and `mergeable_state` of a list are missing.
  extras: new Set([
    ...['created_at', 'updated_at'].map((name) => `Review.${name}`),
    ...['description', 'hooks_url', 'issues_url', 'members_url', 'public_members_url'].map((name) => `User.${name}`),
    ...['additions', 'changed_files', 'comments', 'commits', 'deletions', 'maintainer_can_modify', 'mergeable'].map(
      ofList,
    ),
    ...['mergeable_state', 'merged', 'merged_by', 'rebaseable', 'review_comments'].map(ofList),
  ]),
  operations: [
    { method: 'GET', path: at('/app'), gives: 'App' },
    { method: 'GET', path: at('/app/installations'), gives: 'Installation[]', query: [...pages, 'since', 'outdated'] },
    { method: 'GET', path: at('/app/installations/\\d+'), gives: 'Installation' },
    {
      method: 'POST',
      path: at('/app/installations/\\d+/access_tokens'),
      takes: 'NewToken',
      gives: 'InstallationToken',
    },
    { method: 'POST', path: at('/app-manifests/[^/]+/conversions') },
    { method: 'GET', path: at('/installation/repositories'), gives: 'Repositories', query: pages },
    { method: 'GET', path: at('/user'), gives: 'CurrentUser' },
    { method: 'GET', path: at('/users/[^/]+'), gives: 'CurrentUser' },
    {
      method: 'GET',
      path: at('/user/repos'),
      gives: 'Repository[]',
      query: [...pages, 'visibility', 'affiliation', 'type', 'sort', 'direction', 'since', 'before'],
    },
    { method: 'GET', path: at(repo), gives: 'Repository' },
    { method: 'GET', path: at(`${repo}/collaborators/[^/]+/permission`), gives: 'CollaboratorPermission' },
    {
      method: 'GET',
      path: at(`${repo}/pulls`),
      gives: 'PullRequestSimple[]',
      query: [...pages, 'state', 'head', 'base', 'sort', 'direction'],
    },
    { method: 'POST', path: at(`${repo}/pulls`), takes: 'NewPullRequest', gives: 'PullRequest' },
    { method: 'GET', path: at(pull), gives: 'PullRequest' },
    { method: 'PATCH', path: at(pull), takes: 'ChangedPullRequest', gives: 'PullRequest' },
    { method: 'GET', path: at(`${pull}/files`), gives: 'ChangedFile[]', query: pages },
    { method: 'GET', path: at(`${pull}/reviews`), gives: 'Review[]', query: pages },
    { method: 'POST', path: at(`${pull}/reviews`), takes: 'NewReview', gives: 'Review' },
    {
      method: 'GET',
      path: at(`${pull}/comments`),
      gives: 'LineComment[]',
      query: [...pages, 'sort', 'direction', 'since'],
    },
    { method: 'POST', path: at(`${pull}/comments/\\d+/replies`), takes: 'NewComment', gives: 'LineComment' },
    {
      method: 'POST',
      path: at(`${pull}/requested_reviewers`),
      takes: 'ReviewRequest',
      gives: 'PullRequestSimple',
    },
    { method: 'GET', path: at(`${issue}/comments`), gives: 'IssueComment[]', query: [...pages, 'since'] },
    { method: 'POST', path: at(`${issue}/comments`), takes: 'NewComment', gives: 'IssueComment' },
    { method: 'POST', path: at(`${issue}/labels`), takes: 'NewLabels', gives: 'Label[]' },
    {
      method: 'GET',
      path: at(`${commit}/check-runs`),
      gives: 'CheckRuns',
      query: [...pages, 'check_name', 'status', 'filter', 'app_id'],
    },
    { method: 'GET', path: at(`${commit}/status`), gives: 'CombinedStatus', query: pages },
    { method: 'GET', path: at(`${repo}/contents/.*`), query: ['ref'] },
    { method: 'GET', path: at(`${repo}/actions/jobs/\\d+/logs`) },
  ],
  schemas: readSchemas({
    Refusal: 'message:string documentation_url:string errors:any[] status:string',
    Head: 'label:string ref:string repo:Repository sha:string user:User',
    Repositories: 'total_count:number repositories:Repository[] repository_selection:string',
    CheckRuns: 'total_count:number check_runs:CheckRun[]',
    NewToken: 'repositories:string[] repository_ids:number[] permissions:any',
    NewPullRequest:
      'title:string head:string head_repo:string base:string body:string maintainer_can_modify:boolean draft:boolean issue:number',
    ChangedPullRequest: 'title:string body:string state:string base:string maintainer_can_modify:boolean',
    NewReview: 'commit_id:string body:string event:string comments:NewLineComment[]',
    NewLineComment:
      'path:string position:number body:string line:number side:string start_line:number start_side:string',
    ChangedFile:
      'sha:string filename:string status:string additions:number deletions:number changes:number blob_url:string raw_url:string contents_url:string patch:string previous_filename:string',
    ReviewRequest: 'reviewers:string[] team_reviewers:string[]',
    NewComment: 'body:string',
    NewLabels: 'labels:string[]',
    PullRequest:
      'url:string id:number node_id:string html_url:string diff_url:string patch_url:string issue_url:string commits_url:string review_comments_url:string review_comment_url:string comments_url:string statuses_url:string number:number state:string locked:boolean title:string user:User body:string labels:Label[] milestone:any created_at:string updated_at:string closed_at:string merged_at:string merge_commit_sha:string assignee:User assignees:User[] requested_reviewers:User[] requested_teams:any head:Head base:Head _links:any author_association:any auto_merge:any draft:boolean merged:boolean mergeable:boolean rebaseable:boolean mergeable_state:string merged_by:User comments:number review_comments:number maintainer_can_modify:boolean commits:number additions:number deletions:number changed_files:number',
    PullRequestSimple:
      'url:string id:number node_id:string html_url:string diff_url:string patch_url:string issue_url:string commits_url:string review_comments_url:string review_comment_url:string comments_url:string statuses_url:string number:number state:string locked:boolean title:string user:User body:string labels:Label[] milestone:any created_at:string updated_at:string closed_at:string merged_at:string merge_commit_sha:string assignee:User assignees:User[] requested_reviewers:User[] requested_teams:any head:Head base:Head _links:any author_association:any auto_merge:any draft:boolean',
    CheckRun:
      'id:number head_sha:string node_id:string external_id:string url:string html_url:string details_url:string started_at:string completed_at:string output:any name:string check_suite:any app:any pull_requests:any status:string conclusion:string',
    Review:
      'id:number node_id:string user:User body:string state:string html_url:string pull_request_url:string _links:any submitted_at:string commit_id:string author_association:any',
    LineComment:
      'url:string pull_request_review_id:number id:number node_id:string diff_hunk:string path:string position:number original_position:number commit_id:string original_commit_id:string in_reply_to_id:number user:User body:string created_at:string updated_at:string html_url:string pull_request_url:string author_association:any line:number side:string subject_type:string reactions:any',
    IssueComment:
      'id:number node_id:string url:string body:string html_url:string user:User created_at:string updated_at:string issue_url:string author_association:any performed_via_github_app:any reactions:any',
    CombinedStatus: 'statuses:Status[]',
    Installation:
      'id:number repository_selection:string access_tokens_url:string repositories_url:string html_url:string app_id:number target_type:string permissions:any events:string[] created_at:string updated_at:string single_file_name:string has_multiple_single_files:boolean single_file_paths:string[] app_slug:string suspended_by:User suspended_at:string account:any',
    InstallationToken:
      'token:string expires_at:string permissions:any repository_selection:string repositories:Repository[]',
    CollaboratorPermission: 'permission:string role_name:string user:User',
    Label: 'id:number node_id:string url:string name:string description:string color:string default:boolean',
    Repository:
      'id:number node_id:string name:string full_name:string owner:User private:boolean html_url:string description:string fork:boolean url:string archive_url:string assignees_url:string blobs_url:string branches_url:string collaborators_url:string comments_url:string commits_url:string compare_url:string contents_url:string contributors_url:string deployments_url:string downloads_url:string events_url:string forks_url:string git_commits_url:string git_refs_url:string git_tags_url:string git_url:string issue_comment_url:string issue_events_url:string issues_url:string keys_url:string labels_url:string languages_url:string merges_url:string milestones_url:string notifications_url:string pulls_url:string releases_url:string ssh_url:string stargazers_url:string statuses_url:string subscribers_url:string subscription_url:string tags_url:string teams_url:string trees_url:string clone_url:string mirror_url:string hooks_url:string svn_url:string homepage:string language:string forks_count:number stargazers_count:number watchers_count:number size:number default_branch:string open_issues_count:number is_template:boolean topics:string[] has_issues:boolean has_projects:boolean has_wiki:boolean has_pages:boolean has_downloads:boolean has_discussions:boolean archived:boolean disabled:boolean visibility:string pushed_at:string created_at:string updated_at:string permissions:any allow_rebase_merge:boolean allow_squash_merge:boolean allow_auto_merge:boolean delete_branch_on_merge:boolean allow_merge_commit:boolean allow_forking:boolean license:any forks:number open_issues:number watchers:number',
    User: 'login:string id:number node_id:string avatar_url:string gravatar_id:string url:string html_url:string followers_url:string following_url:string gists_url:string starred_url:string subscriptions_url:string organizations_url:string repos_url:string events_url:string received_events_url:string type:string site_admin:boolean user_view_type:string',
    CurrentUser:
      'login:string id:number user_view_type:string node_id:string avatar_url:string gravatar_id:string url:string html_url:string followers_url:string following_url:string gists_url:string starred_url:string subscriptions_url:string organizations_url:string repos_url:string events_url:string received_events_url:string type:string site_admin:boolean name:string company:string blog:string location:string email:string hireable:boolean bio:string twitter_username:string public_repos:number public_gists:number followers:number following:number created_at:string updated_at:string',
    App: 'id:number slug:string node_id:string name:string description:string external_url:string html_url:string created_at:string updated_at:string permissions:any events:string[] installations_count:number owner:any',
  }),
};
