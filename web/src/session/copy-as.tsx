import { Button } from '../ui/button.tsx';
import { useToasts } from '../ui/toasts.tsx';

const fields =
  'title status statusDetail acusConsumed structuredOutput messages(last: 50) { nodes { type body createdAt } }';

const documentOf = (sessionId: string) => `query { session(id: "${sessionId}") { ${fields} } }`;

const forms = {
  curl: (sessionId: string) =>
    [
      `curl -s ${location.origin}/graphql`,
      `-H "Authorization: Bearer $TOKEN"`,
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify({ query: documentOf(sessionId) })}'`,
    ].join(' \\\n  '),
  GraphQL: documentOf,
  address: (sessionId: string) => `${location.origin}/sessions/${sessionId.replace(/^[a-z]+-/, '')}`,
} as const;

/** Copies how the same is asked by a program: never with a token in it. */
export function CopyAs({ sessionId }: { readonly sessionId: string }) {
  const toasts = useToasts();
  const copy = async (name: keyof typeof forms) => {
    const text = forms[name](sessionId);
    // Browsers give pages that come by plain http from another host no clipboard.
    const isCopied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    if (isCopied) toasts.say('Copied.');
    else toasts.fail(`This browser does not let the page copy. Here it is: ${text}`);
  };
  return (
    <div className="actions">
      {(['curl', 'GraphQL', 'address'] as const).map((name) => (
        <Button size="small" icon="copy" key={name} onClick={() => void copy(name)}>
          {name}
        </Button>
      ))}
    </div>
  );
}
