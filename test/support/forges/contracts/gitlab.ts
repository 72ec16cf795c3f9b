import { type Contract, readSchemas } from './contract.ts';

const project = '/projects/[^/]+';
const merge = `${project}/merge_requests/\\d+`;
const at = (path: string) => new RegExp(`^${path}$`);
const pages = ['page', 'per_page'];

/**
 * Names and types of GitLab's REST API, version 4, as its documentation has them, read from the types of the npm package `@gitbeaker/core`
 * 43.8.0 (MIT licence). Only the operations and the properties that are used; the members of requests are from the documentation of
 * merge requests, issues and discussions.
 */
export const gitlabContract: Contract = {
  basePath: '/api/v4',
  refusal: 'Refusal',
  operations: [
    { method: 'GET', path: at('/user'), gives: 'CurrentUser' },
    { method: 'GET', path: at('/users'), gives: 'User[]', query: [...pages, 'username', 'search', 'active'] },
    { method: 'GET', path: at('/personal_access_tokens/self'), gives: 'Token' },
    {
      method: 'GET',
      path: at('/projects'),
      gives: 'Project[]',
      query: [...pages, 'membership', 'order_by', 'sort', 'search', 'search_namespaces', 'simple'],
    },
    { method: 'GET', path: at(project), gives: 'Project' },
    { method: 'GET', path: at(`${project}/members/all/\\d+`), gives: 'Member' },
    {
      method: 'GET',
      path: at(`${project}/merge_requests`),
      gives: 'MergeRequest[]',
      query: [...pages, 'state', 'source_branch', 'target_branch', 'order_by', 'sort'],
    },
    { method: 'POST', path: at(`${project}/merge_requests`), takes: 'NewMergeRequest', gives: 'MergeRequest' },
    { method: 'GET', path: at(merge), gives: 'MergeRequest' },
    { method: 'PUT', path: at(merge), takes: 'ChangedMergeRequest', gives: 'MergeRequest' },
    { method: 'GET', path: at(`${merge}/approvals`), gives: 'Approvals' },
    { method: 'POST', path: at(`${merge}/approve`), takes: 'Approve', gives: 'Approvals' },
    { method: 'GET', path: at(`${merge}/reviewers`), gives: 'Reviewer[]' },
    { method: 'GET', path: at(`${merge}/diffs`), gives: 'Diff[]', query: pages },
    { method: 'GET', path: at(`${merge}/discussions`), gives: 'Discussion[]', query: pages },
    { method: 'POST', path: at(`${merge}/discussions`), takes: 'NewDiscussion', gives: 'Discussion' },
    { method: 'PUT', path: at(`${merge}/discussions/[0-9a-f]+`), takes: 'ResolvedDiscussion', gives: 'Discussion' },
    { method: 'POST', path: at(`${merge}/discussions/[0-9a-f]+/notes`), takes: 'NewNote', gives: 'Note' },
    { method: 'POST', path: at(`${merge}/notes`), takes: 'NewNote', gives: 'Note' },
    { method: 'POST', path: at(`${project}/issues/\\d+/notes`), takes: 'NewNote', gives: 'Note' },
    {
      method: 'GET',
      path: at(`${project}/repository/commits/[0-9a-f]+/statuses`),
      gives: 'CommitStatus[]',
      query: [...pages, 'ref', 'stage', 'name', 'all'],
    },
    { method: 'GET', path: at(`${project}/repository/files/[^/]+/raw`), query: ['ref', 'lfs'] },
    { method: 'GET', path: at(`${project}/jobs/\\d+/trace`) },
  ],
  schemas: readSchemas({
    // A text, a list, or an object of lists.
    Refusal: 'message:any error:any error_description:string scope:string',
    User: 'id:number name:string username:string state:string locked:boolean avatar_url:string web_url:string public_email:string',
    CurrentUser:
      'id:number name:string username:string state:string avatar_url:string web_url:string bot:boolean email:string commit_email:string',
    Token:
      'id:number name:string revoked:boolean created_at:string scopes:string[] user_id:number last_used_at:string active:boolean expires_at:string',
    Project:
      'id:number path_with_namespace:string name:string path:string description:string default_branch:string visibility:string archived:boolean web_url:string http_url_to_repo:string last_activity_at:string permissions:Permissions',
    Member:
      'id:number username:string name:string state:string avatar_url:string web_url:string expires_at:string access_level:number membership_state:string',
    Permissions: 'project_access:Access group_access:Access',
    Access: 'access_level:number notification_level:number',
    MergeRequest:
      'id:number iid:number project_id:number web_url:string title:string description:string state:string draft:boolean author:User reviewers:User[] source_branch:string target_branch:string source_project_id:number target_project_id:number sha:string labels:string[] created_at:string updated_at:string merged_at:string closed_at:string merge_commit_sha:string squash_commit_sha:string detailed_merge_status:string has_conflicts:boolean head_pipeline:Pipeline diff_refs:DiffRefs',
    Pipeline: 'id:number sha:string ref:string status:string web_url:string',
    DiffRefs: 'base_sha:string head_sha:string start_sha:string',
    Approvals: 'id:number iid:number project_id:number state:string approvals_left:number approved_by:Approval[]',
    Approval: 'user:User approved_at:string',
    Reviewer: 'user:User state:string created_at:string',
    Diff: 'diff:string new_path:string old_path:string a_mode:string b_mode:string new_file:boolean renamed_file:boolean deleted_file:boolean generated_file:boolean collapsed:boolean too_large:boolean',
    Discussion: 'id:string individual_note:boolean notes:Note[]',
    Note: 'id:number type:string body:string author:User created_at:string updated_at:string system:boolean resolvable:boolean position:Position',
    Position:
      'base_sha:string start_sha:string head_sha:string position_type:string old_path:string new_path:string old_line:number new_line:number',
    CommitStatus:
      'id:number sha:string ref:string status:string name:string target_url:string description:string created_at:string started_at:string finished_at:string allow_failure:boolean author:User',
    NewMergeRequest:
      'title:string description:string source_branch:string target_branch:string labels:string reviewer_ids:number[]',
    ChangedMergeRequest:
      'title:string description:string state_event:string target_branch:string labels:string add_labels:string remove_labels:string reviewer_ids:number[]',
    Approve: 'sha:string',
    NewNote: 'body:string',
    ResolvedDiscussion: 'resolved:boolean',
    NewDiscussion: 'body:string position:Position',
  }),
};
