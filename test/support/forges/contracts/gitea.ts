import { type Contract, readSchemas } from './contract.ts';

const repo = '/repos/[^/]+/[^/]+';
const pull = `${repo}/pulls/\\d+`;
const issue = `${repo}/issues/\\d+`;
const at = (path: string) => new RegExp(`^${path}$`);
const pages = ['page', 'limit'];

/**
 * Names and types of Gitea's `swagger.v1.json`, version 1.23 (MIT licence), read from the npm package `gitea-js` 1.23.0, which is generated
 * from it. Only the operations and the properties that are used.
 */
export const giteaContract: Contract = {
  basePath: '/api/v1',
  refusal: 'APIError',
  operations: [
    { method: 'GET', path: at('/user'), gives: 'User' },
    { method: 'GET', path: at('/user/repos'), gives: 'Repository[]', query: pages },
    { method: 'GET', path: at(repo), gives: 'Repository' },
    { method: 'GET', path: at(`${repo}/collaborators/[^/]+/permission`), gives: 'RepoCollaboratorPermission' },
    { method: 'GET', path: at(`${repo}/assignees`), gives: 'User[]' },
    {
      method: 'GET',
      path: at(`${repo}/pulls`),
      gives: 'PullRequest[]',
      query: [...pages, 'state', 'sort', 'milestone', 'labels', 'poster', 'base_branch'],
    },
    { method: 'POST', path: at(`${repo}/pulls`), takes: 'CreatePullRequestOption', gives: 'PullRequest' },
    { method: 'GET', path: at(pull), gives: 'PullRequest' },
    { method: 'PATCH', path: at(pull), takes: 'EditPullRequestOption', gives: 'PullRequest' },
    { method: 'GET', path: at(`${pull}\\.diff`) },
    { method: 'GET', path: at(`${pull}/reviews`), gives: 'PullReview[]', query: pages },
    { method: 'POST', path: at(`${pull}/reviews`), takes: 'CreatePullReviewOptions', gives: 'PullReview' },
    { method: 'GET', path: at(`${pull}/reviews/\\d+/comments`), gives: 'PullReviewComment[]' },
    {
      method: 'POST',
      path: at(`${pull}/requested_reviewers`),
      takes: 'PullReviewRequestOptions',
      gives: 'PullReview[]',
    },
    { method: 'GET', path: at(`${issue}/comments`), gives: 'Comment[]', query: ['since', 'before'] },
    { method: 'POST', path: at(`${issue}/comments`), takes: 'CreateIssueCommentOption', gives: 'Comment' },
    { method: 'POST', path: at(`${issue}/labels`), takes: 'IssueLabelsOption', gives: 'Label[]' },
    { method: 'GET', path: at(`${repo}/labels`), gives: 'Label[]', query: pages },
    { method: 'GET', path: at('/orgs/[^/]+/labels'), gives: 'Label[]', query: pages },
    { method: 'GET', path: at(`${repo}/commits/[^/]+/status`), gives: 'CombinedStatus', query: pages },
    { method: 'GET', path: at(`${repo}/raw/.+`), query: ['ref'] },
  ],
  schemas: readSchemas({
    APIError: 'message:string url:string',
    User: 'id:number login:string full_name:string email:string html_url:string avatar_url:string active:boolean',
    Repository:
      'id:number full_name:string name:string owner:User description:string language:string default_branch:string private:boolean archived:boolean html_url:string clone_url:string updated_at:string permissions:Permission',
    RepoCollaboratorPermission: 'permission:string role_name:string user:User',
    Permission: 'admin:boolean pull:boolean push:boolean',
    PRBranchInfo: 'label:string ref:string repo:Repository repo_id:number sha:string',
    Label: 'color:string description:string exclusive:boolean id:number is_archived:boolean name:string url:string',
    PullRequest:
      'id:number number:number html_url:string title:string body:string state:string draft:boolean user:User head:PRBranchInfo base:PRBranchInfo labels:Label[] requested_reviewers:User[] created_at:string updated_at:string closed_at:string merged:boolean merged_at:string merge_commit_sha:string mergeable:boolean merge_base:string',
    PullReview:
      'id:number body:string comments_count:number commit_id:string dismissed:boolean html_url:string official:boolean stale:boolean state:string submitted_at:string updated_at:string user:User',
    PullReviewComment:
      'id:number body:string commit_id:string created_at:string diff_hunk:string html_url:string original_commit_id:string original_position:number path:string position:number pull_request_review_id:number resolver:User updated_at:string user:User',
    CombinedStatus: 'sha:string state:string statuses:CommitStatus[] total_count:number url:string',
    CommitStatus:
      'id:number context:string created_at:string creator:User description:string status:string target_url:string updated_at:string url:string',
    Comment:
      'id:number body:string created_at:string html_url:string pull_request_url:string updated_at:string user:User',
    CreatePullRequestOption:
      'assignees:string[] base:string body:string head:string labels:number[] reviewers:string[] team_reviewers:string[] title:string',
    EditPullRequestOption: 'assignees:string[] base:string body:string labels:number[] state:string title:string',
    CreatePullReviewOptions: 'body:string comments:CreatePullReviewComment[] commit_id:string event:string',
    CreatePullReviewComment: 'body:string new_position:number old_position:number path:string',
    CreateIssueCommentOption: 'body:string',
    // Ids or names.
    IssueLabelsOption: 'labels:any[]',
    PullReviewRequestOptions: 'reviewers:string[] team_reviewers:string[]',
  }),
};
