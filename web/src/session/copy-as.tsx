import { Button } from '../ui/button.tsx';
import { asCurl, useCopy } from '../ui/copy.ts';

const fields =
  'title status statusDetail acusConsumed structuredOutput messages(last: 50) { nodes { type body createdAt } }';

const documentOf = (sessionId: string) => `query { session(id: "${sessionId}") { ${fields} } }`;

const forms = {
  curl: (sessionId: string) =>
    asCurl(`${location.origin}/graphql`, 'Authorization: Bearer $TOKEN', { query: documentOf(sessionId) }),
  GraphQL: documentOf,
} as const;

/** Copies the equivalent API request, without a token. */
export function CopyAs({ sessionId }: { readonly sessionId: string }) {
  const copy = useCopy();
  return (
    <div className="actions">
      {(['curl', 'GraphQL'] as const).map((name) => (
        <Button size="small" icon="copy" key={name} onClick={() => void copy(forms[name](sessionId))}>
          {name}
        </Button>
      ))}
    </div>
  );
}
