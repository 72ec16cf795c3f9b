import type { Context } from '../context.ts';
import { createMask } from '../execution/runs/masking.ts';
import { readRunSecrets, type SessionSecretRow } from '../execution/runs/run-secrets.ts';

interface SecretsRow {
  readonly organizationId: string;
  readonly secretIds: readonly string[] | null;
  readonly own: readonly SessionSecretRow[];
}

/** Creates a mask of the secrets that a session has, for a text of the forge: a log may show what the agent pushed. */
export async function sessionMask(context: Context, sessionId: string): Promise<(text: string) => string> {
  const [row] = await context.store.query<SecretsRow>(
    `select s.organization_id as "organizationId", s.secret_ids as "secretIds",
            (select coalesce(jsonb_agg(jsonb_build_object('key', x.key, 'sealed', x.sealed, 'isSensitive', x.is_sensitive)), '[]')
               from session_secret x where x.session_id = s.id) as own
       from session s where s.id = $1`,
    [sessionId],
  );
  if (!row) return (text) => text;
  const { secretValues } = await readRunSecrets(context, { sessionId, ...row, profile: null });
  return createMask(secretValues);
}
