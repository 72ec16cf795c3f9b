import { graphql, useFragment } from 'react-relay';
import type { outputPanel_session$key } from '../__generated__/outputPanel_session.graphql.ts';
import { common } from '../texts/common.ts';
import { outputPanel as texts } from '../texts/session-panes.ts';
import './output-panel.css';
import { save } from '../manage/kit/save.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { useCopy } from '../ui/copy.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Empty } from '../ui/states.tsx';

/** The structured output of a session, to copy and download as JSON, and its schema. */
export function OutputPanel({ session: reference }: { readonly session: outputPanel_session$key }) {
  const { sessionId, structuredOutput, structuredOutputSchema } = useFragment(
    graphql`
      fragment outputPanel_session on Session @throwOnFieldError {
        sessionId
        structuredOutput
        structuredOutputSchema
      }
    `,
    reference,
  );
  const copy = useCopy();
  const hasOutput = structuredOutput !== null && structuredOutput !== undefined;
  const hasSchema = structuredOutputSchema !== null && structuredOutputSchema !== undefined;
  const json = () => `${JSON.stringify(structuredOutput, null, 2)}\n`;
  return (
    <section className="output-panel" aria-label={texts.structuredOutput}>
      {hasOutput ? (
        <>
          <div className="output-bar">
            {hasSchema && <Badge tone="good">{texts.matches}</Badge>}
            <span className="actions">
              <Button size="small" icon="copy" onClick={() => void copy(json())}>
                {texts.copyJson}
              </Button>
              <Button size="small" onClick={() => save(`${sessionId}.json`, 'application/json', json())}>
                {common.download}
              </Button>
            </span>
          </div>
          <JsonTree value={structuredOutput} />
        </>
      ) : (
        <Empty title={texts.none} text={hasSchema ? texts.noneYet : texts.noneText} />
      )}
      {hasSchema && (
        <details className="output-schema">
          <summary>{texts.schema}</summary>
          <JsonTree value={structuredOutputSchema} />
        </details>
      )}
    </section>
  );
}
