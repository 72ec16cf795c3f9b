const statements = ['delete from lease', 'delete from worker', 'delete from agent_program'];

/** Deletes what the running processes of a service wrote about themselves, from a copy of its database. */
export async function deleteProcessRows(query: (sql: string) => Promise<unknown>): Promise<void> {
  for (const sql of statements) await query(sql);
}
