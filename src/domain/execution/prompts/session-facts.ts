import type { Context } from '../../context.ts';

/** The settings of a session that its prompts depend on. */
export interface SessionFacts {
  readonly organizationId: string;
  readonly enterpriseId: string;
  readonly playbook: { readonly title: string; readonly body: string } | null;
  /** The notes that the agent may read; null: all, empty: none. */
  readonly knowledgeIds: readonly string[] | null;
  readonly structuredOutputSchema: object | null;
  /** The session's repositories in lower case, each as owner/name and as host/owner/name. */
  readonly repositoryNames: readonly string[];
}

// A session keeps the playbook that it was started with, even if that has been deleted since.
const facts = `
  select s.organization_id as "organizationId", o.enterprise_id as "enterpriseId", s.knowledge_ids as "knowledgeIds",
         s.repository_names as "repositoryNames", s.structured_output_schema as "structuredOutputSchema",
         case when p.id is not null then json_build_object('title', p.title, 'body', p.body) end as playbook
    from session s join organization o on o.id = s.organization_id
    left join playbook p on p.id = s.playbook_id and p.enterprise_id = o.enterprise_id
     and (p.organization_id is null or p.organization_id = o.id)
   where s.id = $1`;

/** Reads them. The session must exist. */
export async function readSessionFacts(context: Pick<Context, 'store'>, sessionId: string): Promise<SessionFacts> {
  const [row] = await context.store.query<SessionFacts>(facts, [sessionId]);
  if (!row) throw new Error(`Session ${sessionId} has no row.`);
  return row;
}
